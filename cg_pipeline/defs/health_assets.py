"""Assets about trust: whether a reader fits its model, and which of its concepts a study can build on.

The gate is an asset of its own because its bounds are judged anew without a model: what was measured
is stored before it. Cells wait for it, and do not depend on it: a bound that is moved makes no
activation stale.
"""

from dataclasses import replace

import dagster as dg

from cg_pipeline import pipeline
from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.partitions import (
    EVERY_BENCHMARK,
    EVERY_CELL,
    MODEL,
    READER,
    cell_key,
    model_of,
    reader_of,
)
from cg_pipeline.defs.reader_assets import stored_weights
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.defs.results import declared, effort, links, preview, require, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.health.gate import gate_sentence, passes_gate
from cg_pipeline.health.quarantine import count_quarantined, count_reasons
from cg_pipeline.health.sample import sample_examples
from cg_pipeline.health_records import ReaderFit
from cg_pipeline.identity import STAGES, concept_health_id, reader_fit_id, reader_gate_id, reader_id
from cg_pipeline.label_records import ConceptLabel
from cg_pipeline.records import Concept, ConceptActivations, Example
from cg_pipeline.store.fits import load_fit, save_fit
from cg_pipeline.store.resume import fill

_SHOWN = ("explained_variance", "l0", "loss", "spliced_loss", "loss_recovered", "zero_loss_recovered")


@dg.asset(
    partitions_def=MODEL,
    ins={"examples": EVERY_BENCHMARK},
    group_name="reader",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["reader_fit"]),
    metadata=declared("reader_fit"),
)
def reader_fit(
    context: dg.AssetExecutionContext,
    examples: list[Example],
    gpu: Gpu,
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """How well the SAE fits the model that reads, on a sample of the study's examples."""
    model, study = model_of(context.partition_key), study_choice.study
    require(study, "examples", model.name, {example.benchmark for example in examples})
    asked = {name: [each for each in examples if each.benchmark == name] for name in study.benchmarks}
    sae = reader_of(model)
    with lasting_faults_end_the_run():
        weights = stored_weights(sae, gpu, store)
        fingerprint = reader_fit_id(sample_examples(asked), sae, weights)
        shards = store.shards.shard_set("reader_fit", sae.name, fingerprint=fingerprint, n_shards=1)
        filled = fill(
            shards,
            [sample_examples(asked)],
            lambda _index, _sample: save_fit(shards, *pipeline.fit_reader(asked, gpu.encoder(sae))),
            {"sae": sae.name},
        )
        measured, _ = load_fit(shards.directory)
    found = replace(
        measured,
        model=model.name,
        identity=reader_id(sae, weights),
        path=str(shards.directory.relative_to(store.layout.data_dir)),
    )
    return result(
        [found],
        fingerprint,
        {
            **{name: _plain(getattr(found, name)) for name in _SHOWN},
            "explained_variance_by_hookpoint": dict(
                zip(found.hookpoints, map(_plain, found.hookpoint_explained_variance), strict=True)
            ),
            "n_examples": found.n_examples,
            "n_tokens": found.n_tokens,
            "sae": sae.title,
            **effort(filled, found.n_tokens),
            "preview": preview([found]),
            **links(context, {"examples": study.benchmarks}),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    group_name="reader",
    kinds={"python", "duckdb"},
    code_version=str(STAGES["reader_gate"]),
    metadata=declared("reader_gate"),
)
def reader_gate(
    context: dg.AssetExecutionContext, reader_fit: list[ReaderFit], store: Store
) -> dg.MaterializeResult:
    """Whether it fits well enough to read anything with it: each figure against its bound."""
    model = model_of(context.partition_key)
    sae = reader_of(model)
    found = pipeline.judge_reader(reader_fit[0], sae)
    measured = store.warehouse.fingerprint_of("reader_fit", {"model": model.name})
    return result(
        found,
        reader_gate_id(measured, sae),
        {
            "passed": passes_gate(found),
            "verdict": gate_sentence(found),
            "preview": preview(found),
            **links(context, {"reader_fit": [model.name]}),
        },
    )


@dg.asset(
    partitions_def=MODEL,
    ins={"activations": EVERY_CELL, "concepts": READER, "concept_labels": READER},
    group_name="concepts",
    kinds={"numpy", "duckdb"},
    code_version=str(STAGES["concept_health"]),
    metadata=declared("concept_health"),
)
def concept_health(
    context: dg.AssetExecutionContext,
    activations: dict[str, ConceptActivations],
    concepts: list[Concept],
    concept_labels: list[ConceptLabel],
    reader_fit: list[ReaderFit],
    store: Store,
    study_choice: StudyChoice,
) -> dg.MaterializeResult:
    """Which concepts can be trusted in the study; the others are quarantined, with their reasons."""
    model, study = model_of(context.partition_key), study_choice.study
    require(study, "activations", model.name, set(activations))
    read = [activations[name] for name in study.benchmarks]
    with lasting_faults_end_the_run():
        _, arrays = load_fit(store.layout.declared(reader_fit[0].path))
        found = pipeline.judge_concepts(model.name, concepts, concept_labels, arrays, read, study)
    of = store.warehouse.fingerprint_of
    cells = {name: of("activations", {"model": model.name, "benchmark": name}) for name in study.benchmarks}
    return result(
        found,
        concept_health_id(
            of("concepts", {"sae": model.reader}),
            of("concept_labels", {"sae": model.reader}),
            of("reader_fit", {"model": model.name}),
            cells,
            study,
        ),
        {
            "n_concepts": len(found),
            "n_quarantined": count_quarantined(found),
            "quarantined_by_reason": dict(count_reasons(found)),
            "rules": {name: getattr(study.health, name) for name in study.health.__dataclass_fields__},
            "preview": preview([each for each in found if each.reasons] or found),
            **links(
                context,
                {
                    "activations": [cell_key(model.name, name) for name in study.benchmarks],
                    "reader_fit": [model.name],
                    **{name: [model.reader] for name in ("concepts", "concept_labels")},
                },
            ),
        },
    )


def _plain(value: float) -> float | None:
    """Metadata know no NaN."""
    return None if value != value else value
