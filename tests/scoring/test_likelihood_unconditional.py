"""Pointwise mutual information, by hand."""

import math

import pytest

from cg_pipeline.scoring.likelihood_unconditional import POLICY
from tests.scoring.cases import chosen, completion, example

AB = example("rare", choices=("common", "rare"))


@pytest.mark.parametrize(
    ("given", "neutral", "value", "reason"),
    [
        ((-2.0, -5.0), (-1.0, -9.0), 1.0, ""),  # raised by -1 and by 4
        ((-2.0, -5.0), (-3.0, -5.0), 0.0, ""),
        ((-2.0, -5.0), (-3.0, -6.0), 0.0, ""),  # a tie goes to the first
        ((-2.0, -5.0), (), None, "no_unconditional"),
        ((-2.0, -5.0), (-1.0,), None, "no_unconditional"),
        ((-2.0, -math.inf), (-1.0, -math.inf), None, "not_a_number"),
    ],
)
def test_score(given, neutral, value, reason) -> None:
    score = POLICY.score(AB, chosen(*given, unconditional_logprobs=neutral))
    assert (score.value, score.reason) == (value, reason)


def test_no_answer_is_no_fault_of_the_benchmark():
    assert POLICY.score(AB, completion(stop="overflow")).reason == "overflow"
    assert POLICY.score(AB, completion("common")).reason == "no_likelihoods"
