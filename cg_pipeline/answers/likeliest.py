"""The choice that scores highest, graded: what policies on likelihoods share."""

import math
from collections.abc import Sequence

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.records import Completion, Example, Score


def grade_likeliest(example: Example, completion: Completion, weights: Sequence[float]) -> Score:
    """1 when the target is the choice with the largest weight; a tie goes to the choice named first.

    Unscored when the model broke down (`not_a_number`) or did not weigh every choice (`no_likelihoods`).
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if not example.choices or len(weights) != len(example.choices):
        return grade(completion, None, reason="no_likelihoods")
    if any(map(math.isnan, weights)):
        return grade(completion, None, reason="not_a_number")
    answer = example.choices[max(range(len(weights)), key=lambda i: weights[i])]
    return grade(completion, float(answer in example.targets), answer=answer)
