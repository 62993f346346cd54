"""Assets about what a model answered: what its reader sees there, and every metric of it.

Beside the graph, not in it: prompts and answers are kept apart, and gaps are of what benchmarks ask.
A study that reads answers says so (`Study.read_completions`); anybody can materialise them by hand.
"""

from collections.abc import Sequence

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.concept_assets import describe_metrics
from cg_pipeline.defs.partitions import (
    BENCHMARK_OF_CELL,
    CELL,
    MODEL_OF_CELL,
    benchmark_of,
    model_of,
)
from cg_pipeline.defs.reader_assets import ShardShelf, gated_reader, keep_activations
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.defs.results import declared, links, result
from cg_pipeline.defs.retries import RETRIES
from cg_pipeline.health_records import GateFinding
from cg_pipeline.identity import STAGES, completion_activations_id, completion_metrics_id
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import Completion, ConceptActivations, Example, Score, answer_id, content_id
from cg_pipeline.store.resume import blocks_of


@dg.asset(
    partitions_def=CELL,
    ins={"examples": BENCHMARK_OF_CELL, "reader_gate": MODEL_OF_CELL},
    io_manager_key="activation_io_manager",
    group_name="reader",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["completion_activations"]),
    metadata=declared("completion_activations"),
)
def completion_activations(
    context: dg.AssetExecutionContext,
    examples: list[Example],
    completions: list[Completion],
    reader_gate: list[GateFinding],
    gpu: Gpu,
    store: Store,
) -> dg.MaterializeResult:
    """Which concepts fire in each answer, read after its prompt, and how strongly: pooled, sparse tensors."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    if benchmark.response == "choice":
        raise dg.Failure(
            f"On {benchmark.name!r} choices are rated (response 'choice') and nothing is written; expected "
            "a benchmark of response 'generation'. Choose another one.",
            allow_retries=False,
        )
    sae, weights = gated_reader(model, reader_gate, gpu, store)
    answers = store.warehouse.fingerprint_of(
        "completions", {"model": model.name, "benchmark": benchmark.name}
    )
    fingerprint = completion_activations_id(answers, sae, weights)

    def read(block: Sequence[Completion]) -> ConceptActivations:
        return pipeline.read_completions(examples, block, gpu.encoder(sae))

    # Keyed by what was answered, too: the same question may have been asked anew, and answered otherwise.
    said = content_id(fingerprint, [(answer_id(each), each.text) for each in completions])
    shelf = ShardShelf("completion_activations", model, benchmark, store)
    blocks = blocks_of(completions, gpu.examples_at_once("reading"))
    stored, told = keep_activations(shelf, said, blocks, read)
    inputs = {"examples": [benchmark.name], "completions": [context.partition_key]}
    return result(stored, fingerprint, {**told, **links(context, inputs)})


@dg.asset(
    partitions_def=CELL,
    group_name="concepts",
    kinds={"numpy", "duckdb"},
    code_version=str(STAGES["completion_metrics"]),
    metadata=declared("completion_metrics"),
)
def completion_metrics(
    context: dg.AssetExecutionContext,
    scores: list[Score],
    completion_activations: ConceptActivations,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """How often each concept fires in what the model answers, and how good those answers are."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    study, cell = study_choice.study, {"model": model.name, "benchmark": benchmark.name}
    found = pipeline.measure_completions(
        model.name, benchmark.name, completion_activations, scores, METRICS, study
    )
    of = store.warehouse.fingerprint_of
    fingerprint = completion_metrics_id(
        of("scores", cell), of("completion_activations", cell), METRICS.values(), study
    )
    inputs = {name: [context.partition_key] for name in ("scores", "completion_activations")}
    return result(found, fingerprint, {**describe_metrics(found, scores, study), **links(context, inputs)})
