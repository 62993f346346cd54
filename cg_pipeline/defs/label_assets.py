"""Assets about words for concepts: label files, and the labels of all sources together.

None of them, nor of `llm_label_assets`, is read by anything that runs a model or measures: a new label
asks for new verdicts on concepts (its score is among their figures), gaps, clusters and a new report,
and for nothing else.
"""

import dagster as dg

from cg_pipeline.defs.label_rows import bring_all, labels_written, read_stored, reader_hash
from cg_pipeline.defs.partitions import SAE
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import declared, links, preview, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.identity import STAGES, concept_labels_id, label_files_id
from cg_pipeline.label_records import StoredLabels
from cg_pipeline.labels.merging import label_counts, merge_labels
from cg_pipeline.records import Concept
from cg_pipeline.saes import SAES


@dg.asset(
    partitions_def=SAE,
    group_name="labels",
    kinds={"huggingface", "file"},
    retry_policy=RETRIES,
    code_version=str(STAGES["label_files"]),
    metadata=declared("label_files"),
)
def label_files(context: dg.AssetExecutionContext, store: Store) -> dg.MaterializeResult:
    """An SAE's labels as files: the user's own, and those others have published, fetched once."""
    sae = SAES[context.partition_key]
    with lasting_faults_end_the_run():
        found = bring_all(sae, store.layout)
    return result(
        found,
        label_files_id({each.source: each.fingerprint for each in found}),
        {
            "n_sources": len(found),
            "n_labels": {each.source: each.n_labels for each in found},
            "n_missing": {each.source: sae.d_sae - each.n_concepts for each in found},
            "dated": {each.source: each.dated for each in found},
            "sha256": {each.source: each.sha256 for each in found},
            "preview": preview(found),
        },
    )


@dg.asset(
    partitions_def=SAE,
    deps=["llm_labels"],
    group_name="labels",
    kinds={"python", "duckdb"},
    code_version=str(STAGES["concept_labels"]),
    metadata=declared("concept_labels"),
)
def concept_labels(
    context: dg.AssetExecutionContext,
    concepts: list[Concept],
    label_files: list[StoredLabels],
    store: Store,
) -> dg.MaterializeResult:
    """Every label of every concept from every source, and which one is shown.

    Labels by a language model are there once somebody has asked for some.
    """
    sae = SAES[context.partition_key]
    reader, partition = reader_hash(sae, store.layout), {"sae": sae.name}
    note = store.warehouse.materialisation("llm_labels", partition)
    with lasting_faults_end_the_run():
        given = read_stored(sae, label_files, store.layout)
        written = [each for each in labels_written(sae, store.warehouse) if each.reader == reader]
        found = merge_labels(sae, concepts, given, written)
    counts = label_counts(sae, found)
    return result(
        found,
        concept_labels_id(
            store.warehouse.fingerprint_of("concepts", partition),
            {each.source: each.sha256 for each in label_files},
            note.fingerprint if note else "",
            sae.labels,
        ),
        {
            "n_labels": len(found),
            "shown_by_source": {source: count["chosen"] for source, count in counts.items()},
            "missing_by_source": {source: count["missing"] for source, count in counts.items()},
            "n_low_score_shown": sum(row.chosen and row.low_score for row in found),
            "sources": dg.MetadataValue.json({name: dict(count) for name, count in counts.items()}),
            "precedence": list(sae.labels.precedence),
            "preview": preview([row for row in found if row.chosen]),
            **links(context, {"concepts": [sae.name], "label_files": [sae.name], "llm_labels": [sae.name]}),
        },
    )
