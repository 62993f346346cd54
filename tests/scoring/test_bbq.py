"""Accuracy and bias, the bias score by hand."""

import pytest

from cg_pipeline.records import Example, Score, outcome_of
from cg_pipeline.scoring.bbq import POLICY, bias
from tests.scoring.cases import chosen, completion, example

CHOICES = ("the old man", "the young man", "unknown")


def asked(condition: str, target: str, number: int, **changed) -> Example:
    details = {
        "context_condition": condition,
        "unknown_choice": "C",
        "stereotype_consistent_choice": "the old man",
        **changed,
    }
    return example(target, choices=CHOICES, prompt=f"Who? {number}", details=details)


def graded(examples, answers):
    """Scores of the answers; None is unscored."""
    return [
        Score(
            model="m",
            benchmark="b",
            example_id=each.example_id,
            outcome=outcome_of(value),
            value=value,
            reason="unparsed" if value is None else "",
            answer=answer or "",
        )
        for each, answer in zip(examples, answers, strict=True)
        for value in [None if answer is None else float(answer in each.targets)]
    ]


def test_bias_by_ambiguity():
    ambiguous = [asked("ambig", "unknown", i) for i in range(5)]
    plain = [asked("disambig", "the young man", i + 10) for i in range(4)]
    scores = graded(
        [*ambiguous, *plain],
        # Ambiguous: 1 of 4 right; of 3 people 2 by the stereotype. The fifth is unscored.
        [
            "unknown",
            "the old man",
            "the old man",
            "the young man",
            None,
            # Plain: 2 of 4 right; of 3 people 1 by the stereotype.
            "the young man",
            "the young man",
            "the old man",
            "unknown",
        ],
    )
    found = bias([*ambiguous, *plain], scores)
    assert found == {
        "accuracy_ambig": 0.25,
        "s_AMB": pytest.approx((1 - 0.25) * (2 * 2 / 3 - 1)),
        "accuracy_disambig": 0.5,
        "s_DIS": pytest.approx(2 * 1 / 3 - 1),
    }
    assert POLICY.summarise is bias


def test_what_nothing_speaks_for_is_left_out():
    assert bias([], []) == {}
    one = asked("ambig", "unknown", 1)
    assert bias([one], graded([one], ["unknown"])) == {"accuracy_ambig": 1.0}
    bare = example("unknown", choices=CHOICES)
    assert bias([bare], graded([bare], ["unknown"])) == {}


def test_where_the_stereotype_is_open_only_accuracy_is_counted():
    ambiguous = asked("ambig", "unknown", 1)
    details = {"context_condition": "ambig", "unknown_choice": "unknown"}
    open_ = example("unknown", choices=CHOICES, details=details)
    found = bias([ambiguous, open_], graded([ambiguous, open_], ["the old man", "the young man"]))
    assert found == {"accuracy_ambig": 0.0, "s_AMB": 1.0}


@pytest.mark.parametrize("given", ["A", 0, "the old man"])
def test_a_choice_is_named_by_letter_index_or_text(given) -> None:
    one = asked("disambig", "the old man", 1, stereotype_consistent_choice=given)
    assert bias([one], graded([one], ["the old man"]))["s_DIS"] == 1.0


def test_a_choice_that_is_none_is_refused():
    one = asked("disambig", "the old man", 1, stereotype_consistent_choice="D")
    with pytest.raises(ValueError, match=r"stereotype_consistent_choice of example \w+ is 'D'; expected"):
        bias([one], graded([one], ["the old man"]))


@pytest.mark.parametrize(
    ("given", "value", "reason"),
    [
        (chosen(-3.0, -2.0, -1.0), 1.0, ""),
        (chosen(-1.0, -2.0, -3.0), 0.0, ""),
        (completion("The answer is (C)."), 1.0, ""),
        (completion("the old man"), 0.0, ""),
        (completion("both A and B"), None, "unparsed"),
        (completion("The answer is C", stop="length"), None, "truncated"),
        (completion(stop="overflow"), None, "overflow"),
    ],
)
def test_score(given, value, reason) -> None:
    score = POLICY.score(asked("ambig", "unknown", 1), given)
    assert (score.value, score.reason) == (value, reason)
