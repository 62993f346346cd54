import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cg_pipeline.stats.intervals import wilson_interval


@pytest.mark.parametrize(("right", "n"), [(0, 1), (1, 1), (3, 10), (50, 50), (481, 962), (1, 100_000)])
def test_it_equals_scipys_for_right_and_wrong(right: int, n: int):
    slow = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(right / n, n) == pytest.approx((slow.low, slow.high), abs=1e-12)


def test_it_says_nothing_without_scores():
    assert wilson_interval(math.nan, 0) == (0.0, 1.0)


@given(mean=st.floats(0, 1), n=st.integers(1, 10**6))
def test_it_holds_the_mean_and_stays_in_range(mean: float, n: int):
    low, high = wilson_interval(mean, n)
    assert 0 <= low <= mean <= high <= 1


def test_more_scores_make_it_narrower():
    widths = [high - low for low, high in (wilson_interval(0.4, n) for n in (1, 10, 100, 1000))]
    assert widths == sorted(widths, reverse=True)
