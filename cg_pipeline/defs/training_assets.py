"""The asset that trains a reader SAE, and the same work for the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs.charts import training_charts
from cg_pipeline.defs.partitions import OWN_SAE
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.saes import SAES
from cg_pipeline.sources.local_files import read_examples
from cg_pipeline.sources.model_files import model_hash
from cg_pipeline.sources.reader_text import open_text
from cg_pipeline.sources.training_text import read_prompts
from cg_pipeline.specs import LocalRows, Sae, SaeDirectory, SaeTraining
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.locks import hold
from cg_pipeline.training_specs import TextFolder

if TYPE_CHECKING:
    from cg_pipeline.inference.training import TrainedReader


_PATIENCE_S = 5.0
"""How long a training waits for another one of the same SAE that is just ending."""


class TrainingConfig(dg.Config):
    """Where the text comes from."""

    text_dir: str = ""
    """Directory of .txt, .jsonl and .parquet files; empty for the text that the SAE's spec names."""


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
    trained = train_reader(
        sae, store.layout, gpu.device, config.text_dir, out_dir=out_dir, report=context.log.info
    )
    measured = {
        f"{measured_on}_{name}": value
        for measured_on, found in trained.figures.items()
        for name, value in found.items()
    }
    return dg.MaterializeResult(
        metadata={
            "directory": dg.MetadataValue.path(str(out_dir)),
            "n_tokens_trained": trained.curve[-1].n_tokens,
            "stopped_early": trained.stopped_early,
            **measured,
            **training_charts(trained.curve),
        }
    )


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


def _files_of_the_model(sae: Sae, layout: Layout) -> str:
    """What tells a model on disk from what it was before: states of another one are not gone on with."""
    return model_hash(sae.model, layout.data_dir, layout.cache)


def train_reader(
    sae: Sae,
    layout: Layout,
    device: str,
    text_dir: str = "",
    *,
    out_dir: Path,
    report: Callable[[str], None],
) -> "TrainedReader":
    """Train an SAE of this project into `out_dir`; `report` is told what it takes and how far it is.

    Started again after an interruption, it goes on where it was.

    Raises:
        ValueError: the SAE is not trained by this project, or misses its gate.
        TimeoutError: another process is training it.
    """
    from cg_pipeline.inference.training import train_sae

    training, _ = _own_parts(sae)
    source = TextFolder(path=str(Path(text_dir).absolute())) if text_dir else training.text
    text = open_text(source, seed=training.seed, data_dir=layout.data_dir, cache_dir=layout.cache)
    questions = [
        example.prompt
        for benchmark in BENCHMARKS.values()
        if isinstance(benchmark.source, LocalRows)
        for example in read_examples(benchmark, layout.data_dir)
    ]
    # One training of an SAE at a time: what two of them left on the way would be each other's.
    with hold(layout.cache / "training" / f"{sae.name}.lock", exclusive=True, timeout_s=_PATIENCE_S):
        return train_sae(
            sae,
            text.documents,
            read_prompts(layout.data_dir / "prompts"),
            out_dir=out_dir,
            work_dir=layout.cache / "training" / sae.name / _files_of_the_model(sae, layout),
            cache_dir=layout.cache,
            data_dir=layout.data_dir,
            check_texts=questions,
            text_id=text.identity,
            device=device,
            report=report,
        )
