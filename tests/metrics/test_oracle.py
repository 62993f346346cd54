"""Every metric equals its slow definition on random sparse data, holes and empty benchmarks included."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from cg_pipeline.metrics import METRICS
from tests import oracle
from tests.metrics.evidence import evidence_of
from tests.oracle import OracleBenchmark
from tests.strategies import benchmarks

NAMES = sorted(set(METRICS) - {"outcome_correlation_p"})


def expected(name: str, benchmark: OracleBenchmark) -> list[float]:
    values = [getattr(oracle, name)(benchmark, concept) for concept in range(benchmark.n_concepts)]
    return [np.nan if value is None else float(value) for value in values]


def test_every_metric_has_an_oracle():
    assert all(hasattr(oracle, name) for name in NAMES)


@given(benchmark=benchmarks())
def test_every_metric_equals_its_oracle(benchmark: OracleBenchmark):
    evidence = evidence_of(benchmark)
    for name in NAMES:
        found = METRICS[name].compute(evidence)
        np.testing.assert_allclose(found, expected(name, benchmark), rtol=1e-6, atol=1e-9, err_msg=name)


@given(benchmark=benchmarks())
def test_every_normaliser_equals_its_oracle(benchmark: OracleBenchmark):
    for normaliser in ("grand_mean", "active_mean", "none"):
        found = METRICS["coverage"].compute(evidence_of(benchmark, normaliser))
        slow = [oracle.coverage(benchmark, concept, normaliser) for concept in range(benchmark.n_concepts)]
        np.testing.assert_allclose(found, slow, rtol=1e-6)


@given(benchmark=benchmarks())
def test_p_equals_that_of_scipy(benchmark: OracleBenchmark):
    found = METRICS["outcome_correlation_p"].compute(evidence_of(benchmark))
    for concept in range(benchmark.n_concepts):
        pairs = benchmark.scored(concept)
        if oracle.outcome_correlation(benchmark, concept) is None or len(pairs) < 3:
            assert np.isnan(found[concept])
            continue
        a, s = zip(*pairs, strict=True)
        with np.errstate(all="ignore"):
            slow = stats.pearsonr(a, s).pvalue
        assert found[concept] == pytest.approx(slow, rel=1e-4, abs=1e-6)
