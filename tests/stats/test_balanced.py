"""Balanced accuracy against hand-worked numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.stats.balanced import balanced_accuracy


def test_by_hand():
    """Of three true ones two are called true, of two false ones one: (2/3 + 1/2) / 2."""
    found = balanced_accuracy([True, True, True, False, False], [True, True, False, False, True])
    assert found == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize("truths", [[], [True, True], [False]])
def test_one_kind_alone_has_none(truths):
    assert balanced_accuracy(truths, truths) is None


@given(st.lists(st.booleans(), min_size=2), st.booleans())
def test_who_does_not_look_scores_one_half(truths, says):
    found = balanced_accuracy(truths, [says] * len(truths))
    assert found == (0.5 if len(set(truths)) == 2 else None)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_repeating_every_answer_changes_nothing(pairs):
    truths, verdicts = [truth for truth, _ in pairs], [verdict for _, verdict in pairs]
    assert balanced_accuracy(truths * 3, verdicts * 3) == pytest.approx(balanced_accuracy(truths, verdicts))
