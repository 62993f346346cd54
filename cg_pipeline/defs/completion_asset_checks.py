"""Asset checks of answers that were read: all of them, soundly, and their metrics within the scores."""

from typing import Any

import dagster as dg

from cg_pipeline import completion_checks
from cg_pipeline.defs.partitions import CELL
from cg_pipeline.defs.results import reported


@dg.asset_check(
    asset="completion_activations",
    partitions_def=CELL,
    blocking=True,
    additional_ins={"completions": dg.AssetIn()},
)
def one_row_for_each_answer(completion_activations: Any, completions: list) -> dg.AssetCheckResult:
    """Exactly the answers are there, each once."""
    return reported(completion_checks.same_answers(completions, completion_activations))


@dg.asset_check(
    asset="completion_activations", partitions_def=CELL, additional_ins={"completions": dg.AssetIn()}
)
def every_answer_was_read(completion_activations: Any, completions: list) -> dg.AssetCheckResult:
    """Every answer with words had tokens to read."""
    found = completion_checks.answers_read(completions, completion_activations)
    return reported(found, dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="completion_activations", partitions_def=CELL, blocking=True)
def activations_of_answers_are_sound(completion_activations: Any) -> dg.AssetCheckResult:
    """Saliency is finite and positive, and concept ids fit the dictionary."""
    return reported(completion_checks.answers_sound(completion_activations))


@dg.asset_check(
    asset="completion_metrics", partitions_def=CELL, blocking=True, additional_ins={"scores": dg.AssetIn()}
)
def performance_on_answers_is_within_score_range(
    completion_metrics: Any, scores: list
) -> dg.AssetCheckResult:
    """χ_model lies between the lowest and the highest score."""
    return reported(completion_checks.performance_sound(completion_metrics, scores))


COMPLETION_CHECKS = [
    one_row_for_each_answer,
    every_answer_was_read,
    activations_of_answers_are_sound,
    performance_on_answers_is_within_score_range,
]
