import dataclasses
import math

import pytest

from cg_pipeline.gaps.headline import describe_coverage, mean_score, median_performance, summarise_benchmarks
from cg_pipeline.records import Score
from cg_pipeline.specs import GapRules
from tests.gaps.small_study import SmallStudy, concept
from tests.gaps.test_suite import metrics_of
from tests.oracle import OracleBenchmark


def score(number: int, value: float | None, reason: str = "") -> Score:
    outcome = {None: "unscored", 0.0: "wrong", 1.0: "right"}.get(value, "partial")
    return Score(
        model="m", benchmark="b0", example_id=str(number), outcome=outcome, value=value, reason=reason
    )


def test_a_benchmark_in_one_line_by_hand():
    scores = [score(0, 1.0), score(1, 0.0), score(2, 1.0), score(3, 0.5)]
    scores += [score(4, None, "truncated"), score(5, None, "unparsed"), score(6, None, "unparsed")]
    benchmark = OracleBenchmark([[3.0, 0.0, 1.0, 9.0]] * 7, [s.value for s in scores], 4)
    concepts = [concept(0), concept(1), concept(2), concept(3, status="dense")]
    [line] = summarise_benchmarks({"b0": scores}, metrics_of([benchmark]), concepts, GapRules(min_n_eff=2.0))
    assert (line.benchmark, line.n_examples, line.n_scored) == ("b0", 7, 4)
    assert line.accuracy == 0.625  # (1 + 0 + 1 + 0.5) / 4
    assert line.low < 0.625 < line.high
    assert line.unscored == {"unparsed": 2, "truncated": 1}
    assert list(line.unscored) == ["unparsed", "truncated"]
    assert (line.coverage.n_concepts, line.coverage.n_missing) == (3, 1)  # the dense one does not count
    assert line.coverage.missing_share == pytest.approx(1 / 3)
    assert line.coverage.top_share == pytest.approx(3 / 4)  # 1% of 3 concepts, rounded up, is one: 3 of 3 + 1
    assert line.coverage.median_performance == 0.625


def test_no_score_is_undefined_and_not_0():
    scores = [score(0, None, "unparsed")]
    table = metrics_of([OracleBenchmark([[1.0]], [None], 1)])
    [line] = summarise_benchmarks({"b0": scores}, table, [concept(0)], GapRules())
    assert all(math.isnan(value) for value in (line.accuracy, line.low, line.high))
    assert math.isnan(line.coverage.median_performance)
    assert mean_score(scores) is None
    assert math.isnan(median_performance(table))


def test_the_median_performance_is_that_of_the_concepts_that_have_one():
    rows, scores = [[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]], [1.0, 0.0]
    table = metrics_of([OracleBenchmark(rows, scores, 4)])
    assert median_performance(table) == 1.0  # of 1, 0 and 1; the third concept never fires


def test_a_dictionary_without_alive_concepts_has_no_shape():
    table = metrics_of([OracleBenchmark([[1.0]], [1.0], 1)])
    shape = describe_coverage(table, [concept(0, status="dead")], GapRules())
    assert shape.n_concepts == 0
    assert all(math.isnan(value) for value in (shape.missing_share, shape.skewness, shape.top_share))


def test_the_median_performance_leaves_out_thin_support():
    inputs = SmallStudy().build()
    strict = dataclasses.replace(inputs.study.rules, min_n_eff=1e6)
    assert math.isnan(describe_coverage(inputs.suite, inputs.concepts, strict).median_performance)
    assert 0 < describe_coverage(inputs.suite, inputs.concepts, inputs.study.rules).median_performance < 1
