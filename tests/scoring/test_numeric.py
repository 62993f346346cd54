"""Cases of reading a number, hostile ones included."""

from fractions import Fraction

import pytest

from cg_pipeline.answers.answer_number import is_settled, readings
from cg_pipeline.records import Completion, Example
from cg_pipeline.scoring.numeric import POLICY


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", "12"),
        ("The answer is 12.", "12"),
        ("3 + 4 = 7", "7"),
        ("She has 5 and gets 7, so 5 + 7 = 12 apples in 2 bags", "12"),
        ("First 6 x 2 = 12. Then 12 - 5 = 7.", "7"),
        ("The total is $1,250.50.", "1250.5"),
        ("It costs 1,250 euros", "1250"),
        ("about 3 1/2 hours", "3.5"),
        ("7/2", "3.5"),
        (".5 litres", "0.5"),
        ("−4 degrees", "-4"),
        ("from 10-4", "4"),
        ("**Answer:** 9 metres", "9"),
        ("Answer: 9\n\nLet me know if you need 2 more.", "9"),
        ("step 1: 2 x 3 = 6\nanswer is: 18 eggs", "18"),
        ("x1 costs 40", "40"),
        ("version 1.2.3", None),
        ("no number here", None),
        ("", None),
        ("1/0", None),
        ("١٢", None),
        ("9" * 41, None),
        ("1" * 10_000, None),
        ("It is 1234567.", "1234567"),
    ],
)
def test_number_read(text: str, value: str | None) -> None:
    assert readings(text)[:1] == (() if value is None else (Fraction(value),))


def completion(text: str, stop: str = "end") -> Completion:
    return Completion(
        model="m",
        benchmark="b",
        example_id="x",
        text=text,
        stop=stop,
        n_prompt_tokens=3,
        n_completion_tokens=2,
    )


EXAMPLE = Example(benchmark="b", category="c", cluster="", prompt="How many?", targets=("3.5",))


@pytest.mark.parametrize(
    ("text", "stop", "outcome", "reason"),
    [
        ("It is 7/2.", "end", "right", ""),
        ("It is 3.", "end", "wrong", ""),
        ("I do not know.", "end", "unscored", "unparsed"),
        ("First, 3.5", "length", "unscored", "truncated"),
        ("The answer is 3.5", "length", "unscored", "truncated"),
        ("The answer is 3.5 apples and", "length", "right", ""),
        ("The answer is $4, because", "length", "wrong", ""),
        ("The answer is to add 3.5", "length", "unscored", "truncated"),
        ("", "overflow", "unscored", "overflow"),
    ],
)
def test_score_keeps_unscored_apart(text: str, stop: str, outcome: str, reason: str) -> None:
    """Faults F10 and F11: what cannot be read is not wrong."""
    score = POLICY.score(EXAMPLE, completion(text, stop))
    assert (score.outcome, score.reason) == (outcome, reason)
    assert (score.value is None) == (outcome == "unscored")


def test_the_answer_is_shown_in_full() -> None:
    assert POLICY.score(EXAMPLE, completion("It is 1,234,567.5")).answer == "1234567.5"


@pytest.mark.parametrize(("text", "settled"), [
    ("The answer is 3.", False), ("The answer is 12,", False), ("The answer is 3 ", False),
    ("The answer is 3", False),
    ("The answer is 3. So", True), ("The answer is 3 apples", True), ("= 3/", False), ("= 3\nThat", True),
])  # fmt: skip
def test_a_number_that_may_go_on_is_not_settled(text: str, settled: bool) -> None:
    assert is_settled(text) is settled
