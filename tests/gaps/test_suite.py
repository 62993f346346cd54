import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.gaps.suite import SUITE_COLUMNS, combine_benchmarks
from cg_pipeline.metrics import METRICS
from tests import oracle
from tests.metrics.evidence import evidence_of
from tests.oracle import OracleBenchmark
from tests.strategies import benchmarks


def metrics_of(suite: list[OracleBenchmark]) -> pd.DataFrame:
    tables = [
        pd.DataFrame(
            {"model": "m", "benchmark": f"b{number}", "concept_id": np.arange(benchmark.n_concepts)}
            | {name: metric.compute(evidence_of(benchmark)) for name, metric in METRICS.items()}
        )
        for number, benchmark in enumerate(suite)
    ]
    return pd.concat(tables, ignore_index=True)


@given(suite=st.lists(benchmarks(n_concepts=3, max_examples=5), min_size=1, max_size=4))
def test_a_suite_equals_its_oracle(suite: list[OracleBenchmark]):
    found = combine_benchmarks(metrics_of(suite))
    assert found["concept_id"].tolist() == [0, 1, 2]
    for concept, row in enumerate(found.to_dict("records")):
        slow = {
            "coverage": oracle.suite_coverage(suite, concept),
            "performance": oracle.suite_performance(suite, concept),
            "lift": oracle.suite_lift(suite, concept),
            "n_eff": oracle.suite_n_eff(suite, concept),
            "n_benchmarks": sum(oracle.n_examples(benchmark, concept) > 0 for benchmark in suite),
            "n_examples": sum(oracle.n_examples(benchmark, concept) for benchmark in suite),
            "n_scored": sum(oracle.n_scored(benchmark, concept) for benchmark in suite),
        }
        for name, value in slow.items():
            expected = np.nan if value is None else value
            assert row[name] == pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True), name


def test_the_order_of_rows_is_irrelevant():
    table = metrics_of([OracleBenchmark([[1.0, 0.0], [2.0, 1.0]], [1.0, 0.0], 2)] * 2)
    shuffled = table.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(combine_benchmarks(shuffled), combine_benchmarks(table))


def test_columns_are_those_declared_and_counts_are_whole():
    found = combine_benchmarks(metrics_of([OracleBenchmark([[1.0]], [None], 1)]))
    assert list(found.columns) == list(SUITE_COLUMNS)
    whole = [name for name, (sql, _) in SUITE_COLUMNS.items() if sql == "INTEGER"]
    assert all(np.issubdtype(found[name].dtype, np.integer) for name in whole)


def test_no_rows_make_an_empty_suite():
    found = combine_benchmarks(metrics_of([OracleBenchmark([[1.0]], [None], 1)]).iloc[:0])
    assert list(found.columns) == list(SUITE_COLUMNS)
    assert len(found) == 0


def test_several_models_are_refused():
    one = metrics_of([OracleBenchmark([[1.0]], [1.0], 1)])
    with pytest.raises(ValueError, match=r"Metrics of 2 models, \['m', 'n'\]; expected one\."):
        combine_benchmarks(pd.concat([one, one.assign(model="n")]))


def test_a_repeated_benchmark_is_refused():
    one = metrics_of([OracleBenchmark([[1.0]], [1.0], 1)])
    with pytest.raises(ValueError, match="Concept 0 occurs twice in benchmark 'b0'; expected one row each"):
        combine_benchmarks(pd.concat([one, one]))
