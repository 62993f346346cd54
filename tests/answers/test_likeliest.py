import math

import pytest

from cg_pipeline.answers.likeliest import grade_likeliest
from tests.scoring.cases import chosen, completion, example

AB = example("b", choices=("a", "b"))


@pytest.mark.parametrize(
    ("weights", "value", "reason"),
    [
        ((-2.0, -1.0), 1.0, ""),
        ((-1.0, -1.0), 0.0, ""),  # a tie goes to the first
        ((-math.inf, -1.0), 1.0, ""),
        ((math.nan, -1.0), None, "not_a_number"),
        ((math.inf, -1.0), None, "not_a_number"),
        ((-math.inf, -math.inf), None, "not_a_number"),
        ((-1.0, 2.0), None, "not_a_number"),
        ((-1.0, 1e-7), 1.0, ""),  # 0 but for rounding
        ((-1.0,), None, "no_likelihoods"),
        ((), None, "no_likelihoods"),
    ],
)
def test_grade(weights, value, reason) -> None:
    score = grade_likeliest(AB, chosen(*weights), weights)
    assert (score.value, score.reason) == (value, reason)


def test_what_has_no_answer_keeps_its_reason():
    assert grade_likeliest(AB, completion(stop="timed_out"), ()).reason == "timed_out"
    assert grade_likeliest(example("b"), chosen(-1.0), (-1.0,)).reason == "no_likelihoods"


def test_weights_may_be_positive_where_log_likelihoods_may_not():
    assert grade_likeliest(AB, chosen(-3.0, -2.0), (1.0, 2.0)).value == 1.0
    assert grade_likeliest(AB, chosen(-3.0, -2.0), (1.0, math.inf)).reason == "not_a_number"
