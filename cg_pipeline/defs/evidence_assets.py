"""The asset that says what speaks for each concept: its strongest examples, and where in them it fires."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.label_rows import reader_hash
from cg_pipeline.defs.partitions import BENCHMARK_OF_CELL, CELL, benchmark_of, model_of, reader_of
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.defs.results import declared, effort, links, preview, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.evidence.assembling import wanted_of
from cg_pipeline.evidence_records import PairFirings, StoredEvidence
from cg_pipeline.identity import STAGES, evidence_id, token_firings_id
from cg_pipeline.records import ConceptActivations, Example, Score
from cg_pipeline.store.evidence import save_evidence
from cg_pipeline.store.firings import FiringLedger

_SPARE = 2
"""So many times the examples kept are read while one is at it: of a score that changes, one example is
read anew instead of a third of a benchmark of 150. Speed and room only; what is kept is the same.
"""


@dg.asset(
    partitions_def=CELL,
    ins={"examples": BENCHMARK_OF_CELL},
    io_manager_key="evidence_io_manager",
    group_name="concepts",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["evidence"]),
    metadata=declared("evidence"),
)
def evidence(
    context: dg.AssetExecutionContext,
    examples: list[Example],
    scores: list[Score],
    activations: ConceptActivations,
    gpu: Gpu,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """For every concept the examples where it is strongest, right and wrong apart, with token activations."""
    benchmark, model = benchmark_of(context.partition_key), model_of(context.partition_key)
    sae, study = reader_of(model), study_choice.study
    by_id = {example.example_id: example for example in examples}
    spare = pipeline.choose_evidence(
        activations, scores, replace(study, n_evidence=_SPARE * study.n_evidence)
    )
    strongest = spare.first(study.n_evidence)
    wanted, more = wanted_of(strongest, activations), wanted_of(spare, activations)
    reader = token_firings_id(reader_hash(sae, store.layout))
    ledger = FiringLedger(store.shards, sae.name, benchmark.name, reader)

    def read(some: Mapping[str, Sequence[int]]) -> PairFirings:
        return pipeline.read_evidence([by_id[name] for name in some], some, gpu.encoder(sae))

    with lasting_faults_end_the_run():
        filled = ledger.complete(wanted, more, gpu.examples_at_once("reading"), read)
        found = pipeline.assemble_evidence(strongest, activations, scores, ledger.known())
    cell = {"model": model.name, "benchmark": benchmark.name}
    fingerprint = evidence_id(
        store.warehouse.fingerprint_of("scores", cell),
        store.warehouse.fingerprint_of("activations", cell),
        study,
    )
    directory = save_evidence(store.shards, model.name, benchmark.name, fingerprint, found)
    stored = StoredEvidence(
        **cell,
        sae=sae.name,
        fingerprint=fingerprint,
        n_kept=study.n_evidence,
        n_concepts=len(set(found.concept_ids.tolist())),
        n_examples=len(found.example_ids),
        n_rows=len(found.concept_ids),
        n_firings=len(found.activations),
        path=str(directory.relative_to(store.layout.data_dir)),
    )
    return result(
        stored,
        fingerprint,
        {
            "n_concepts": stored.n_concepts,
            "n_examples": stored.n_examples,
            "n_rows": stored.n_rows,
            "n_firings": stored.n_firings,
            **effort(filled, int(found.n_tokens.sum())),
            "preview": preview([stored]),
            **links(
                context,
                {
                    "examples": [benchmark.name],
                    "scores": [context.partition_key],
                    "activations": [context.partition_key],
                },
            ),
            "shards": dg.MetadataValue.path(str(directory)),
        },
    )
