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
        ("**Final Answer:** In 3 hours, she earns 54 dollars.", "54"),
        ("the answer should be 10, since 3 of 5 are left", "10"),
        ("The answer to this question is 10. It has 2 digits.", "10"),
        ("The answer equals 10.", "10"),
        ("Answer: First 3 + 4 = 7. Then 7 x 2 = 14.", None),  # a step is announced, not the end
        ("Answer: She earns 3 x 18 = 54. So it is 54.", "54"),
        ("Answer: Mrs. Ray sold 6 x 20 = 120 oranges.", "120"),
        ("She earns $54 in 3 hours.", "54"),
        ("In 3 hours she earns 54 dollars", "54"),
        ("7 birds are left on the 2 trees.", "7"),
        ("She pays $12/day / 6 hours/day = $2/hour", "2"),
        ("She pays $2 + $3 = $<<2+3=5>>5", "5"),
        ("Ann has 5 pens and Bob has 6.", "6"),  # the last number, where nothing tells better
        ("It is 5 or 6.", None),
        ("It is 5, or maybe 6.", None),
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
