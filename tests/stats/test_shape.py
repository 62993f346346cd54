import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cg_pipeline.stats.shape import count_of_share, skewness, top_share


def test_skewness_equals_scipys():
    values = np.random.default_rng(0).lognormal(size=500)
    assert skewness(values) == pytest.approx(stats.skew(values))


def test_skewness_by_hand():
    # values 0, 0, 3: mean 1, deviations -1, -1, 2; m₂ = 6/3 = 2, m₃ = (-1-1+8)/3 = 2; 2/2^1.5 = 1/√2
    assert skewness(np.array([0.0, 0.0, 3.0])) == pytest.approx(1 / math.sqrt(2))


@pytest.mark.parametrize("values", [[], [2.0], [0.3, 0.3, 0.3]])
def test_skewness_is_undefined_where_nothing_varies(values: list[float]):
    assert math.isnan(skewness(np.array(values)))


@pytest.mark.parametrize("factor", [1e-300, 1e200])
def test_skewness_does_not_depend_on_the_unit(factor: float):
    assert skewness(np.array([0.0, 0.0, 3.0]) * factor) == pytest.approx(1 / math.sqrt(2))


def test_top_share_by_hand():
    # the largest of 4 values holds 6 of 10
    assert top_share(np.array([1.0, 6.0, 1.0, 2.0]), 0.01) == 0.6
    assert math.isnan(top_share(np.zeros(3), 0.01))
    assert math.isnan(top_share(np.zeros(0), 0.01))


@pytest.mark.parametrize(
    ("share", "n", "count"),
    [(0.1, 30, 3), (0.1, 31, 4), (0.01, 5, 1), (0.0, 5, 0), (0.1, 0, 0), (1.0, 7, 7), (0.3, 10, 3)],
)
def test_a_share_is_rounded_up_but_not_by_rounding_errors(share: float, n: int, count: int):
    assert count_of_share(share, n) == count


@given(share=st.floats(1e-6, 1), n=st.integers(1, 10_000))
def test_a_positive_share_of_something_is_at_least_one(share: float, n: int):
    assert 1 <= count_of_share(share, n) <= n
