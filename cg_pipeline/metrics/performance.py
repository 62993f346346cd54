"""χ_model: how well the model does where a concept is active."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import weighted_means


def performance(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Mean score of each concept's examples, weighted by the concept's saliency.

    χ_model(b,c) = Σ_x a_c(x)·s(x) / Σ_x a_c(x), over the scored examples of one benchmark.
    NaN for a concept that fires on no scored example.

    Source: arXiv 2512.20638, performance score [given]; unscored examples are left out,
    where the paper appears to count them wrong.
    """
    scored = evidence.scored
    return weighted_means(evidence.saliency[scored], evidence.scores[scored])


METRIC = Metric(
    name="performance",
    description="χ_model: saliency-weighted mean score, in [0, 1]; NULL if it fires on no scored example.",
    compute=performance,
)
