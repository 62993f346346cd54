"""The asset that trains a reader SAE, and the same work for the command line."""

from pathlib import Path

import dagster as dg

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs.partitions import SAE
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.saes import SAES
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.sources.training_text import read_debian_corpus, read_prompts, read_text_directory
from cg_pipeline.specs import LocalRows, Sae, SaeDirectory
from cg_pipeline.store.layout import Layout


class TrainingConfig(dg.Config):
    """Where the text comes from."""

    text_dir: str = ""
    """Directory of .txt files; empty for the Debian packages that the embedded SAE was trained on."""


@dg.asset(
    partitions_def=SAE,
    group_name="reader",
    kinds={"pytorch"},
    pool="gpu",
    metadata={"written_to": "the SAE's directory below data/; raise its version afterwards"},
)
def trained_sae(
    context: dg.AssetExecutionContext, config: TrainingConfig, gpu: Gpu, store: Store
) -> dg.MaterializeResult:
    """A reader SAE trained by this project, published if it passes the gate of its spec."""
    sae = SAES[context.partition_key]
    figures = train_reader(sae, store.layout, gpu.device, config.text_dir)
    return dg.MaterializeResult(
        metadata={
            f"{measured_on}_{name}": value
            for measured_on, found in figures.items()
            for name, value in found.items()
        }
    )


def train_reader(sae: Sae, layout: Layout, device: str, text_dir: str = "") -> dict[str, dict[str, float]]:
    """Train and publish an SAE of this project; returns its figures by what they were measured on.

    Started again after an interruption, it goes on where it was.

    Raises:
        ValueError: the SAE is not trained by this project, or misses its gate.
    """
    from cg_pipeline.inference.training import train_sae

    if sae.training is None or not isinstance(sae.weights, SaeDirectory):
        raise ValueError(f"SAE {sae.name!r} was trained elsewhere; expected one with `training` set.")
    seed = sae.training.seed
    corpus = (
        read_text_directory(Path(text_dir), seed=seed)
        if text_dir
        else read_debian_corpus(layout.cache / "training_text", seed=seed)
    )
    questions = [
        example.prompt
        for benchmark in BENCHMARKS.values()
        if isinstance(benchmark.source, LocalRows)
        for example in read_examples(benchmark, layout.data_dir)
    ]
    return train_sae(
        sae,
        [passage for _, passage in corpus],
        read_prompts(layout.data_dir / "prompts"),
        out_dir=layout.declared(sae.weights.path),
        work_dir=layout.cache / "training" / sae.name,
        cache_dir=layout.cache,
        data_dir=layout.data_dir,
        check_texts=questions,
        device=device,
    )
