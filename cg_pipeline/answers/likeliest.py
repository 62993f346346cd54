"""The choice that scores highest, graded: what policies on likelihoods share."""

import math
from collections.abc import Sequence

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.records import Completion, Example, Score

_ROUNDING = 1e-3
"""How far above 0 arithmetic of low precision may carry a log-likelihood."""


def grade_likeliest(example: Example, completion: Completion, weights: Sequence[float]) -> Score:
    """1 when the target is the choice with the largest weight; a tie goes to the choice named first.

    Unscored when the model broke down (`not_a_number`) or did not weigh every choice (`no_likelihoods`).
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if not example.choices or len(weights) != len(example.choices):
        return grade(completion, None, reason="no_likelihoods")
    if not (can_be_logprobs(completion.choice_logprobs) and _can_be_compared(weights)):
        return grade(completion, None, reason="not_a_number")
    answer = example.choices[max(range(len(weights)), key=lambda i: weights[i])]
    return grade(completion, float(answer in example.targets), answer=answer)


def can_be_logprobs(values: Sequence[float]) -> bool:
    """Whether numbers can be log-likelihoods: none above 0 but by rounding, not all of them -inf."""
    return _can_be_compared(values) and all(each <= _ROUNDING for each in values)


def _can_be_compared(weights: Sequence[float]) -> bool:
    """Whether one of them can be the largest: a choice may be impossible (-inf), but not all of them."""
    return all(each < math.inf for each in weights) and any(map(math.isfinite, weights))
