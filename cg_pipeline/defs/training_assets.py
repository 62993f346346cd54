"""The asset that trains a reader SAE, and the same work for the command line."""

from pathlib import Path

import dagster as dg

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs.partitions import OWN_SAE
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.saes import SAES
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.sources.training_text import read_debian_corpus, read_prompts, read_text_directory
from cg_pipeline.specs import LocalRows, Sae, SaeDirectory, SaeTraining
from cg_pipeline.store.layout import Layout


class TrainingConfig(dg.Config):
    """Where the text comes from."""

    text_dir: str = ""
    """Directory of .txt files; empty for the Debian packages that the embedded SAE was trained on."""


@dg.asset(
    partitions_def=OWN_SAE,
    group_name="reader",
    kinds={"pytorch"},
    pool="gpu",
    metadata={"promoted_by": "copying the directory it names over the SAE's own, below data/"},
)
def trained_sae(
    context: dg.AssetExecutionContext, config: TrainingConfig, gpu: Gpu, store: Store
) -> dg.MaterializeResult:
    """A reader SAE trained anew, if it passes the gate of its spec. Nothing reads it until it is promoted.

    So that materialising everything neither replaces the dictionary under the cells that
    are being read nor asks for text that is not there: `cg train-sae` trains and promotes.
    """
    sae = SAES[context.partition_key]
    out_dir = store.layout.cache / "trained" / sae.name
    figures = train_reader(sae, store.layout, gpu.device, config.text_dir, out_dir=out_dir)
    measured = {
        f"{measured_on}_{name}": value
        for measured_on, found in figures.items()
        for name, value in found.items()
    }
    return dg.MaterializeResult(metadata={"directory": dg.MetadataValue.path(str(out_dir)), **measured})


def place_of(sae: Sae) -> str:
    """Directory below the data directory where an SAE of this project is looked for.

    Raises:
        ValueError: the SAE is not trained by this project.
    """
    return _own_parts(sae)[1].path


def _own_parts(sae: Sae) -> tuple[SaeTraining, SaeDirectory]:
    if sae.training is None or not isinstance(sae.weights, SaeDirectory):
        raise ValueError(f"SAE {sae.name!r} was trained elsewhere; expected one with `training` set.")
    return sae.training, sae.weights


def train_reader(
    sae: Sae, layout: Layout, device: str, text_dir: str = "", *, out_dir: Path
) -> dict[str, dict[str, float]]:
    """Train an SAE of this project into `out_dir`; returns its figures by what they were measured on.

    Started again after an interruption, it goes on where it was.

    Raises:
        ValueError: the SAE is not trained by this project, or misses its gate.
    """
    from cg_pipeline.inference.training import train_sae

    training, _ = _own_parts(sae)
    seed = training.seed
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
        out_dir=out_dir,
        work_dir=layout.cache / "training" / sae.name,
        cache_dir=layout.cache,
        data_dir=layout.data_dir,
        check_texts=questions,
        device=device,
    )
