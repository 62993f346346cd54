"""Assets about concepts: every metric of each in one benchmark and over a whole suite."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.charts import coverage_chart, performance_chart
from cg_pipeline.defs.partitions import (
    CELL,
    EVERY_CELL,
    MODEL,
    benchmark_of,
    cell_key,
    model_of,
)
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import declared, links, preview_table, require, result
from cg_pipeline.gaps.headline import mean_score, median_performance
from cg_pipeline.identity import (
    STAGES,
    concept_metrics_id,
    suite_metrics_id,
)
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import (
    ConceptActivations,
    ConceptMetrics,
    Score,
)
from cg_pipeline.specs import Study


@dg.asset(
    partitions_def=CELL,
    group_name="concepts",
    kinds={"numpy", "duckdb"},
    code_version=str(STAGES["concept_metrics"]),
    metadata=declared("concept_metrics"),
)
def concept_metrics(
    context: dg.AssetExecutionContext,
    scores: list[Score],
    activations: ConceptActivations,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """How much the benchmark exercises each concept (χ_bench) and how well the model does on it (χ_model)."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    cell = {"model": model.name, "benchmark": benchmark.name}
    study = study_choice.study
    found = pipeline.measure_concepts(model.name, benchmark.name, activations, scores, METRICS, study)
    fingerprint = concept_metrics_id(
        store.warehouse.fingerprint_of("scores", cell),
        store.warehouse.fingerprint_of("activations", cell),
        METRICS.values(),
        study,
    )
    inputs = {name: [context.partition_key] for name in ("scores", "activations")}
    return result(found, fingerprint, {**describe_metrics(found, scores, study), **links(context, inputs)})


def describe_metrics(found: ConceptMetrics, scores: Sequence[Score], study: Study) -> dict[str, Any]:
    """What is told of the metrics of one cell."""
    fires = found["n_examples"] > 0
    return {
        "n_concepts": len(found),
        "n_active_concepts": int(fires.sum()),
        "silent_share": float(1 - fires.mean()),  # dead concepts included
        "median_performance": median_performance(found),
        "coverage": coverage_chart(found),
        "performance": performance_chart(found, mean_score(scores), study.rules),
        "preview": preview_table(found),
    }


@dg.asset(
    partitions_def=MODEL,
    ins={"concept_metrics": EVERY_CELL},
    group_name="concepts",
    kinds={"numpy", "duckdb"},
    code_version=str(STAGES["suite_metrics"]),
    metadata=declared("suite_metrics"),
)
def suite_metrics(
    context: dg.AssetExecutionContext,
    concept_metrics: ConceptMetrics,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """Every concept over the whole suite: zeros count in coverage, undefined is skipped in performance."""
    model, study = context.partition_key, study_choice.study
    require(study, "concept_metrics", model, set(concept_metrics["benchmark"].unique()))
    found = pipeline.summarise_suite(concept_metrics)
    cells = {
        name: store.warehouse.fingerprint_of("concept_metrics", {"model": model, "benchmark": name})
        for name in study.benchmarks
    }
    missing = found["n_examples"] == 0
    return result(
        found,
        suite_metrics_id(cells),
        {
            "n_benchmarks": len(study.benchmarks),
            "n_concepts": len(found),
            "n_silent": int(missing.sum()),
            "silent_share": float(missing.mean()),  # dead concepts included
            "median_performance": median_performance(found),
            "coverage": coverage_chart(found),
            "performance": performance_chart(found, None, study.rules),
            "preview": preview_table(found),
            **links(context, {"concept_metrics": [cell_key(model, name) for name in study.benchmarks]}),
        },
    )
