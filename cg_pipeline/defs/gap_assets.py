"""Assets about gaps: which concepts they are, and how they group."""

from collections import Counter

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.partitions import (
    EVERY_CELL,
    MODEL,
    READER,
    cell_key,
    model_of,
    reader_of,
)
from cg_pipeline.defs.resources import Gpu, Namer, Store
from cg_pipeline.defs.results import declared, links, preview, result
from cg_pipeline.defs.retries import lasting_faults_end_the_run
from cg_pipeline.gaps.legible import escape_markdown
from cg_pipeline.health.quarantine import count_quarantined, count_reasons, set_aside
from cg_pipeline.health_records import ConceptHealth
from cg_pipeline.identity import STAGES, gap_clusters_id, gaps_id
from cg_pipeline.label_records import ConceptLabel
from cg_pipeline.labels.merging import show_labels
from cg_pipeline.records import (
    Concept,
    ConceptMetrics,
    Gap,
    GapCluster,
    SuiteMetrics,
)


@dg.asset(
    partitions_def=MODEL,
    ins={"concept_metrics": EVERY_CELL, "concepts": READER},
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
    concept_health: list[ConceptHealth],
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """Concepts that the suite leaves out or overdoes, and concepts the model is bad at."""
    model, study = model_of(context.partition_key), study_choice.study
    with lasting_faults_end_the_run():
        trusted = set_aside(concepts, concept_health)
    found = pipeline.find_gaps(suite_metrics, concept_metrics, trusted, study)
    fingerprint = gaps_id(
        store.warehouse.fingerprint_of("suite_metrics", {"model": model.name}),
        store.warehouse.fingerprint_of("concepts", {"sae": model.reader}),
        store.warehouse.fingerprint_of("concept_health", {"model": model.name}),
        study,
    )
    of_suite = [gap for gap in found if gap.scope == "suite"]
    return result(
        found,
        fingerprint,
        {
            "n_gaps": len(found),
            "suite_gaps": dict(Counter(gap.kind for gap in of_suite)),
            "n_quarantined": count_quarantined(concept_health),
            "quarantined_by_reason": dict(count_reasons(concept_health)),
            "rules": {name: getattr(study.rules, name) for name in study.rules.__dataclass_fields__},
            "preview": preview(of_suite),
            **links(
                context,
                {
                    **{name: [model.name] for name in ("suite_metrics", "concept_health")},
                    "concept_metrics": [cell_key(model.name, name) for name in study.benchmarks],
                    "concepts": [model.reader],
                },
            ),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    ins={"concepts": READER, "concept_labels": READER},
    group_name="gaps",
    kinds={"scikitlearn", "openai", "duckdb"},
    pool="gpu",
    code_version=str(STAGES["gap_clusters"]),
    metadata=declared("gap_clusters"),
)
def gap_clusters(
    context: dg.AssetExecutionContext,
    gaps: list[Gap],
    concepts: list[Concept],
    concept_labels: list[ConceptLabel],
    gpu: Gpu,
    namer: Namer,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """The suite's gaps in groups of kindred concepts, each with a name."""
    model, study = model_of(context.partition_key), study_choice.study
    named_by = namer.load()
    shown = show_labels(concepts, concept_labels)
    found = pipeline.cluster_gaps(gaps, shown, gpu.encoder(reader_of(model)), study, named_by)
    notes = sorted({cluster.note for cluster in found if cluster.note})
    for note in notes:
        context.log.warning(note)
    return result(
        found,
        gap_clusters_id(
            store.warehouse.fingerprint_of("gaps", {"model": model.name}),
            store.warehouse.fingerprint_of("concept_labels", {"sae": model.reader}),
            study,
            named_by.source if named_by and not notes else "automatic",  # tried again when a name failed
        ),
        {
            "n_clusters": len(found),
            "n_quarantined": max((gap.n_quarantined for gap in gaps), default=0),
            "named_by": dict(Counter(cluster.name_source for cluster in found)),
            "notes": notes,
            "preview": preview(found),
            **links(
                context,
                {"gaps": [model.name], "concepts": [model.reader], "concept_labels": [model.reader]},
            ),
            "names": dg.MetadataValue.md("\n".join(map(_line, found))),
            **(named_by.totals() if named_by else {}),
        },
    )


def _line(cluster: GapCluster) -> str:
    return f"- {cluster.kind}: {escape_markdown(cluster.name)} ({len(cluster.concept_ids)})"
