"""How much two benchmarks ask about the same concepts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float

from cg_pipeline.gaps.selection import alive_concepts
from cg_pipeline.records import Concept, ConceptMetrics
from cg_pipeline.stats.weighted import ratio


def benchmark_overlap(concept_metrics: ConceptMetrics, concepts: Sequence[Concept]) -> pd.DataFrame:
    """Jaccard index of the benchmarks' active concepts, in [0, 1]: a square, symmetric table by name.

    J(b₁,b₂) = |A₁ ∩ A₂| / |A₁ ∪ A₂| with A the alive concepts of coverage > 0; NaN for two
    benchmarks that exercise none.

    Source: arXiv 2512.20638, overlap of two benchmarks [given]; dense concepts, which fire
    in every benchmark and would raise every overlap, are left out here.
    """
    alive = concept_metrics["concept_id"].isin([concept.concept_id for concept in alive_concepts(concepts)])
    active = concept_metrics[alive & (concept_metrics["coverage"] > 0)]
    names = concept_metrics["benchmark"].unique()
    sets = [set(active.loc[active["benchmark"] == name, "concept_id"]) for name in names]
    return pd.DataFrame(_jaccard(sets), index=names, columns=names)


def _jaccard(sets: Sequence[set[int]]) -> Float[np.ndarray, "n_benchmarks n_benchmarks"]:
    shared = np.array([[len(a & b) for b in sets] for a in sets], dtype=float).reshape(len(sets), len(sets))
    sizes = np.array([len(a) for a in sets], dtype=float)
    union = sizes[:, None] + sizes[None, :] - shared
    return ratio(shared.ravel(), union.ravel()).reshape(shared.shape)
