"""F1 over bags of words, by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.scoring.token_f1 import POLICY, overlap
from tests.scoring.cases import completion, example


@pytest.mark.parametrize(
    ("text", "targets", "value"),
    [
        ("the red car", ("red car",), 1.0),
        ("red car", ("red bus", "blue"), 0.5),  # P = 1/2, R = 1/2
        ("a big red car", ("red car",), 0.8),  # P = 2/3, R = 1
        ("red red", ("red car",), 0.5),  # a word counts as often as it is there
        ("green", ("red car",), 0.0),
        ("3 goals", ("4 goals",), 0.0),  # numbers must be met
        ("3.0 goals", ("3 goals",), 1.0),
        ("goals", ("3 goals",), 0.0),
        ("in 1,990", ("1990",), 1.0),  # a preposition before it is no part of it
        ("year 1,990", ("1990",), 2 / 3),
        ("The longest pass was 45 yards.", ("45-yard",), 0.5),  # 45 yards, of 45 yard
        ("It was thrown by Ann Lee.", ("Ann Lee",), 1.0),
        ("The answer is Ann Lee, who threw it.", ("Ann Lee",), 1.0),
        ("The difference is 4 yards.", ("3",), 0.0),
    ],
)
def test_value(text, targets, value) -> None:
    assert POLICY.score(example(*targets), completion(text)).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "stop", "reason"),
    [
        ("", "end", "unparsed"),
        ("red", "length", "truncated"),
        ("red\n\n", "length", ""),
        ("", "overflow", "overflow"),
        ("They say that it was of a colour between green and blue.", "end", "unparsed"),
        ("To find it, we look at all.", "end", "unparsed"),
        ("A total of red cars were sold.", "end", "unparsed"),  # what was asked is not in the complement
    ],
)
def test_unscored(text, stop, reason) -> None:
    assert POLICY.score(example("red"), completion(text, stop)).reason == reason


bags = st.lists(st.sampled_from(["a", "b", "c", "1"]), min_size=1, max_size=6).map(Counter)


@given(bags, bags)
def test_overlap_is_a_share_and_1_for_equal_bags_alone(one: Counter[str], other: Counter[str]) -> None:
    assert 0 <= overlap(one, other) <= 1
    assert (overlap(one, other) == 1) == (one == other)
