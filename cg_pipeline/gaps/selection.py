"""Which concepts are gaps: the rules of a study applied to a suite and to each of its benchmarks.

Why quarantined concepts are left out: a dead concept never fired on the broad sample, so a suite
cannot be blamed for missing it; a dense one fires on almost anything and says nothing about a
subject; of two that share a direction one says it all (`health.concepts` has every reason). They
neither become gaps nor count in the shares that the rules take. Every gap says how many they are, and
the report why.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import Concept, ConceptMetrics, Gap, GapKind, SuiteMetrics
from cg_pipeline.specs import GapRules
from cg_pipeline.stats.shape import count_of_share

SUITE = "suite"
"""Scope of a gap of the whole suite; no benchmark may have this name."""

KINDS: tuple[GapKind, ...] = ("missing", "under_represented", "over_represented", "model_gap")

_ROUNDING = 1e-9
"""Ten equally strong examples have n_eff 10 up to rounding, and are ten."""


def select_gaps(
    suite: SuiteMetrics, concept_metrics: ConceptMetrics, concepts: Sequence[Concept], rules: GapRules
) -> list[Gap]:
    """All gaps of one model: first the suite's, then each benchmark's, by kind and rank.

    *missing*: coverage 0, ranked by firing rate on the broad sample, highest first: what is
    common elsewhere and absent here is the stronger gap. *under_represented* and
    *over_represented*: lowest and highest share of the covered concepts by coverage.
    *model_gap*: lowest share by performance of the concepts with enough n_eff. Where a rule
    sets an absolute bound, all below it are taken instead of a share. A share is
    rounded up, so at least one is taken where any qualifies; ties go to the lower
    `concept_id`. Only alive concepts take part. A model gap is the low end of what was
    measured, whether or not that is low: no significance is attached here.

    Source: arXiv 2512.20638, gap rules [given]; support and ranking of missing ones are this project's.
    """
    if (concept_metrics["benchmark"] == SUITE).any():
        raise ValueError(
            f"A benchmark is called {SUITE!r}, the scope of the whole suite. Rename the benchmark."
        )
    n_left_out = len(concepts) - len(alive_concepts(concepts))
    rates = {concept.concept_id: concept.firing_rate for concept in concepts}
    scopes = [(SUITE, suite), *concept_metrics.groupby("benchmark", sort=False)]
    alive = ((str(scope), alive_rows(table, concepts)) for scope, table in scopes)
    found = [gap for scope, rows in alive for gap in _gaps_of_scope(scope, rows, rates, rules)]
    return [replace(gap, n_quarantined=n_left_out) for gap in found]


def alive_concepts(concepts: Sequence[Concept]) -> list[Concept]:
    """The concepts that count: those that are not quarantined."""
    return [concept for concept in concepts if concept.status == "alive"]


def supported(n_eff: Float[np.ndarray, " n"], rules: GapRules) -> Bool[np.ndarray, " n"]:
    """Which concepts rest on enough examples for their performance to be ranked."""
    return n_eff >= rules.min_n_eff - _ROUNDING


def alive_rows(table: pd.DataFrame, concepts: Sequence[Concept]) -> pd.DataFrame:
    """The rows of the concepts that count, ascending by `concept_id`; the index starts anew."""
    ids = np.array([concept.concept_id for concept in alive_concepts(concepts)], dtype=np.int64)
    alive = table.take(np.flatnonzero(np.isin(np.asarray(table["concept_id"]), ids)))
    return alive.take(np.argsort(np.asarray(alive["concept_id"]), kind="stable")).reset_index(drop=True)


def _gaps_of_scope(
    scope: str, alive: pd.DataFrame, rates: Mapping[int, float], rules: GapRules
) -> Iterator[Gap]:
    coverage, performance = numbers(alive, "coverage"), numbers(alive, "performance")
    rate = np.array([rates[concept_id] for concept_id in alive["concept_id"].tolist()], dtype=np.float64)
    covered = coverage > 0
    measured = supported(numbers(alive, "n_eff"), rules) & ~np.isnan(performance)
    chosen = {
        "missing": _lowest(-rate, ~covered, 1.0),
        "under_represented": _lowest(coverage, covered, rules.under_share, rules.under_coverage),
        "over_represented": _lowest(-coverage, covered, rules.over_share),
        "model_gap": _lowest(performance, measured, rules.model_gap_share, rules.model_gap_below),
    }
    for kind in KINDS:
        yield from _records(scope, kind, alive.take(chosen[kind]))


def _lowest(
    key: Float[np.ndarray, " n"], eligible: Bool[np.ndarray, " n"], share: float, bound: float | None = None
) -> Int[np.ndarray, " n_taken"]:
    """Positions of the lowest of the eligible, lowest first: a share of them, or all below a bound.

    Earlier positions win ties.
    """
    if bound is not None:
        eligible, share = eligible & (key < bound), 1.0
    candidates = np.flatnonzero(eligible)
    order = candidates[np.argsort(key[candidates], kind="stable")]
    return order[: count_of_share(share, len(candidates))]


def _records(scope: str, kind: GapKind, rows: pd.DataFrame) -> Iterator[Gap]:
    values = numbers(rows, "performance" if kind == "model_gap" else "coverage").tolist()
    lifts = [None if math.isnan(lift) else lift for lift in numbers(rows, "lift").tolist()]
    counts, n_effs = numbers(rows, "n_examples").tolist(), numbers(rows, "n_eff").tolist()
    found = zip(rows["model"], rows["concept_id"].tolist(), values, lifts, counts, n_effs, strict=True)
    for rank, (model, concept_id, value, lift, n_examples, n_eff) in enumerate(found, start=1):
        yield Gap(
            model=model,
            scope=scope,
            kind=kind,
            concept_id=concept_id,
            rank=rank,
            value=value,
            lift=lift,
            n_examples=int(n_examples),
            n_eff=n_eff,
        )
