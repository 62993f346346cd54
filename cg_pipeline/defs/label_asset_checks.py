"""Asset checks of labels: files are whole, one label of each concept is shown, tests mean something."""

import dagster as dg

from cg_pipeline import label_checks
from cg_pipeline.defs.label_rows import label_checksums
from cg_pipeline.defs.partitions import SAE
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.results import reported
from cg_pipeline.saes import SAES

LARGEST_LOW_SHARE = 0.2
_WARN = dg.AssetCheckSeverity.WARN


@dg.asset_check(asset="label_files", partitions_def=SAE, blocking=True)
def files_of_labels_are_whole(label_files: list, store: Store) -> dg.AssetCheckResult:
    """Every label file is there, with the content it was stored with."""
    return reported(label_checks.labels_whole(label_files, label_checksums(label_files, store.layout)))


@dg.asset_check(asset="concept_contexts", partitions_def=SAE, blocking=True)
def excerpts_are_sound(concept_contexts: list) -> dg.AssetCheckResult:
    """A concept fires in the excerpts where it is said to, and is silent in the others."""
    return reported(label_checks.contexts_sound(concept_contexts))


@dg.asset_check(asset="concept_contexts", partitions_def=SAE)
def labels_are_tested_on_other_texts(concept_contexts: list) -> dg.AssetCheckResult:
    """No excerpt is both shown and tested with, and every concept has some to be tested with."""
    return reported(label_checks.tested_on_others(concept_contexts), _WARN)


@dg.asset_check(asset="llm_labels", partitions_def=SAE, additional_ins={"concept_contexts": dg.AssetIn()})
def concepts_are_labelled_as_asked(llm_labels: list, concept_contexts: list) -> dg.AssetCheckResult:
    """Every concept that the language model was asked about has a label and both its tests."""
    return reported(label_checks.labelled_as_asked(llm_labels, concept_contexts), _WARN)


@dg.asset_check(asset="concept_labels", partitions_def=SAE, blocking=True)
def one_label_of_each_concept_is_shown(
    context: dg.AssetCheckExecutionContext, concept_labels: list
) -> dg.AssetCheckResult:
    """Every concept of the dictionary has exactly one chosen label."""
    return reported(label_checks.one_label_chosen(concept_labels, SAES[context.partition_key]))


@dg.asset_check(asset="concept_labels", partitions_def=SAE)
def labels_are_of_this_dictionary(
    context: dg.AssetCheckExecutionContext, concept_labels: list
) -> dg.AssetCheckResult:
    """No source looks as if it were a narrower SAE's."""
    return reported(label_checks.labels_fit_the_width(concept_labels, SAES[context.partition_key]), _WARN)


@dg.asset_check(asset="concept_labels", partitions_def=SAE)
def few_labels_score_low(concept_labels: list) -> dg.AssetCheckResult:
    """Of the labels that are shown and were tested, few scored low."""
    return reported(label_checks.few_score_low(concept_labels, largest_share=LARGEST_LOW_SHARE), _WARN)


LABEL_CHECKS = [
    files_of_labels_are_whole,
    excerpts_are_sound,
    labels_are_tested_on_other_texts,
    concepts_are_labelled_as_asked,
    one_label_of_each_concept_is_shown,
    labels_are_of_this_dictionary,
    few_labels_score_low,
]
