"""Which of a sentence's numbers it gives, if any."""

import time
from fractions import Fraction

import pytest

from cg_pipeline.answers.numbers import plain
from cg_pipeline.answers.said_number import said_number

ANNOUNCED = {
    # The one there is, or the opening one.
    "12": "12",
    "12 apples": "12",
    "about 12 apples": "12",
    "54 dollars in 3 hours": "54",
    "10, since 3 of 5 are left": "10",
    "54 (18 x 3 = 54)": "54",
    "9 metres, i.e. 900 cm": "9",
    "5 more than the 12 he has": "5",
    "x = 5, for 2x = 10": "5",
    "a total of 54 dollars for 3 hours": "54",
    "54 = 3 x 18": "54",
    "72 cookies, which is 24 more than before": "72",
    # Equations and expressions.
    "3 + 4 = 7": "7",
    "5 + 3 equals 8": "8",
    "5 plus 3 is 8": "8",
    "100 - 40 - 10, or 50": "50",
    "50% of 20 is 10": "10",
    "2/3 of 9, i.e. 6": "6",
    "3 hours x 18 dollars = 54 dollars": "54",
    "20 - 5 = 15, and then gives 3 away, leaving 12": "12",
    "16 bars are shared among 8, so each child gets 16/8 = 2 bars": "2",
    "5 + 3": None,
    "3-4": None,
    # What is concluded.
    "The 3 friends share 24 cookies, so each gets 8": "8",
    "3 friends share 24 cookies, so each gets 8": "8",
    "Ann is 5 years older than 10-year-old Tim": "5",
    "James runs 3 sprints 3 times a week, for a total of 540 metres": "540",
    # Circumstances.
    "In 3 hours, she earns 54 dollars": "54",
    "that in 30 days he saves $240": "240",
    "After selling 3 of her 10 eggs, she has 7 left": "7",
    "Each of the 4 kids gets 6 of the 24 cookies": "6",
    "It takes 2 hours to travel 120 miles": "2",
    "In total, you have 5 objects: 2 pens and 3 pads": "5",
    "Step 1: 5 + 3 = 8": "8",
    # Several.
    "10 or 12": None,
    "10, 11 or 12": None,
    "10, or maybe 12": None,
    "either 10 or 12": None,
    "between 10 and 12": None,
    "2 hours and 30 minutes": None,
    "2 hours is 120 minutes": "120",
    "4 kids get 6 cookies each": None,
    "The 5 pens cost $10 and the 3 pads cost $15": None,
    "1, 2, 3, 4, 5, 6, 7, 8, 9, 10": None,
    "no number": None,
    "": None,
}


@pytest.mark.parametrize(("sentence", "value"), ANNOUNCED.items())
def test_what_an_announced_sentence_gives(sentence: str, value: str | None) -> None:
    found = said_number(plain(sentence), announced=True)
    assert (found and found.value) == (None if value is None else Fraction(value))


def test_the_opening_number_of_another_sentence_is_no_answer():
    sentence = plain("8 points, 25 (.20) = 5 dollars")
    found = said_number(sentence)
    assert found is not None
    assert found.value == 5
    assert said_number(sentence, announced=True) is None


@pytest.mark.parametrize("unit", ["1 + ", "1, ", "so 1 ", "in 2 and ", "= 3 ", "(4 ", "because 5 "])
def test_a_long_sentence_gives_none_at_once(unit: str) -> None:
    started = time.process_time()
    assert said_number("7 " + unit * 20_000) is None
    said_number(("7 " + unit * 200)[:1000], announced=True)
    assert time.process_time() - started < 1
