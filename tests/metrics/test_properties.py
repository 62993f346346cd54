"""What must hold of the metrics whatever the data."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cg_pipeline.metrics import METRICS
from tests.metrics.evidence import evidence_of
from tests.oracle import OracleBenchmark
from tests.strategies import benchmarks

POINT_ESTIMATES = ["coverage", "performance", "lift", "firing_rate", "outcome_correlation"]
SCALE_FREE = [*POINT_ESTIMATES, "n_eff", "n_examples", "n_scored", "outcome_correlation_p"]


def compute(name: str, benchmark: OracleBenchmark, normaliser: str = "grand_mean") -> np.ndarray:
    return METRICS[name].compute(evidence_of(benchmark, normaliser))


@given(benchmark=benchmarks(), seed=st.integers(0, 1000))
def test_the_order_of_examples_is_irrelevant(benchmark: OracleBenchmark, seed: int):
    order = np.random.default_rng(seed).permutation(len(benchmark.saliency))
    shuffled = dataclasses.replace(
        benchmark,
        saliency=[benchmark.saliency[i] for i in order],
        scores=[benchmark.scores[i] for i in order],
    )
    for name in METRICS:
        np.testing.assert_allclose(compute(name, shuffled), compute(name, benchmark), rtol=1e-6, atol=1e-6)


@given(benchmark=benchmarks(), factor=st.sampled_from([2.0**-60, 2.0**40]))
def test_the_unit_of_the_activations_is_irrelevant(benchmark: OracleBenchmark, factor: float):
    scaled = dataclasses.replace(
        benchmark, saliency=[[a * factor for a in row] for row in benchmark.saliency]
    )
    for name in SCALE_FREE:
        np.testing.assert_allclose(compute(name, scaled), compute(name, benchmark), rtol=1e-9, atol=1e-9)


@given(benchmark=benchmarks())
def test_performance_lies_within_the_range_of_the_scores(benchmark: OracleBenchmark):
    given_scores = [s for s in benchmark.scores if s is not None]
    found = compute("performance", benchmark)
    defined = found[~np.isnan(found)]
    assert all(min(given_scores) <= value <= max(given_scores) for value in defined)


@given(benchmark=benchmarks(), times=st.integers(2, 4))
def test_repeating_every_example_changes_no_point_estimate(benchmark: OracleBenchmark, times: int):
    repeated = dataclasses.replace(
        benchmark, saliency=benchmark.saliency * times, scores=benchmark.scores * times
    )
    for name in POINT_ESTIMATES:
        np.testing.assert_allclose(compute(name, repeated), compute(name, benchmark), rtol=1e-6, atol=1e-6)


@given(benchmark=benchmarks())
def test_a_concept_that_never_fires_is_undefined_and_never_0(benchmark: OracleBenchmark):
    silent = dataclasses.replace(
        benchmark, saliency=[[*row, 0.0] for row in benchmark.saliency], n_concepts=benchmark.n_concepts + 1
    )
    for name in ("performance", "lift", "outcome_correlation", "outcome_correlation_p"):
        assert np.isnan(compute(name, silent)[-1])
    for name in ("coverage", "mass", "n_eff", "n_examples", "n_scored"):
        assert compute(name, silent)[-1] == 0


@given(benchmark=benchmarks())
def test_the_normaliser_changes_neither_ranking_nor_missing_set(benchmark: OracleBenchmark):
    plain = compute("coverage", benchmark, "none")
    for normaliser in ("grand_mean", "active_mean"):
        scaled = compute("coverage", benchmark, normaliser)
        np.testing.assert_array_equal(scaled == 0, plain == 0)
        order = np.argsort(plain, kind="stable")
        assert all(np.diff(scaled[order]) >= 0)


@given(benchmark=benchmarks())
def test_all_unscored_leaves_coverage_and_nothing_else(benchmark: OracleBenchmark):
    unscored = dataclasses.replace(benchmark, scores=[None] * len(benchmark.scores))
    np.testing.assert_array_equal(compute("coverage", unscored), compute("coverage", benchmark))
    assert np.isnan(compute("performance", unscored)).all()
    assert np.isnan(compute("lift", unscored)).all()
    assert (compute("n_scored", unscored) == 0).all()
    assert (compute("n_eff", unscored) == 0).all()


@given(benchmark=benchmarks())
def test_n_eff_lies_between_1_and_the_number_of_scored_examples(benchmark: OracleBenchmark):
    n_eff, n_scored = compute("n_eff", benchmark), compute("n_scored", benchmark)
    fires = n_scored > 0
    assert (n_eff[fires] >= 1 - 1e-9).all()
    assert (n_eff[fires] <= n_scored[fires] * (1 + 1e-9)).all()


@given(benchmark=benchmarks())
def test_a_concept_equally_active_everywhere_performs_like_the_benchmark(benchmark: OracleBenchmark):
    assume(any(s is not None for s in benchmark.scores))
    even = dataclasses.replace(benchmark, saliency=[[0.5] for _ in benchmark.saliency], n_concepts=1)
    assert compute("lift", even)[0] == pytest.approx(0, abs=1e-9)


def test_every_metric_gives_one_float_per_concept():
    empty = OracleBenchmark(saliency=[], scores=[], n_concepts=3)
    for name in METRICS:
        assert compute(name, empty).shape == (3,)
        assert compute(name, empty).dtype == np.float64
