"""Which concepts are labelled: those named, or the most firing ones, never more than the limit."""

import numpy as np
import pytest

from cg_pipeline.labels.choosing import choose_concepts, kindred_of
from tests.labels.cases import concept

DICTIONARY = [
    concept(0, rate=0.01),
    concept(1, "dead"),
    concept(2, rate=0.05),
    concept(3, "dense", rate=0.5),
    concept(4, rate=0.03),
]


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ({"top": 2}, (2, 4)),
        ({"top": 0}, (0, 2, 4)),
        ({"top": 99}, (0, 2, 4)),
        ({"named": [4, 0, 4]}, (0, 4)),
        ({"named": [3]}, (3,)),
    ],
)
def test_the_choice(choice, chosen):
    assert choose_concepts(DICTIONARY, **choice, limit=9) == chosen


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"top": 0, "limit": 2}, r"3 concepts are chosen to be labelled; expected at most 2"),
        ({"named": [7], "limit": 9}, r"Concept 7 does not exist; expected 0 to 4"),
        ({"named": [1], "limit": 9}, r"Concept 1 never fires .* expected a concept that fires"),
    ],
)
def test_what_cannot_be_chosen(choice, sentence):
    with pytest.raises(ValueError, match=sentence):
        choose_concepts(DICTIONARY, **choice)


def test_a_dictionary_without_life():
    with pytest.raises(ValueError, match="No concept is alive"):
        choose_concepts([concept(0, "dead")], limit=9)


def test_the_kindred_are_the_nearest_by_direction_and_never_oneself():
    angles = np.radians([0, 10, 95, 180, -5])
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert kindred_of(directions, [0, 3], n=2) == {0: (4, 1), 3: (2, 1)}
    assert kindred_of(directions[:2], [0], n=4) == {0: (1,)}
