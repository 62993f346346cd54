from dataclasses import replace

import numpy as np
import pytest

from cg_pipeline import evidence_checks as checks
from tests.evidence.cases import small_evidence

SOUND = small_evidence()
SCORES = {"a": 1.0, "b": 0.0, "c": float("nan"), "d": 1.0}


def test_sound_evidence_passes():
    for finding in (
        checks.examples_exist(SOUND, set("abcd")),
        checks.sides_agree(SOUND, SCORES),
        checks.tokens_make_the_saliency(SOUND, tolerance=1e-6),
    ):
        assert finding.passed, finding.sentence
        assert "4 looked at" in finding.sentence


def test_nothing_to_look_at_fails():
    none = SOUND.of([])
    for finding in (
        checks.examples_exist(none, set("abc")),
        checks.sides_agree(none, SCORES),
        checks.tokens_make_the_saliency(none, tolerance=1e-6),
    ):
        assert (finding.passed, finding.sentence) == (False, "nothing to look at")


def test_a_strange_example_is_named():
    finding = checks.examples_exist(SOUND, {"a", "c"})
    assert not finding.passed
    assert finding.sentence.startswith("1 examples that do not exist, for example b")


@pytest.mark.parametrize(
    ("scores", "n"),
    [
        ({"b": 1.0}, 2),  # it went right now
        ({"b": 0.25}, 2),  # same side, another score
        ({"c": 0.0}, 1),
        ({"a": float("nan")}, 1),
    ],
)
def test_a_score_that_changed_is_found(scores: dict[str, float], n: int):
    finding = checks.sides_agree(SOUND, {**SCORES, **scores})
    assert not finding.passed
    assert f"{n} rows not on the side of their example's score, 0 out of order" in finding.sentence


def test_an_example_without_a_score_is_found():
    finding = checks.sides_agree(SOUND, {"a": 1.0, "b": 0.0})
    assert "1 rows not on the side" in finding.sentence


@pytest.mark.parametrize(
    "changes",
    [{"ranks": np.array([1, 2, 1, 1])}, {"ranks": np.array([2, 1, 1, 1])}],
)
def test_a_broken_ranking_is_found(changes: dict[str, np.ndarray]):
    finding = checks.sides_agree(replace(SOUND, **changes), SCORES)
    assert not finding.passed
    assert "1 out of order" in finding.sentence


def test_a_stronger_example_after_a_weaker_one_is_found():
    two = {"sides": np.array([1, 1, 1, 2], np.int8), "examples": np.array([1, 1, 1, 2])}
    fine = replace(SOUND, ranks=np.array([1, 2, 1, 1]), **two)
    assert checks.sides_agree(fine, SCORES).passed
    risen = replace(fine, saliency=np.array([1.0, 1.5, 1.0, 0.5], np.float32))
    assert "1 out of order" in checks.sides_agree(risen, SCORES).sentence


def test_tokens_that_do_not_make_the_saliency_are_found():
    wrong = replace(SOUND, n_tokens=np.array([2, 5, 2]))
    finding = checks.tokens_make_the_saliency(wrong, tolerance=1e-3)
    assert not finding.passed
    assert finding.sentence.startswith(
        "2 of 4 rows whose tokens do not make their saliency within 0.001 of it"
    )
    assert "same hookpoint and token mask" in finding.sentence


def test_a_number_that_is_none_is_off():
    wrong = replace(SOUND, activations=np.array([3.0, 1.0, 6.0, np.nan, 1.0], np.float32))
    assert not checks.tokens_make_the_saliency(wrong, tolerance=1e-3).passed


def test_few_rows_may_be_off():
    many = replace(
        SOUND,
        example_ids=("a",),
        n_tokens=np.array([1]),
        scores=np.array([1.0]),
        concept_ids=np.arange(200),
        sides=np.zeros(200, np.int8),
        ranks=np.ones(200, np.int64),
        examples=np.zeros(200, np.int64),
        saliency=np.ones(200, np.float32),
        edges=np.arange(201),
        starts=np.zeros(200, np.int32),
        ends=np.ones(200, np.int32),
        activations=np.ones(200, np.float32),
    )
    many.activations[:2] = 2
    finding = checks.tokens_make_the_saliency(many, tolerance=1e-3)
    assert finding.passed
    assert finding.sentence.startswith("2 rows off by more than 0.001 of their saliency")
    many.activations[2] = 2
    assert not checks.tokens_make_the_saliency(many, tolerance=1e-3).passed
