import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.gaps.selection import KINDS, select_gaps
from cg_pipeline.gaps.suite import combine_benchmarks
from cg_pipeline.records import Concept, Gap
from cg_pipeline.specs import GapRules
from tests import oracle
from tests.gaps.small_study import concept
from tests.gaps.test_suite import metrics_of
from tests.oracle import OracleBenchmark
from tests.strategies import benchmarks

RULES = GapRules(under_share=0.25, over_share=0.25, model_gap_share=0.5, min_n_eff=2.0)


def rows(*values: tuple[int, float, float, float], benchmark: str = "b") -> pd.DataFrame:
    """Rows of (concept_id, coverage, performance, n_eff)."""
    table = pd.DataFrame(values, columns=["concept_id", "coverage", "performance", "n_eff"])
    lift = table["performance"] - 0.5
    return table.assign(model="m", benchmark=benchmark, lift=lift, n_examples=3, n_scored=3, mass=1.0)


def found(gaps: list[Gap], kind: str, scope: str = "suite") -> list[int]:
    chosen = [gap for gap in gaps if gap.kind == kind and gap.scope == scope]
    assert [gap.rank for gap in chosen] == list(range(1, len(chosen) + 1))
    return [gap.concept_id for gap in chosen]


def select(table: pd.DataFrame, concepts: list[Concept], rules: GapRules = RULES) -> list[Gap]:
    return select_gaps(combine_benchmarks(table), table, concepts, rules)


def test_the_rules_by_hand():
    nan = math.nan
    table = rows(
        (0, 0, nan, 0), (1, 0.5, 0.9, 5), (2, 0.1, 0.2, 1), (3, 4, 0.6, 9), (4, 0, nan, 0), (5, 2, 0.4, 4)
    )
    concepts = [
        concept(0, rate=0.01),
        *(concept(number) for number in (1, 2, 3)),
        concept(4, rate=0.2),
        concept(5),
    ]
    gaps = select(table, concepts)
    assert found(gaps, "missing") == [4, 0]  # more common elsewhere first
    assert found(gaps, "under_represented") == [2]  # a quarter of 4 covered ones
    assert found(gaps, "over_represented") == [3]
    assert found(gaps, "model_gap") == [5, 3]  # half of the 3 with n_eff ≥ 2, rounded up; 2 has too little
    assert found(gaps, "model_gap", "b") == [5, 3]


def test_a_gap_carries_value_lift_and_support():
    gap = next(gap for gap in select(rows((7, 2.0, 0.4, 4.0)), [concept(7)]) if gap.kind == "model_gap")
    assert (gap.model, gap.scope, gap.concept_id, gap.rank) == ("m", "suite", 7, 1)
    assert (gap.value, gap.n_examples) == (0.4, 3)
    assert gap.lift == pytest.approx(-0.1)


def test_a_missing_concept_has_no_lift():
    gap = next(gap for gap in select(rows((7, 0.0, math.nan, 0.0)), [concept(7)]) if gap.kind == "missing")
    assert (gap.value, gap.lift, gap.n_eff) == (0.0, None, 0.0)


@pytest.mark.parametrize("status", ["dead", "dense"])
def test_quarantined_concepts_are_no_gaps_and_do_not_count_in_shares(status: str):
    # four covered concepts of which two count: a quarter of two, rounded up, is one and not concept 0
    table = rows((0, 0.1, 0.1, 9), (1, 0.2, 0.2, 9), (2, 0.3, 0.3, 9), (3, 9, 0.4, 9))
    concepts = [concept(0, status=status), concept(1), concept(2), concept(3, status=status)]
    gaps = select(table, concepts)
    assert {gap.concept_id for gap in gaps} <= {1, 2}
    assert found(gaps, "under_represented") == [1]
    assert found(gaps, "over_represented") == [2]
    assert found(gaps, "model_gap") == [1]


def test_concepts_outside_the_dictionary_do_not_count():
    assert {gap.concept_id for gap in select(rows((0, 1, 0.5, 9), (1, 2, 0.4, 9)), [concept(1)])} == {1}


