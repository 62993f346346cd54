"""Performance above or below what the model reaches on the benchmark as a whole."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import dimensions, weighted_means


def lift(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """χ_model(b,c) minus the mean score of the benchmark's scored examples, in [-1, 1]; NaN like χ_model.

    Source: this project: a concept that lives in a hard benchmark has a low χ_model but a
    lift near 0.
    """
    scored = evidence.scored
    if not scored.any():
        return np.full(dimensions(evidence.saliency)[1], np.nan)
    scores = evidence.scores[scored]
    return weighted_means(evidence.saliency[scored], scores) - scores.mean()


METRIC = Metric(
    name="lift",
    description="performance minus the benchmark's mean score, in [-1, 1]; NULL like performance.",
    compute=lift,
)
