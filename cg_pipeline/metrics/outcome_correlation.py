"""Correlation of a concept's saliency with the score."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import correlations


def outcome_correlation(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Pearson r of a_c(x) with s(x) over scored examples, zeros counted; NaN where either does not vary.

    Source: arXiv 2512.20638, "saliency weight" [given, one summary]; here a metric of its
    own beside χ_model, with its p-value in `outcome_correlation_p`.
    """
    scored = evidence.scored
    return correlations(evidence.saliency[scored], evidence.scores[scored])


METRIC = Metric(
    name="outcome_correlation",
    description="Pearson r of saliency and score over scored examples, in [-1, 1]; NULL if one is constant.",
    compute=outcome_correlation,
)
