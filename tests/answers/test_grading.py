"""A completion becomes a score, or unscored with a reason."""

from dataclasses import replace

import pytest

from cg_pipeline import pipeline
from cg_pipeline.answers.grading import grade, score_one, unanswered
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy
from tests.scoring.cases import completion, example

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


@pytest.mark.parametrize(
    "fault", [TypeError("a"), KeyError("a"), StopIteration(), ZeroDivisionError(), RecursionError()]
)
@pytest.mark.parametrize("judged", [False, True])
def test_a_text_that_breaks_a_policy_costs_no_other_its_score(fault, judged, caplog) -> None:
    def breaks(example: Example, completion: Completion, *decider: object) -> Score:
        if completion.sample == 1:
            raise fault
        return grade(completion, 1.0)

    policy = ScoringPolicy(name="breaks", score=breaks, judged=judged)
    asked = example("a")
    answers = [replace(completion(sample=n), example_id=asked.example_id) for n in range(3)]
    scores = pipeline.score(policy, [asked], answers)
    assert [each.value for each in scores] == [1.0, None, 1.0]
    assert (scores[1].reason, scores[1].answer) == ("scoring_failed", type(fault).__name__)
    assert "'breaks' broke on sample 1" in caplog.text


@pytest.mark.parametrize("error", [ValueError("about the example"), OSError(), KeyboardInterrupt()])
def test_other_errors_remain_errors(error: BaseException) -> None:
    def breaks(example: Example, completion: Completion) -> Score:
        raise error

    with pytest.raises(type(error)):
        score_one(ScoringPolicy(name="breaks", score=breaks), example("a"), completion())
