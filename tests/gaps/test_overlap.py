import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.gaps.overlap import benchmark_overlap
from tests import oracle
from tests.gaps.small_study import concept
from tests.gaps.test_suite import metrics_of
from tests.oracle import OracleBenchmark
from tests.strategies import benchmarks


def test_overlap_by_hand():
    # north touches {0, 1}, south {1, 2}: they share one of three; concept 3 is dense and does not count
    north = OracleBenchmark([[1.0, 1.0, 0.0, 1.0]], [1.0], 4)
    south = OracleBenchmark([[0.0, 1.0, 1.0, 1.0]], [None], 4)
    concepts = [concept(0), concept(1), concept(2), concept(3, status="dense")]
    found = benchmark_overlap(metrics_of([north, south]), concepts)
    assert found.index.tolist() == found.columns.tolist() == ["b0", "b1"]
    np.testing.assert_allclose(found.to_numpy(), [[1, 1 / 3], [1 / 3, 1]])


@given(suite=st.lists(benchmarks(n_concepts=3, max_examples=3), min_size=1, max_size=3))
def test_overlap_equals_its_oracle(suite: list[OracleBenchmark]):
    found = benchmark_overlap(metrics_of(suite), [concept(number) for number in range(3)])
    slow = [[oracle.jaccard(a, b, [0, 1, 2]) for b in suite] for a in suite]
    expected = [[math.nan if value is None else value for value in row] for row in slow]
    np.testing.assert_allclose(found.to_numpy(), expected)
