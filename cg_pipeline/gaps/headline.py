"""The few numbers people ask for first: per benchmark and for the suite."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.selection import alive_rows, supported
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import Concept, ConceptMetrics, Score, SuiteMetrics
from cg_pipeline.specs import GapRules
from cg_pipeline.stats.intervals import wilson_interval
from cg_pipeline.stats.shape import skewness, top_share


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageShape:
    """What coverage looks like over the alive concepts."""

    n_concepts: int
    """Alive concepts."""
    n_missing: int
    """Alive concepts with coverage 0."""
    missing_share: float
    """n_missing / n_concepts, in [0, 1]; NaN without alive concepts."""
    skewness: float
    """Third standardised moment of coverage, zeros counted; positive for a long right tail."""
    top_share: float
    """Part of all coverage that the most covered 1 % of the concepts hold, in [0, 1]."""
    median_performance: float
    """Median χ_model of the supported concepts; NaN when none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkHeadline:
    """One benchmark in one line."""

    benchmark: str
    n_examples: int
    n_scored: int
    unscored: Mapping[str, int]
    """Reason → examples, most frequent first."""
    accuracy: float
    """Mean score of the scored examples, in [0, 1]; NaN when none is scored."""
    low: float
    """Lower end of the 95 % Wilson interval of accuracy."""
    high: float
    """Upper end."""
    coverage: CoverageShape


def summarise_benchmarks(
    scores: Mapping[str, Sequence[Score]],
    concept_metrics: ConceptMetrics,
    concepts: Sequence[Concept],
    rules: GapRules,
) -> list[BenchmarkHeadline]:
    """One headline per benchmark, in the order of `scores`.

    The interval takes the examples as independent; one that knows clusters is a later step.
    """
    of = np.asarray(concept_metrics["benchmark"])
    tables = {name: concept_metrics.take(np.flatnonzero(of == name)) for name in scores}
    return [
        _headline(name, given, describe_coverage(tables[name], concepts, rules))
        for name, given in scores.items()
    ]


def mean_score(scores: Sequence[Score]) -> float | None:
    """Mean of the scored ones, in [0, 1]; None when none is scored."""
    values = [score.value for score in scores if score.value is not None]
    return math.fsum(values) / len(values) if values else None


def median_performance(table: ConceptMetrics | SuiteMetrics) -> float:
    """Median χ_model of the concepts that have one, in [0, 1]; NaN where none has: nothing is scored."""
    performance = numbers(table, "performance")
    return _median(performance[~np.isnan(performance)])


def describe_coverage(
    table: ConceptMetrics | SuiteMetrics, concepts: Sequence[Concept], rules: GapRules
) -> CoverageShape:
    """Shape of coverage over the alive concepts of one benchmark or of the suite."""
    alive = alive_rows(table, concepts)
    coverage = numbers(alive, "coverage")
    n_missing = int((coverage == 0).sum())
    return CoverageShape(
        n_concepts=len(coverage),
        n_missing=n_missing,
        missing_share=n_missing / len(coverage) if len(coverage) else math.nan,
        skewness=skewness(coverage),
        top_share=top_share(coverage, 0.01),
        median_performance=_median(supported_performance(alive, rules)),
    )


def supported_performance(rows: pd.DataFrame, rules: GapRules) -> Float[np.ndarray, " n_supported"]:
    """χ_model of the rows that rest on enough examples."""
    performance = numbers(rows, "performance")
    return performance[supported(numbers(rows, "n_eff"), rules) & ~np.isnan(performance)]


def _median(values: Float[np.ndarray, " _"]) -> float:
    """NaN of none, without numpy's warning."""
    return float(np.median(values)) if len(values) else math.nan


def _headline(name: str, scores: Sequence[Score], coverage: CoverageShape) -> BenchmarkHeadline:
    accuracy, n_scored = mean_score(scores), sum(score.value is not None for score in scores)
    low, high = (math.nan, math.nan) if accuracy is None else wilson_interval(accuracy, n_scored)
    reasons = Counter(score.reason for score in scores if score.value is None)
    return BenchmarkHeadline(
        benchmark=name,
        n_examples=len(scores),
        n_scored=n_scored,
        unscored=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        accuracy=math.nan if accuracy is None else accuracy,
        low=low,
        high=high,
        coverage=coverage,
    )
