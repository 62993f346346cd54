"""Which examples speak for each concept, against plain loops."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cg_pipeline.evidence.strongest import Strongest, find_strongest, sides_of
from cg_pipeline.evidence_records import SIDES
from tests.gaps.small_study import activations_of

NAN = float("nan")


@dataclass(frozen=True)
class Cell:
    saliency: np.ndarray
    scores: np.ndarray
    ids: tuple[str, ...]

    def strongest(self, k: int, pairs_at_once: int = 2**20) -> set[tuple[int, str, int, str, float]]:
        found = find_strongest(activations_of(self.saliency, self.ids), self.scores, k, pairs_at_once)
        return named(found, self.ids)


def named(found: Strongest, ids: tuple[str, ...]) -> set[tuple[int, str, int, str, float]]:
    rows = zip(found.concept_ids, found.sides, found.ranks, found.examples, found.saliency, strict=True)
    return {(int(c), SIDES[s], int(r), ids[e], float(a)) for c, s, r, e, a in rows}


def obvious(cell: Cell, k: int) -> set[tuple[int, str, int, str, float]]:
    found = set()
    for concept in range(cell.saliency.shape[1]):
        for side in SIDES:
            of_side = [
                (-float(cell.saliency[row, concept]), name)
                for row, name in enumerate(cell.ids)
                if cell.saliency[row, concept] > 0 and side == side_of(cell.scores[row])
            ]
            for rank, (negative, name) in enumerate(sorted(of_side)[:k], start=1):
                found.add((concept, side, rank, name, -negative))
    return found


def side_of(score: float) -> str:
    return "unscored" if np.isnan(score) else "right" if score >= 0.5 else "wrong"


@st.composite
def cells(draw) -> Cell:
    n, n_concepts = draw(st.integers(0, 8)), draw(st.integers(1, 5))
    steps = arrays.arrays(np.float32, (n, n_concepts), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    scores = arrays.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN]))
    ids = draw(st.permutations([f"x{number}" for number in range(n)]))
    return Cell(draw(steps), draw(scores), tuple(ids))


@given(cells(), st.integers(1, 4), st.integers(1, 12))
def test_they_are_those_of_the_obvious_loop_however_many_pairs_at_once(cell: Cell, k: int, at_once: int):
    assert cell.strongest(k, at_once) == obvious(cell, k)


@given(cells(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_order_of_the_examples_is_irrelevant(cell: Cell, k: int, random):
    order = list(range(len(cell.ids)))
    random.shuffle(order)
    shuffled = Cell(cell.saliency[order], cell.scores[order], tuple(cell.ids[i] for i in order))
    assert shuffled.strongest(k) == cell.strongest(k)


@given(cells(), st.integers(1, 3), st.integers(0, 3))
def test_the_first_of_more_are_those_of_fewer(cell: Cell, k: int, more: int):
    found = find_strongest(activations_of(cell.saliency, cell.ids), cell.scores, k + more)
    assert named(found.first(k), cell.ids) == cell.strongest(k)


def test_rows_are_ordered_by_concept_side_and_rank():
    saliency = np.array([[1, 2], [3, 0], [2, 5], [4, 1]], np.float32)
    found = find_strongest(activations_of(saliency, tuple("abcd")), np.array([1, 0, 1, NAN]), 1)
    # concept 0: right c (2 > 1), wrong b, unscored d; concept 1: right c, unscored d.
    assert found.concept_ids.tolist() == [0, 0, 0, 1, 1]
    assert found.sides.tolist() == [0, 1, 2, 0, 2]
    assert found.examples.tolist() == [2, 1, 3, 2, 3]
    assert found.ranks.tolist() == [1] * 5


def test_a_half_is_right_and_no_score_is_apart():
    sides = sides_of(np.array([1.0, 0.5, 0.49, 0.0, NAN]))
    assert [SIDES[side] for side in sides] == ["right", "right", "wrong", "wrong", "unscored"]


def test_keeping_none_is_refused():
    with pytest.raises(ValueError, match="k is 0; expected 1 or more examples of each concept and side"):
        find_strongest(activations_of(np.ones((1, 1)), ("a",)), np.ones(1), 0)
