"""The tables of the warehouse: one per stage, named like it.

Columns of text stages come from their records, those of `concept_metrics` from the metric
catalogue, those of `suite_metrics` from `gaps.suite`.
"""

from collections.abc import Mapping

from cg_pipeline.evidence_records import StoredEvidence
from cg_pipeline.gaps.suite import SUITE_COLUMNS
from cg_pipeline.health_records import ConceptHealth, GateFinding, ReaderFit
from cg_pipeline.label_records import ConceptContext, ConceptLabel, LlmLabel, StoredLabels
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import (
    Completion,
    Concept,
    Example,
    Gap,
    GapCluster,
    NearDuplicate,
    Score,
    StoredActivations,
    StoredReport,
    StoredRows,
)
from cg_pipeline.store.tables import Column, Table, table_of

_CELL = ("model", "benchmark")
_MODEL = Column(name="model", type="VARCHAR", description="Name of the model.")
_CONCEPT = Column(name="concept_id", type="BIGINT", description="The concept, as in table concepts.")


def _concept_metrics(name: str, description: str) -> Table:
    metrics = [
        Column(
            name=m.name,
            type="BIGINT" if m.counts else "DOUBLE",
            description=m.description,
            nullable=not m.counts,
        )
        for m in METRICS.values()
    ]
    benchmark = Column(name="benchmark", type="VARCHAR", description="Name of the benchmark.")
    return Table(
        name=name,
        columns=(_MODEL, benchmark, _CONCEPT, *metrics),
        keys=_CELL,
        description=description,
    )


def _suite_metrics() -> Table:
    columns = [
        Column(name=name, type=sql, description=text, nullable=sql == "DOUBLE")
        for name, (sql, text) in SUITE_COLUMNS.items()
        if name not in ("model", "concept_id")
    ]
    return Table(
        name="suite_metrics",
        columns=(_MODEL, _CONCEPT, *columns),
        keys=("model",),
        description="Every concept over the whole suite of one model's study.",
    )


TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        table_of(StoredRows, name="benchmark_rows", keys=("benchmark",)),
        table_of(Example, name="examples", keys=("benchmark",)),
        table_of(NearDuplicate, name="near_duplicates"),
        table_of(Completion, name="completions", keys=_CELL),
        table_of(Score, name="scores", keys=_CELL),
        table_of(Concept, name="concepts", keys=("sae",)),
        table_of(StoredLabels, name="label_files", keys=("sae",)),
        table_of(ConceptContext, name="concept_contexts", keys=("sae",)),
        table_of(LlmLabel, name="llm_labels", keys=("sae",)),
        table_of(ConceptLabel, name="concept_labels", keys=("sae",)),
        table_of(ReaderFit, name="reader_fit", keys=("model",)),
        table_of(GateFinding, name="reader_gate", keys=("model",)),
        table_of(StoredActivations, name="activations", keys=_CELL),
        _concept_metrics(
            "concept_metrics", "Every metric of every concept in the prompts of one benchmark, for one model."
        ),
        table_of(StoredActivations, name="completion_activations", keys=_CELL),
        _concept_metrics(
            "completion_metrics", "The same metrics in what one model answered: each answer is an example."
        ),
        table_of(StoredEvidence, name="evidence", keys=_CELL),
        _suite_metrics(),
        table_of(ConceptHealth, name="concept_health", keys=("model",)),
        table_of(Gap, name="gaps", keys=("model",)),
        table_of(GapCluster, name="gap_clusters", keys=("model",)),
        table_of(StoredReport, name="gap_report", keys=("model",)),
    )
}
