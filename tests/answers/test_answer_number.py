"""Which number of a text is its answer, and whether a cut text had given it."""

from fractions import Fraction

import pytest

from cg_pipeline.answers.answer_number import is_settled, readings


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 + 4 = 7 apples, from 2 bags", "7"),
        ("The answer is 3 + 4 = 7", "7"),
        ("The answer is 12. Check: 3 x 4 = 13", "12"),
        ("#### 18", "18"),
        ("7 - 2 = 5\n#### 5\n\nQuestion: And 3 + 3?\nAnswer: 6", "5"),
        ("Question: What is 2 + 3?\nAnswer: 5", "5"),  # an echo of the prompt is no later question
        ("So \\boxed{\\frac{7}{2}}, not 4.", "7/2"),
        ("\\boxed{\\boxed{5}}", "5"),
        ("<think>It may be 4, the answer is 4</think>It is 6.", "6"),
        ("<think>It may be 4", None),
        ("The answer is:\n\n**1,200**", "1200"),
        ("The answer is \u202e-12\u202c.", "-12"),
        ("Is the answer 5? No, the answer is 6.", "6"),
        ("Answer: x = 5", "5"),
        ("The answer is unknown. There are 7 days.", None),
        ("I do not know.", None),
    ],
)
def test_number_read(text: str, value: str | None) -> None:
    assert readings(text)[:1] == (() if value is None else (Fraction(value),))


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("The answer is 3.5", False),
        ("The answer is 3.", False),  # may become 3.5
        ("The answer is 3,", False),  # may become 3,000
        ("The answer is 3.5. It", True),
        ("#### 18\n\nQ", True),
        ("3 + 4 = 7", False),
        ("3 + 4 = 7 apples", True),
        ("There are 7 apples and", False),
        ("so \\boxed{7}", True),
        ("so \\boxed{7", False),
    ],
)
def test_is_settled(text: str, settled: bool) -> None:
    assert is_settled(text) == settled


def test_readings_of_a_percentage():
    assert readings("It fell by 5%.") == (Fraction(5), Fraction(1, 20))
