"""Assets about benchmarks alone: their rows, their examples, and what they ask twice."""

from collections import Counter
from collections.abc import Mapping

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.partitions import BENCHMARK, EVERY_BENCHMARK, benchmark_of
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import declared, preview, require, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.defs.rows import bring_rows, examples_of, read_benchmark
from cg_pipeline.identity import STAGES, benchmark_rows_id, examples_id, near_duplicates_id
from cg_pipeline.records import Example, StoredRows
from cg_pipeline.sources.row_checks import Reading

_SHOWN_IDS = 5


@dg.asset(
    partitions_def=BENCHMARK,
    group_name="benchmarks",
    kinds={"huggingface", "file"},
    retry_policy=RETRIES,
    code_version=str(STAGES["benchmark_rows"]),
    metadata=declared("benchmark_rows"),
)
def benchmark_rows(context: dg.AssetExecutionContext, store: Store) -> dg.MaterializeResult:
    """A benchmark's rows as files: its own, those of a directory, or those of the hub, fetched once."""
    benchmark = benchmark_of(context.partition_key)
    with lasting_faults_end_the_run():
        found = bring_rows(benchmark, store.layout, store.benchmarks_dir)
    return result(
        found,
        benchmark_rows_id(each.fingerprint for each in found),
        {
            "n_rows": found[0].n_rows,
            "origin": found[0].origin,
            "place": found[0].place,
            "licence": found[0].licence,
            "file": dg.MetadataValue.path(str(store.layout.data_dir / found[0].path)),
            "preview": preview(found),
        },
    )


@dg.asset(
    partitions_def=BENCHMARK,
    group_name="benchmarks",
    kinds={"python", "duckdb"},
    code_version=str(STAGES["examples"]),
    metadata=declared("examples"),
)
def examples(
    context: dg.AssetExecutionContext,
    benchmark_rows: list[StoredRows],
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """What a benchmark asks: one row per example, with its choices, targets, category and cluster."""
    benchmark = benchmark_of(context.partition_key)
    readings = read_benchmark(benchmark, benchmark_rows, store.layout)
    study = study_choice.study
    found = examples_of(benchmark, readings, study)
    categories = Counter(example.category for example in found)
    return result(
        found,
        examples_id(found),
        {
            "n_examples": len(found),
            "n_categories": len(categories),
            "categories": dict(categories.most_common()),
            "n_shots": benchmark.n_shots,
            **_left_out(readings),
            "scope": benchmark.scope,
            "licence": benchmark_rows[0].licence,
            "source": benchmark_rows[0].place,
            "preview": preview(found),
        },
        noted={
            "study": study.name,
            "limit": str(study.limit or "none"),
            "rows": str(benchmark_rows[0].n_rows),
        },
    )


@dg.asset(
    ins={"examples": EVERY_BENCHMARK},
    group_name="benchmarks",
    kinds={"scipy", "duckdb"},
    code_version=str(STAGES["near_duplicates"]),
    metadata=declared("near_duplicates"),
)
def near_duplicates(
    context: dg.AssetExecutionContext, examples: list[Example], store: Store, study_choice: StudyChoice
) -> dg.MaterializeResult:
    """Examples of different benchmarks of the study that ask nearly the same."""
    study = study_choice.study
    require(study, "examples", "every model", {example.benchmark for example in examples})
    found = pipeline.compare_benchmarks(examples)
    stored = {
        name: store.warehouse.fingerprint_of("examples", {"benchmark": name}) for name in study.benchmarks
    }
    pairs = Counter(f"{each.benchmark} and {each.other_benchmark}" for each in found)
    return result(
        found,
        near_duplicates_id(stored),
        {
            "n_examples": len(examples),
            "n_pairs": len(found),
            "pairs": dict(pairs.most_common()),
            "preview": preview(found),
        },
    )


def _left_out(readings: Mapping[str, Reading]) -> dict[str, object]:
    """How many rows were left out because their question stands twice, and the first of them."""
    repeated = [name for reading in readings.values() for name in reading.repeated]
    torn = [name for reading in readings.values() for name in reading.contradictory]
    return {
        "n_repeated": len(repeated),
        "first_repeated": repeated[:_SHOWN_IDS],
        "n_contradictory": len(torn),
        "first_contradictory": torn[:_SHOWN_IDS],
    }
