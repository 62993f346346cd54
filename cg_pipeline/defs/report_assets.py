"""The last asset: one model's gap report."""

from collections.abc import Sequence
from typing import TypeVar

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import BENCHMARKS, StudyChoice
from cg_pipeline.defs.freshness import titles
from cg_pipeline.defs.partitions import (
    EVERY_BENCHMARK,
    EVERY_CELL,
    MODEL,
    READER,
    cell_key,
    model_of,
    reader_of,
)
from cg_pipeline.defs.provenance import report_provenance
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import declared, links, preview, require, result
from cg_pipeline.defs.retries import lasting_faults_end_the_run
from cg_pipeline.gaps.headline import mean_score
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.terminal import headline_lines
from cg_pipeline.health.quarantine import count_quarantined, count_reasons, set_aside
from cg_pipeline.health_records import ConceptHealth
from cg_pipeline.identity import (
    STAGES,
    gap_report_id,
)
from cg_pipeline.label_records import ConceptLabel
from cg_pipeline.labels.merging import show_labels
from cg_pipeline.records import (
    Completion,
    Concept,
    ConceptMetrics,
    Example,
    Gap,
    GapCluster,
    Score,
    StoredReport,
    SuiteMetrics,
)
from cg_pipeline.specs import Study
from cg_pipeline.store.evidence import StoredShelf
from cg_pipeline.store.reports import save_report

R = TypeVar("R", Example, Completion, Score)


@dg.asset(
    partitions_def=MODEL,
    ins={
        "examples": EVERY_BENCHMARK,
        "completions": EVERY_CELL,
        "scores": EVERY_CELL,
        "evidence": EVERY_CELL,
        "concept_metrics": EVERY_CELL,
        "concepts": READER,
        "concept_labels": READER,
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
    evidence: dict[str, StoredShelf],
    concept_metrics: ConceptMetrics,
    suite_metrics: SuiteMetrics,
    concepts: list[Concept],
    concept_labels: list[ConceptLabel],
    gaps: list[Gap],
    gap_clusters: list[GapCluster],
    concept_health: list[ConceptHealth],
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """The gap report of one model: self-contained HTML and Markdown, with where every number comes from."""
    model, study = model_of(context.partition_key), study_choice.study
    for table, found in (("examples", examples), ("completions", completions), ("scores", scores)):
        require(study, table, model.name, {row.benchmark for row in found})
    require(study, "evidence", model.name, set(evidence))
    made = store.warehouse.materialisations()
    with lasting_faults_end_the_run():
        trusted = set_aside(concepts, concept_health)
    inputs = ReportInputs(
        model=model,
        study=study,
        sae=reader_of(model),
        benchmarks={name: BENCHMARKS[name] for name in study.benchmarks},
        examples=_by_benchmark(examples, study),
        completions=_by_benchmark(completions, study),
        scores=_by_benchmark(scores, study),
        evidence={name: evidence[name] for name in study.benchmarks},
        concepts=show_labels(trusted, concept_labels, mark_low=True),
        health=concept_health,
        concept_metrics=concept_metrics,
        suite=suite_metrics,
        gaps=gaps,
        clusters=gap_clusters,
        provenance=report_provenance(context.run.run_id, model, study, made),
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
    clustered = store.warehouse.fingerprint_of("gap_clusters", {"model": model.name})
    kept = {
        name: store.warehouse.fingerprint_of("evidence", {"model": model.name, "benchmark": name})
        for name in study.benchmarks
    }
    cells = [cell_key(model.name, name) for name in study.benchmarks]
    return result(
        [stored],
        gap_report_id(clustered, kept, study, titles(model.name, study)),
        {
            "report": dg.MetadataValue.path(str(store.layout.data_dir / stored.html_path)),
            "headline": dg.MetadataValue.md("```\n" + "\n".join(stored.headline) + "\n```"),
            "accuracy": {name: _rounded(mean_score(found)) for name, found in inputs.scores.items()},
            "preview": preview([stored]),
            "n_gaps": stored.n_gaps,
            "n_quarantined": count_quarantined(concept_health),
            "quarantined_by_reason": dict(count_reasons(concept_health)),
            **links(
                context,
                {
                    "examples": study.benchmarks,
                    **dict.fromkeys(("completions", "scores", "evidence", "concept_metrics"), cells),
                    **{name: [model.reader] for name in ("concepts", "concept_labels")},
                    **{
                        name: [model.name]
                        for name in ("suite_metrics", "concept_health", "gaps", "gap_clusters")
                    },
                },
            ),
        },
    )


def _rounded(accuracy: float | None) -> float | None:
    return None if accuracy is None else round(accuracy, 3)


def _by_benchmark(rows: Sequence[R], study: Study) -> dict[str, list[R]]:
    grouped: dict[str, list[R]] = {name: [] for name in study.benchmarks}
    for row in rows:
        grouped[row.benchmark].append(row)
    return grouped
