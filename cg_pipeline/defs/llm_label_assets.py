"""Assets of labelling by a language model: excerpts about chosen concepts, and what the model calls them.

By hand only, for the excerpts take a reader and the labels cost; see `cg label`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from cg_pipeline.defs.label_rows import labels_written, reader_hash
from cg_pipeline.defs.labelling import ConceptChoice, LabelBudget, Labeller
from cg_pipeline.defs.partitions import SAE
from cg_pipeline.defs.resources import Gpu, Store
from cg_pipeline.defs.results import declared, links, preview, refuse_change, result
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.identity import STAGES, concept_contexts_id, llm_labels_id
from cg_pipeline.label_records import ConceptContext, LlmLabel
from cg_pipeline.labels.choosing import choose_concepts, kindred_of
from cg_pipeline.labels.evidence import collect_contexts
from cg_pipeline.labels.merging import keep_former
from cg_pipeline.records import Concept
from cg_pipeline.saes import SAES
from cg_pipeline.sources.broad_sample import read_sample, sample_hash
from cg_pipeline.specs import Sae

_EVERY = 20
"""Concepts labelled between two lines of the log."""


@dg.asset(
    partitions_def=SAE,
    group_name="labels",
    kinds={"pytorch", "duckdb"},
    pool="gpu",
    retry_policy=RETRIES,
    code_version=str(STAGES["concept_contexts"]),
    metadata=declared("concept_contexts"),
)
def concept_contexts(
    context: dg.AssetExecutionContext, config: ConceptChoice, concepts: list[Concept], gpu: Gpu, store: Store
) -> dg.MaterializeResult:
    """Excerpts about chosen concepts, to explain them by and to test the explanations with."""
    sae, data_dir = SAES[context.partition_key], store.layout.data_dir
    with lasting_faults_end_the_run():
        chosen = choose_concepts(concepts, named=config.concepts, top=config.top, limit=config.limit)
        before = (sample_hash(data_dir), reader_hash(sae, store.layout))
        texts, reader = read_sample(data_dir), gpu.encoder(sae)
        kindred = kindred_of(reader.directions(), chosen)
        looked_at = sorted({*kindred, *(other for others in kindred.values() for other in others)})
        found = collect_contexts(sae.name, texts, reader.fire(texts, looked_at), kindred)
    refuse_change(
        "The sample of texts or the SAE", before, (sample_hash(data_dir), reader_hash(sae, store.layout))
    )
    return result(
        found,
        concept_contexts_id(*before, chosen),
        {
            "n_concepts": len(chosen),
            "n_contexts": len(found),
            "n_kindred_read": len(looked_at) - len(chosen),
            "preview": preview(found),
            **links(context, {"concepts": [sae.name]}),
        },
    )


@dg.asset(
    partitions_def=SAE,
    group_name="labels",
    kinds={"openai", "duckdb"},
    retry_policy=RETRIES,
    code_version=str(STAGES["llm_labels"]),
    metadata=declared("llm_labels"),
)
def llm_labels(
    context: dg.AssetExecutionContext,
    config: LabelBudget,
    concept_contexts: list[ConceptContext],
    labeller: Labeller,
    store: Store,
) -> dg.MaterializeResult:
    """What a language model calls the concepts that have excerpts, and how its labels did in two tests.

    Former labels stay: of other models, and of concepts that are not asked about now. Unless `ask` is
    set in the run configuration, nothing is asked and they are all there is.
    """
    sae = SAES[context.partition_key]
    reader = reader_hash(sae, store.layout)
    if not config.ask:
        return _former(context, store, sae)
    with lasting_faults_end_the_run():
        asking = labeller.load()
        expected = asking.estimate(concept_contexts)
        context.log.info(f"Before asking {asking.explainer.source}: {expected.sentence}.")
        _refuse_cost(expected.cost, config.max_cost)
    asked = asking.label(
        concept_contexts, datetime.now(UTC).date().isoformat(), reader, _told(context, sae.name)
    )
    for trouble, n in asked.troubles.most_common():
        context.log.warning(f"{trouble} ({n} times)")
    context.log.info(f"After asking: {asking.spent()}.")
    if not asked.labels:
        reason = next(iter(asked.troubles), "there are no excerpts")
        spent = ", ".join(f"{name} {value}" for name, value in asking.spent().items())
        raise dg.Failure(
            f"No label could be had: {reason} Nothing was stored; spent: {spent}.", allow_retries=False
        )
    found = keep_former(asked.labels, labels_written(sae, store.warehouse))
    return result(
        found,
        _llm_labels_id(store, sae, found),
        {
            "n_labels": len(found),
            "n_asked": len({each.concept_id for each in concept_contexts}),
            "n_failed": len({each.concept_id for each in concept_contexts}) - len(asked.labels),
            "explainer": asking.explainer.source,
            "tester": asking.tester.source,
            "estimated": expected.sentence,
            **asking.spent(),
            **_mean_scores(asked.labels),
            "troubles": dict(asked.troubles),
            "preview": preview(asked.labels),
            **links(context, {"concept_contexts": [sae.name]}),
        },
    )


def _former(context: dg.AssetExecutionContext, store: Store, sae: Sae) -> dg.MaterializeResult:
    """The labels that were there, for a run that is not to ask."""
    context.log.warning(
        "Nothing was asked, for asking costs: set ask in the run configuration, or `cg label`."
    )
    found = keep_former([], labels_written(sae, store.warehouse))
    return result(
        found,
        _llm_labels_id(store, sae, found),
        {"n_labels": len(found), "n_asked": 0, "preview": preview(found)},
    )


def _llm_labels_id(store: Store, sae: Sae, found: Sequence[LlmLabel]) -> str:
    contexts = store.warehouse.fingerprint_of("concept_contexts", {"sae": sae.name})
    return llm_labels_id(contexts, map(repr, found))


def _refuse_cost(expected: float | None, most: float) -> None:
    if not most >= 0:
        raise ValueError(f"max_cost is {most:g}; expected a number from 0 (no bound) up. Correct it.")
    if most == 0:
        return
    if expected is None:
        raise ValueError(
            f"max_cost is {most:g}, and the price is unknown; expected prices to compare it with. Set "
            "CG_LLM_INPUT_PRICE and CG_LLM_OUTPUT_PRICE, per million tokens."
        )
    if expected > most:
        raise ValueError(
            f"Labelling is estimated at {expected:.2f}; expected at most {most:.2f}, the max_cost. Nothing "
            "was asked. Choose fewer concepts, or raise it."
        )


def _told(context: dg.AssetExecutionContext, sae: str) -> Any:
    def report(done: int, total: int) -> None:
        if done % _EVERY == 0 or done == total:
            context.log.info(f"{sae}: {done:,} of {total:,} concepts labelled")

    return report


def _mean_scores(labels: list[LlmLabel]) -> dict[str, float]:
    tests = {
        "mean_detection": [each.detection for each in labels if each.detection is not None],
        "mean_fuzzing": [each.fuzzing for each in labels if each.fuzzing is not None],
    }
    return {name: sum(scores) / len(scores) for name, scores in tests.items() if scores}