def test_ties_go_to_the_lower_concept():
    table = rows(*((number, 1.0, 0.5, 9.0) for number in (3, 1, 2, 0)))
    gaps = select(table, [concept(number) for number in range(4)])
    assert found(gaps, "under_represented") == [0]
    assert found(gaps, "over_represented") == [0]
    assert found(gaps, "model_gap") == [0, 1]


def test_ten_equally_strong_examples_have_enough_support():
    benchmark = OracleBenchmark([[0.1]] * 10, [1.0, 0.0] * 5, 1)
    gaps = select(metrics_of([benchmark]), [concept(0)], GapRules())
    assert found(gaps, "model_gap") == [0]


def test_a_share_of_0_takes_none():
    rules = GapRules(under_share=0.0, over_share=0.0, model_gap_share=0.0)
    assert select(rows((0, 1, 0.5, 99)), [concept(0)], rules) == []


def test_absolute_bounds_replace_the_shares():
    rules = GapRules(under_coverage=1.0, model_gap_below=0.5, min_n_eff=2.0)
    table = rows((0, 0.2, 0.1, 9), (1, 0.9, 0.5, 9), (2, 1.0, 0.4, 9), (3, 3, 0.45, 1), (4, 0, math.nan, 0))
    gaps = select(table, [concept(number) for number in range(5)], rules)
    assert found(gaps, "under_represented") == [0, 1]
    assert found(gaps, "model_gap") == [0, 2]  # 1 is not below 0.5, 3 has too little support


def test_gaps_come_by_scope_then_kind_then_rank():
    table = pd.concat([rows((0, 1, 0.5, 9), (1, 0, math.nan, 0), benchmark=name) for name in ("z", "a")])
    gaps = select(table, [concept(0), concept(1)])
    assert list(dict.fromkeys(gap.scope for gap in gaps)) == ["suite", "z", "a"]
    kinds = [gap.kind for gap in gaps if gap.scope == "suite"]
    assert kinds == sorted(kinds, key=KINDS.index)


def test_a_benchmark_called_suite_is_refused():
    table = rows((0, 1, 0.5, 9), benchmark="suite")
    with pytest.raises(ValueError, match="A benchmark is called 'suite', the scope of the whole suite"):
        select(table, [concept(0)])


@given(
    suite=st.lists(benchmarks(n_concepts=4, max_examples=5), min_size=1, max_size=3), seed=st.integers(0, 99)
)
def test_gaps_equal_their_oracle(suite: list[OracleBenchmark], seed: int):
    generator = np.random.default_rng(seed)
    statuses = generator.choice(["alive", "alive", "dead", "dense"], size=4)
    concepts = [concept(number, status=str(status)) for number, status in enumerate(statuses)]
    alive = [number for number, status in enumerate(statuses) if status == "alive"]
    gaps = select(metrics_of(suite), concepts)
    coverage = {number: oracle.suite_coverage(suite, number) for number in alive}
    covered = {number: value for number, value in coverage.items() if value > 0}
    performance = {number: oracle.suite_performance(suite, number) for number in alive}
    firm = {
        number: value
        for number, value in performance.items()
        if value is not None and oracle.suite_n_eff(suite, number) >= 2 - 1e-9
    }
    assert found(gaps, "missing") == [number for number in alive if coverage[number] == 0]
    assert_ranks(found(gaps, "under_represented"), covered, 0.25)
    assert_ranks(found(gaps, "over_represented"), {number: -value for number, value in covered.items()}, 0.25)
    assert_ranks(found(gaps, "model_gap"), firm, 0.5)


def assert_ranks(chosen: list[int], values: dict[int, float], share: float) -> None:
    """As many as the oracle's, with the same values: what differs in the last digit may swap places."""
    slow = oracle.ranked(values, share)
    assert [values[number] for number in chosen] == pytest.approx([values[number] for number in slow])
