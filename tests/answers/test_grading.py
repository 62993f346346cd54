"""A completion becomes a score, or unscored with a reason."""

from dataclasses import replace

import pytest

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.records import Completion

COMPLETION = Completion(
    model="m", benchmark="b", example_id="x", text="4", stop="end", n_prompt_tokens=1, n_completion_tokens=1
)


@pytest.mark.parametrize(
    ("value", "reason", "outcome"),
    [(1.0, "", "right"), (0.0, "", "wrong"), (0.25, "", "partial"), (None, "overflow", "unscored")],
)
def test_grade(value, reason, outcome):
    score = grade(COMPLETION, value, answer="4", reason=reason)
    assert (score.model, score.benchmark, score.example_id) == ("m", "b", "x")
    assert (score.value, score.reason, score.outcome, score.answer) == (value, reason, outcome, "4")


def test_grade_wants_a_reason_exactly_when_unscored():
    with pytest.raises(ValueError, match="expected 'unscored', and a reason exactly when unscored"):
        grade(COMPLETION, None)
    with pytest.raises(ValueError, match="expected 'wrong', and a reason exactly when unscored"):
        grade(COMPLETION, 0.0, reason="unparsed")


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        *[(stop, "") for stop in ("end", "length", "choice")],
        *[(stop, stop) for stop in ("overflow", "refused", "timed_out", "failed")],
    ],
)
def test_what_is_no_answer(stop, reason):
    assert unanswered(replace(COMPLETION, stop=stop)) == reason
