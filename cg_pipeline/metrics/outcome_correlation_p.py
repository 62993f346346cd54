"""How surprising the outcome correlation would be by chance, one concept at a time."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import correlation_p_values, correlations


def outcome_correlation_p(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Two-sided p of the outcome correlation (Student's t), in [0, 1]; NaN like the correlation.

    Not corrected for the number of concepts looked at: thousands of concepts make small
    values by chance alone.

    Source: this project; the paper gives no p-value.
    """
    scored = evidence.scored
    r = correlations(evidence.saliency[scored], evidence.scores[scored])
    return correlation_p_values(r, int(scored.sum()))


METRIC = Metric(
    name="outcome_correlation_p",
    description="Two-sided p of outcome_correlation, no correction for many concepts; NULL like it.",
    compute=outcome_correlation_p,
)
