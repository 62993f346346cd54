"""Pairs of sentences: ties are even, and pairs that share no end are told apart."""

import math
from dataclasses import replace
from typing import Any

import pytest

from cg_pipeline.records import Example
from cg_pipeline.scoring.paired_sentences import POLICY, by_kind
from tests.scoring.cases import chosen

SHARED, APART = ("lie.", "lie."), ("an owl.", "hens.")


def pair(kind: str = "age", direction: str = "stereo", continuations: tuple[str, ...] = SHARED) -> Example:
    return Example(
        benchmark="b",
        category=kind,
        cluster="",
        prompt=f"{kind} {direction} {continuations}",
        choices=("more", "less"),
        targets=("less",),
        continuations=continuations,
        details=f'{{"direction": "{direction}"}}',
    )


@pytest.mark.parametrize(
    ("logprobs", "outcome", "value", "answer"),
    [
        ((-1.0, -2.0), "wrong", 0.0, "more"),
        ((-2.0, -1.0), "right", 1.0, "less"),
        ((-1.0, -1.0), "partial", 0.5, ""),
    ],
)
def test_the_likelier_sentence_and_an_even_tie(logprobs, outcome, value, answer):
    score = POLICY.score(pair(), chosen(*logprobs))
    assert (score.outcome, score.value, score.answer) == (outcome, value, answer)


def test_sentences_that_share_no_end_are_unscored_and_keep_their_preference():
    score = POLICY.score(pair(continuations=APART), chosen(-1.0, -2.0))
    assert (score.value, score.reason, score.answer) == (None, "nothing_shared", "more")
    assert POLICY.score(pair(continuations=()), chosen(-1.0, -2.0)).reason == "nothing_shared"


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        (chosen(), "no_likelihoods"),
        (chosen(-1.0), "no_likelihoods"),
        (chosen(-1.0, math.nan), "not_a_number"),
        (chosen(-1.0, math.inf), "not_a_number"),
        (chosen(-math.inf, -math.inf), "not_a_number"),
        (chosen(-1.0, 2.0), "not_a_number"),
        (replace(chosen(), stop="refused"), "refused"),
    ],
)
def test_what_cannot_be_compared_is_unscored(completion: Any, reason: str):
    assert POLICY.score(pair(), completion).reason == reason


def test_means_by_bias_and_direction_and_the_others_apart():
    asked = [
        (pair("age"), (-2.0, -1.0)),
        (pair("age", "antistereo"), (-1.0, -2.0)),
        (pair("race"), (-1.0, -1.0)),
        (pair("race", "stereo", APART), (-2.0, -1.0)),
        (pair("age", "stereo", APART), (-1.0, -1.0)),
    ]
    scores = [
        replace(POLICY.score(each, chosen(*logprobs)), example_id=each.example_id) for each, logprobs in asked
    ]
    assert by_kind([each for each, _ in asked], scores) == {
        "mean_age": 0.5,
        "mean_race": 0.5,
        "mean_stereo": 0.75,
        "mean_antistereo": 0.0,
        "mean_nothing_shared": 0.75,
    }
