"""The unbiased estimator against its definition: the share of all subsets of k that hold a right answer."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.stats.pass_at_k import mean_pass_at_k, pass_at_k


@pytest.mark.parametrize(
    ("n", "n_right", "k", "value"),
    [
        (1, 1, 1, 1.0),
        (1, 0, 1, 0.0),
        (4, 1, 1, 0.25),
        (4, 1, 2, 0.5),  # 3 of the 6 pairs hold it
        (4, 2, 3, 1.0),  # only two are wrong
        (200, 10, 100, 1 - math.comb(190, 100) / math.comb(200, 100)),
    ],
)
def test_by_hand(n, n_right, k, value) -> None:
    assert pass_at_k(n, n_right, k) == pytest.approx(value)


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_against_all_subsets(numbers: tuple[int, int, int]) -> None:
    n, n_right, k = numbers
    subsets = list(itertools.combinations([True] * n_right + [False] * (n - n_right), k))
    assert pass_at_k(n, n_right, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


@given(st.integers(1, 50).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_more_tries_never_hurt(numbers: tuple[int, int]) -> None:
    values = [pass_at_k(*numbers, k) for k in range(1, numbers[0] + 1)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(numbers[1] / numbers[0])


def test_the_mean_is_over_examples_with_enough_answers():
    assert mean_pass_at_k([(2, 1), (2, 0), (1, 1)], 2) == 0.5
    assert mean_pass_at_k([(2, 1), (2, 0), (1, 1)], 1) == pytest.approx(0.5)
    assert math.isnan(mean_pass_at_k([(1, 1)], 2))


@pytest.mark.parametrize(("n", "n_right", "k"), [(2, 3, 1), (2, -1, 1), (2, 1, 0), (2, 1, 3)])
def test_impossible_numbers_are_refused(n, n_right, k) -> None:
    with pytest.raises(ValueError, match=f"{n_right} right of {n} answers, k = {k}; expected"):
        pass_at_k(n, n_right, k)
