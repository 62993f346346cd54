"""How many scored examples a concept fires in."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import firing_counts


def n_scored(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Number of scored examples with a_c(x) > 0."""
    return firing_counts(evidence.saliency[evidence.scored])


METRIC = Metric(
    name="n_scored",
    description="Scored examples of the benchmark in which the concept fires.",
    counts=True,
    compute=n_scored,
)
