"""Targets that some answer can equal, and those that none can."""

import pytest

from cg_pipeline.answers.targets import (
    decline_expected,
    number_expected,
    unnamed_choice,
    value_faults,
    yes_no_expected,
)
from cg_pipeline.scoring import POLICIES
from tests.scoring.cases import example


@pytest.mark.parametrize(
    ("expected", "sound", "faulty"),
    [
        (number_expected, ["12", "-3.5", "1,250", "7/2"], ["twelve", "12 eggs", "", "1/0"]),
        (yes_no_expected, ["yes", "No.", "TRUE"], ["maybe", "12", "yes and no"]),
        (decline_expected, ["decline", "answer"], ["refuse", "comply", "Decline"]),
    ],
)
def test_targets(expected, sound: list[str], faulty: list[str]) -> None:
    assert not any(map(expected, sound))
    assert all(map(expected, faulty))


@pytest.mark.parametrize("given", ["u", "B", 2])
def test_a_choice_is_named_by_text_letter_or_index(given) -> None:
    assert unnamed_choice(example("t", choices=("t", "u", "v"), details={"unknown_choice": given})) == ""


@pytest.mark.parametrize("given", ["w", "D", 3, -1, "AB", ""])
def test_a_choice_that_is_none_is_told(given) -> None:
    one = example("t", choices=("t", "u", "v"), details={"stereotype_consistent_choice": given})
    assert unnamed_choice(one).startswith(f"stereotype_consistent_choice is {given!r}; expected one of ('t',")


def test_every_faulty_target_is_told_by_the_name_it_is_given():
    one = example("4", "four")
    assert list(value_faults(one, POLICIES["numeric"], "field 'a'")) == [
        "field 'a' is 'four'; expected a number such as '12' or '3.5', for scoring 'numeric'. Correct it."
    ]
    assert list(value_faults(one, POLICIES["exact_match"])) == []
