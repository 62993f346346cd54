"""A sample in proportion to its strata that only ever grows, whatever the order of the units."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.stats.stratified import stratified_sample

STRATA = st.lists(st.sampled_from("abcde"), min_size=1, max_size=60)
SEEDS = st.integers(0, 2**32)


def names_of(strata: list[str]) -> list[str]:
    return [f"unit {index}" for index in range(len(strata))]


@given(STRATA, SEEDS, st.data())
def test_a_larger_sample_contains_a_smaller_one(strata, seed, data):
    """Fault F13: what is drawn depends on content and seed alone."""
    n = data.draw(st.integers(0, len(strata)))
    more = data.draw(st.integers(n, len(strata)))
    few, many = (stratified_sample(names_of(strata), strata, size, seed) for size in (n, more))
    assert len(few) == n
    assert set(few) <= set(many)
    assert few == sorted(few)


@given(STRATA, SEEDS, st.integers(0, 60), st.randoms(use_true_random=False))
def test_the_order_of_the_units_does_not_matter(strata, seed, n, random):
    names = names_of(strata)
    order = random.sample(range(len(names)), len(names))
    drawn = {names[index] for index in stratified_sample(names, strata, n, seed)}
    shuffled = stratified_sample([names[i] for i in order], [strata[i] for i in order], n, seed)
    assert {names[order[index]] for index in shuffled} == drawn


@given(STRATA, SEEDS, st.integers(0, 60))
def test_every_stratum_has_its_share(strata, seed, n):
    """Fault F12: the first n rows of an ordered file are all of one subject.

    Each count lies within one of N_c·t for one t, and the counts add up to n, so that t is
    within C/N of n/N.
    """
    drawn = Counter(strata[index] for index in stratified_sample(names_of(strata), strata, n, seed))
    size, sizes = len(strata), Counter(strata)
    for stratum, members in sizes.items():
        slack = 1 + members * len(sizes) / size
        assert abs(drawn[stratum] - members * min(n, size) / size) <= slack


def test_equal_strata_are_drawn_equally():
    strata = [f"subject {index % 57}" for index in range(57 * 25)]
    counts = Counter(strata[index] for index in stratified_sample(names_of(strata), strata, 570, 0))
    assert set(counts.values()) <= {9, 10, 11}
    assert len(counts) == 57


def test_many_small_strata_are_not_starved_by_a_large_one():
    strata = ["large"] * 500 + [f"small {index}" for index in range(500)]
    n_large = sum(index < 500 for index in stratified_sample(names_of(strata), strata, 200, 1))
    assert 80 <= n_large <= 120


def test_other_seeds_draw_others():
    strata = ["one"] * 100
    samples = {tuple(stratified_sample(names_of(strata), strata, 10, seed)) for seed in range(5)}
    assert len(samples) == 5


@pytest.mark.parametrize("n", [3, 99])
def test_all_are_drawn_where_there_are_no_more(n):
    assert stratified_sample(["a", "b", "c"], ["s", "t", "s"], n, 0) == [0, 1, 2]
