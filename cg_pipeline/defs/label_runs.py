"""Labelling by a language model from the command line: excerpts, an estimate, a question, labels.

The same assets and history as in the UI, in two runs with the person between them.
"""

from collections.abc import Callable
from typing import Any

import dagster as dg

from cg_pipeline.defs.catalogue import StudyChoice
from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import DICTIONARY_JOB, LABELLING_JOB, Unit
from cg_pipeline.defs.labelling import ConceptChoice, Labeller
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.runs import run_unit
from cg_pipeline.defs.trust import Trust
from cg_pipeline.label_records import ConceptLabel, LlmLabel
from cg_pipeline.store.schema import TABLES


def label_sae(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    labeller: Labeller,
    sae: str,
    choice: ConceptChoice,
    *,
    agree: Callable[[str], bool],
    report: Callable[[str], None],
) -> None:
    """Label chosen concepts of an SAE, if `agree` says yes to the estimate; `report` is told each step.

    Raises:
        ValueError: no language model is set.
        RuntimeError: a run failed; its sentence says why.
    """
    asking, store = labeller.load(), labeller.store
    partition = {"sae": sae}
    dictionary, labelling = Unit(DICTIONARY_JOB, partition), Unit(LABELLING_JOB, partition)

    def run(unit: Unit, assets: list[str], **config: Any) -> None:
        for warning in run_unit(definitions, unit, assets, instance, config) if assets else ():
            report(warning)

    if not _trust(store, instance).holds("concepts", dictionary):
        report(f"Reading the dictionary of {sae} …")
        run(dictionary, ["concepts"])
    report(f"Looking for excerpts about concepts of {sae} …")
    run(labelling, ["concept_contexts"], concept_contexts=choice.model_dump())
    contexts: Any = store.warehouse.load(TABLES["concept_contexts"], [partition])
    if not agree(f"{asking.explainer.source}: {asking.estimate(contexts).sentence}"):
        report("Nothing was asked.")
        return
    run(labelling, ["llm_labels"], llm_labels={"ask": True})
    current = _trust(store, instance)
    run(
        dictionary,
        [name for name in ("label_files", "concept_labels") if not current.holds(name, dictionary)],
    )
    report(_told(store, sae, instance))


def _trust(store: Store, instance: dg.DagsterInstance) -> Trust:
    """A look at what is stored now; of a dictionary and its labels no study says anything."""
    return Trust(store.warehouse, Expected(store.layout, StudyChoice().study, "automatic"), instance)


def _told(store: Store, sae: str, instance: dg.DagsterInstance) -> str:
    partition = {"sae": sae}
    labels: list[LlmLabel] = list(store.warehouse.load(TABLES["llm_labels"], [partition]))  # pyright: ignore
    merged: list[ConceptLabel] = list(store.warehouse.load(TABLES["concept_labels"], [partition]))  # pyright: ignore
    shown = [row for row in merged if row.chosen and row.source.startswith("llm:")]
    low = sum(row.low_score for row in shown)
    lines = [
        f"{len(labels):,} labels by language models, {len(shown):,} of them shown, {low:,} with a low score."
    ]
    made = instance.get_latest_materialization_event(dg.AssetKey("llm_labels"))
    if made and made.asset_materialization:
        told = made.asset_materialization.metadata
        spent = {name: told[name].value for name in told if name.startswith("llm_")}
        lines.append(", ".join(f"{name.removeprefix('llm_')} {value}" for name, value in spent.items()))
    return "\n".join(lines)
