import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cg_pipeline.stats.weighted import (
    column_sums,
    correlation_p_values,
    correlations,
    dimensions,
    effective_sizes,
    firing_counts,
    ratio,
    weighted_means,
)


def columns(*values: list[float]) -> sparse.csr_array:
    return sparse.csr_array(np.array(values, dtype=np.float64).T)


def test_dimensions_are_rows_and_columns():
    assert dimensions(sparse.csr_array((2, 5))) == (2, 5)


def test_sums_and_counts_by_hand():
    weights = columns([1, 0, 3], [0, 0, 0])
    assert column_sums(weights).tolist() == [4, 0]
    assert column_sums(weights, np.array([10.0, 1.0, 2.0])).tolist() == [16, 0]
    assert firing_counts(weights).tolist() == [2, 0]


def test_a_stored_zero_does_not_fire():
    weights = sparse.csr_array((np.array([0.0, 2.0]), np.array([0, 0]), np.array([0, 1, 2])), shape=(2, 1))
    assert firing_counts(weights).tolist() == [1]
    assert correlations(weights, np.array([0.0, 1.0])).tolist() == [pytest.approx(1.0)]


def test_weighted_means_never_leave_the_range_of_the_values():
    weights = columns([0.1, 0.2, 0.3, 0.7])
    assert weighted_means(weights, np.full(4, 0.7)).tolist() == [0.7]


def test_weighted_means_of_nothing_are_undefined():
    assert np.isnan(weighted_means(sparse.csr_array((0, 2)), np.zeros(0))).all()
    assert np.isnan(weighted_means(columns([0, 0]), np.ones(2))).all()


def test_effective_sizes_by_hand():
    # equal weights count as many as they are; (1+3)²/(1+9) = 1.6; nothing is 0
    assert effective_sizes(columns([2, 2, 2], [1, 3, 0], [0, 0, 0])).tolist() == [3, 1.6, 0]


@pytest.mark.parametrize("factor", [1e-30, 1.0, 1e30])
def test_correlation_does_not_depend_on_the_unit_of_the_weights(factor: float):
    weights = columns([1, 2, 3, 4]) * factor
    assert correlations(weights, np.array([0.0, 0.0, 1.0, 1.0]))[0] == pytest.approx(0.894427191)


def test_correlation_keeps_its_digits_on_a_large_mean():
    values = np.array([0.0, 1.0, 0.0, 1.0])
    assert correlations(columns([1e6, 1e6 + 0.125, 1e6, 1e6 + 0.125]), values)[0] == pytest.approx(
        1.0, abs=1e-9
    )


@pytest.mark.parametrize(
    ("weights", "values"),
    [
        ([0.1, 0.1, 0.1], [0.0, 1.0, 1.0]),
        ([0.0, 0.0, 0.0], [0.0, 1.0, 1.0]),
        ([1.0, 2.0, 3.0], [0.3, 0.3, 0.3]),
        ([1.0], [1.0]),
    ],
)
def test_correlation_is_undefined_where_nothing_varies(weights: list[float], values: list[float]):
    assert np.isnan(correlations(columns(weights), np.array(values))).all()


def test_correlation_of_an_empty_dictionary_is_empty():
    assert correlations(sparse.csr_array((3, 0)), np.array([0.0, 1.0, 0.5])).shape == (0,)


@given(seed=st.integers(0, 10_000), n=st.integers(3, 30))
def test_correlation_equals_that_of_numpy(seed: int, n: int):
    generator = np.random.default_rng(seed)
    dense = generator.exponential(size=(n, 3)) * (generator.random((n, 3)) < 0.6)
    values = generator.random(n)
    slow = [np.corrcoef(column, values)[0, 1] if np.ptp(column) > 0 else np.nan for column in dense.T]
    np.testing.assert_allclose(correlations(sparse.csr_array(dense), values), slow, rtol=1e-9, atol=1e-12)


def test_p_of_a_perfect_correlation_is_0_and_of_too_few_examples_undefined():
    assert correlation_p_values(np.array([1.0, -1.0, np.nan]), 5).tolist()[:2] == [0, 0]
    assert np.isnan(correlation_p_values(np.array([np.nan]), 5)).all()
    assert np.isnan(correlation_p_values(np.array([0.5]), 2)).all()


def test_p_by_hand():
    # n = 3: Student's t with 1 degree of freedom is Cauchy; r = √½ gives t = 1 and p = 1 - (2/π)·atan(1) = ½
    assert correlation_p_values(np.array([np.sqrt(0.5)]), 3)[0] == pytest.approx(0.5)


def test_ratio_is_undefined_over_0():
    np.testing.assert_array_equal(ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])), [0.5, np.nan])
