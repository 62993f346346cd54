"""One row per concept over a whole suite, from one row per concept and benchmark."""

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import ConceptMetrics, SuiteMetrics
from cg_pipeline.stats.weighted import ratio

SUITE_COLUMNS: dict[str, tuple[str, str]] = {
    "model": ("VARCHAR", "Name of the model."),
    "concept_id": ("BIGINT", "The concept."),
    "coverage": ("DOUBLE", "χ_bench: mean of the benchmarks' coverages, zeros counted; ≥ 0, 0 = missing."),
    "performance": (
        "DOUBLE",
        "χ_model: mean over the benchmarks that define it, in [0, 1]; NULL if none does.",
    ),
    "lift": ("DOUBLE", "Mean of the benchmarks' lifts where defined, in [-1, 1]; NULL like performance."),
    "n_benchmarks": ("BIGINT", "Benchmarks in which the concept fires."),
    "n_examples": ("BIGINT", "Examples of all benchmarks in which the concept fires, scored or not."),
    "n_scored": ("BIGINT", "Scored examples of all benchmarks in which the concept fires."),
    "n_eff": ("DOUBLE", "Kish effective number of scored examples over all benchmarks; 0 if it never fires."),
}
"""The columns of `suite_metrics` in order: type as SQL says it, and description."""


_COMBINED = ("coverage", "performance", "lift", "n_examples", "n_scored", "mass", "n_eff")


def combine_benchmarks(concept_metrics: ConceptMetrics) -> SuiteMetrics:
    """One row per concept over all benchmarks of one model, ascending by `concept_id`.

    χ_bench(c) = (1/|B|) Σ_b χ_bench(b,c), zeros counted; χ_model(c) and lift(c) are plain
    means over the benchmarks where they are defined, NaN where none defines them. Counts
    add up. n_eff(c) = (Σ_b m_b)² / Σ_b m_b²/n_eff_b with m_b the mass: the Kish number of
    the union, because a benchmark's Σa² is its m²/n_eff.

    Source: arXiv 2512.20638: coverage [given/read], performance [inferred, strong]; lift and
    support are this project's.

    Raises:
        ValueError: the rows are of several models, or repeat a concept within a benchmark.
    """
    _check(concept_metrics)
    ids, place = np.unique(np.asarray(concept_metrics["concept_id"], dtype=np.int64), return_inverse=True)
    of = {name: numbers(concept_metrics, name) for name in _COMBINED}

    def total(values: Float[np.ndarray, " n_rows"]) -> Float[np.ndarray, " n_concepts"]:
        sums = np.bincount(place, weights=np.nan_to_num(values), minlength=len(ids))
        return sums.astype(np.float64)  # of no rows they would be integers

    def mean_of_defined(values: Float[np.ndarray, " n_rows"]) -> Float[np.ndarray, " n_concepts"]:
        return ratio(total(values), total((~np.isnan(values)).astype(np.float64)))

    squares = ratio(of["mass"] ** 2, of["n_eff"])
    columns = {
        "model": next(iter(concept_metrics["model"]), ""),
        "concept_id": ids,
        "coverage": total(of["coverage"]) / max(concept_metrics["benchmark"].nunique(), 1),
        "performance": mean_of_defined(of["performance"]),
        "lift": mean_of_defined(of["lift"]),
        "n_benchmarks": total((of["n_examples"] > 0).astype(np.float64)).astype(np.int64),
        "n_examples": total(of["n_examples"]).astype(np.int64),
        "n_scored": total(of["n_scored"]).astype(np.int64),
        "n_eff": np.nan_to_num(ratio(total(of["mass"]) ** 2, total(squares)), nan=0.0),
    }
    return pd.DataFrame(columns)


def _check(concept_metrics: ConceptMetrics) -> None:
    models = sorted(concept_metrics["model"].unique())
    if len(models) > 1:
        raise ValueError(
            f"Metrics of {len(models)} models, {models}; expected one. Combine each model by itself."
        )
    repeated = concept_metrics.duplicated(["benchmark", "concept_id"])
    if repeated.any():
        first = concept_metrics[repeated].iloc[0]
        raise ValueError(
            f"Concept {first['concept_id']} occurs twice in benchmark {first['benchmark']!r}; "
            "expected one row each. Pass every benchmark's table once."
        )
