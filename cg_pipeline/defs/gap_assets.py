"""Assets about concepts: metrics per benchmark and suite, gaps, their clusters, and the report."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeVar

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.defs.charts import coverage_chart, performance_chart
from cg_pipeline.defs.partitions import (
    CELL,
    CELLS_OF_MODEL,
    EVERY_BENCHMARK,
    MODEL,
    READER_OF_MODEL,
    benchmark_of,
    cell_key,
    model_of,
    reader_of,
)
from cg_pipeline.defs.provenance import report_provenance
from cg_pipeline.defs.resources import Gpu, Namer, Store, StudyChoice
from cg_pipeline.defs.results import declared, links, preview, result
from cg_pipeline.gaps.headline import mean_score
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.report import headline_lines
from cg_pipeline.identity import (
    STAGES,
    concept_metrics_id,
    gap_clusters_id,
    gap_report_id,
    gaps_id,
    suite_metrics_id,
)
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptActivations,
    ConceptMetrics,
    Example,
    Gap,
    GapCluster,
    Score,
    StoredReport,
    SuiteMetrics,
)
from cg_pipeline.specs import Study
from cg_pipeline.store.reports import save_report

R = TypeVar("R", Example, Completion, Score)

_EVERY_CELL = dg.AssetIn(partition_mapping=CELLS_OF_MODEL)
_READER = dg.AssetIn(partition_mapping=READER_OF_MODEL)


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
        store.warehouse.fingerprint_of("scores", cell) or "",
        store.warehouse.fingerprint_of("activations", cell) or "",
        METRICS.values(),
        study,
    )
    fires = found["n_examples"] > 0
    return result(
        found,
        fingerprint,
        {
            "n_concepts": len(found),
            "n_active_concepts": int(fires.sum()),
            "missing_share": float(1 - fires.mean()),
            "median_performance": float(found["performance"].median()),
            "coverage": coverage_chart(found),
            "performance": performance_chart(found, mean_score(scores), study.rules),
            **links(context, {"scores": [context.partition_key], "activations": [context.partition_key]}),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    ins={"concept_metrics": _EVERY_CELL},
    group_name="concepts",
    kinds={"numpy", "duckdb"},
    code_version=str(STAGES["suite_metrics"]),
    metadata=declared("suite_metrics"),
)
def suite_metrics(
    context: dg.AssetExecutionContext, concept_metrics: ConceptMetrics, store: Store, study_choice: StudyChoice
) -> dg.MaterializeResult:
    """Every concept over the study's whole suite: zeros counted for coverage, undefined skipped for performance."""
    model, study = context.partition_key, study_choice.study
    require(study, "concept_metrics", model, set(concept_metrics["benchmark"].unique()))
    of_study = concept_metrics[concept_metrics["benchmark"].isin(study.benchmarks)]
    found = pipeline.summarise_suite(of_study)
    cells = {
        name: store.warehouse.fingerprint_of("concept_metrics", {"model": model, "benchmark": name}) or ""
        for name in study.benchmarks
    }
    missing = found["n_examples"] == 0
    return result(
        found,
        suite_metrics_id(cells),
        {
            "n_benchmarks": len(study.benchmarks),
            "n_concepts": len(found),
            "n_missing": int(missing.sum()),
            "missing_share": float(missing.mean()),
            "median_performance": float(found["performance"].median()),
            "coverage": coverage_chart(found),
            "performance": performance_chart(found, None, study.rules),
            **links(context, {"concept_metrics": [cell_key(model, name) for name in study.benchmarks]}),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    ins={"concept_metrics": _EVERY_CELL, "concepts": _READER},
    group_name="gaps",
    kinds={"python", "duckdb"},
    code_version=str(STAGES["gaps"]),
    metadata=declared("gaps"),
)
def gaps(
    context: dg.AssetExecutionContext,
    suite_metrics: SuiteMetrics,
    concept_metrics: ConceptMetrics,
    concepts: list[Concept],
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """Concepts that the suite leaves out or overdoes, and concepts the model is bad at."""
    model, study = model_of(context.partition_key), study_choice.study
    of_study = concept_metrics[concept_metrics["benchmark"].isin(study.benchmarks)]
    found = pipeline.find_gaps(suite_metrics, of_study, concepts, study)
    fingerprint = gaps_id(
        store.warehouse.fingerprint_of("suite_metrics", {"model": model.name}) or "",
        store.warehouse.fingerprint_of("concepts", {"sae": model.reader}) or "",
        study,
    )
    of_suite = [gap for gap in found if gap.scope == "suite"]
    return result(
        found,
        fingerprint,
        {
            "n_gaps": len(found),
            "suite_gaps": dict(Counter(gap.kind for gap in of_suite)),
            "rules": {name: getattr(study.rules, name) for name in study.rules.__dataclass_fields__},
            "preview": preview(of_suite),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    ins={"concepts": _READER},
    group_name="gaps",
    kinds={"scikitlearn", "openai", "duckdb"},
    code_version=str(STAGES["gap_clusters"]),
    metadata=declared("gap_clusters"),
)
def gap_clusters(
    context: dg.AssetExecutionContext,
    gaps: list[Gap],
    concepts: list[Concept],
    gpu: Gpu,
    namer: Namer,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """The suite's gaps in groups of kindred concepts, each with a name."""
    model, study = model_of(context.partition_key), study_choice.study
    named_by = namer.load()
    found = pipeline.cluster_gaps(gaps, concepts, gpu.encoder(reader_of(model)), study, named_by)
    notes = sorted({cluster.note for cluster in found if cluster.note})
    for note in notes:
        context.log.warning(note)
    return result(
        found,
        gap_clusters_id(
            store.warehouse.fingerprint_of("gaps", {"model": model.name}) or "",
            study,
            named_by.source if named_by else "automatic",
        ),
        {
            "n_clusters": len(found),
            "named_by": dict(Counter(cluster.name_source for cluster in found)),
            "notes": notes,
            "names": dg.MetadataValue.md("\n".join(f"- {c.kind}: {c.name} ({len(c.concept_ids)})" for c in found)),
            **(named_by.totals() if named_by else {}),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    ins={
        "examples": dg.AssetIn(partition_mapping=EVERY_BENCHMARK),
        "completions": _EVERY_CELL,
        "scores": _EVERY_CELL,
        "activations": _EVERY_CELL,
        "concept_metrics": _EVERY_CELL,
        "concepts": _READER,
    },
    group_name="gaps",
    kinds={"html", "markdown"},
    code_version=str(STAGES["gap_report"]),
    metadata=declared("gap_report"),
)
def gap_report(
    context: dg.AssetExecutionContext,
    examples: list[Example],
    completions: list[Completion],
    scores: list[Score],
    activations: dict[str, ConceptActivations],
    concept_metrics: ConceptMetrics,
    suite_metrics: SuiteMetrics,
    concepts: list[Concept],
    gaps: list[Gap],
    gap_clusters: list[GapCluster],
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """The gap report of one model: self-contained HTML and Markdown, with where every number comes from."""
    model, study = model_of(context.partition_key), study_choice.study
    for table, found in (("examples", examples), ("completions", completions), ("scores", scores)):
        require(study, table, model.name, {row.benchmark for row in found})
    require(study, "activations", model.name, set(activations))
    made = store.warehouse.materialisations()
    inputs = ReportInputs(
        model=model,
        study=study,
        sae=reader_of(model),
        benchmarks={name: BENCHMARKS[name] for name in study.benchmarks},
        examples=_by_benchmark(examples, study),
        completions=_by_benchmark(completions, study),
        scores=_by_benchmark(scores, study),
        activations={name: activations[name] for name in study.benchmarks},
        concepts=concepts,
        concept_metrics=concept_metrics[concept_metrics["benchmark"].isin(study.benchmarks)],
        suite=suite_metrics,
        gaps=gaps,
        clusters=gap_clusters,
        provenance=report_provenance(context.run_id, model, study, made),
    )
    report = pipeline.write_report(inputs)
    figures = {f"figures/{name}.svg": svg for name, svg in report.figures.items()}
    paths = save_report(
        store.layout, model.name, {**figures, "report.html": report.html, "report.md": report.markdown}
    )
    of_suite = [gap for gap in gaps if gap.scope == "suite"]
    stored = StoredReport(
        model=model.name,
        study=study.name,
        html_path=str(paths["report.html"]),
        markdown_path=str(paths["report.md"]),
        n_gaps=len(of_suite),
        headline=tuple(headline_lines(inputs)),
    )
    fingerprint = gap_report_id(store.warehouse.fingerprint_of("gap_clusters", {"model": model.name}) or "", study)
    cells = [cell_key(model.name, name) for name in study.benchmarks]
    return result(
        [stored],
        fingerprint,
        {
            "report": dg.MetadataValue.path(str(store.layout.data_dir / stored.html_path)),
            "headline": dg.MetadataValue.md("```\n" + "\n".join(stored.headline) + "\n```"),
            "accuracy": {name: mean_score(found) for name, found in inputs.scores.items()},
            "n_gaps": stored.n_gaps,
            **links(
                context,
                {
                    "examples": study.benchmarks,
                    "completions": cells,
                    "activations": cells,
                    "concept_metrics": cells,
                    "gaps": [model.name],
                },
            ),
        },
    )


def _by_benchmark(rows: Sequence[R], study: Study) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {name: [] for name in study.benchmarks}
    for row in rows:
        if row.benchmark in grouped:
            grouped[row.benchmark].append(row)
    return grouped


def require(study: Study, table: str, model: str, found: Collection[str]) -> None:
    """Refuse to go on when a benchmark of the study has not been materialised."""
    if absent := [name for name in study.benchmarks if name not in found]:
        raise dg.Failure(
            f"Study {study.name!r} needs {table} of {model!r} on {', '.join(absent)}, which was never materialised. "
            "Materialise those cells first.",
            allow_retries=False,
        )
