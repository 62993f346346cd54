"""Share of a benchmark's examples in which a concept fires."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import dimensions, firing_counts


def firing_rate(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """n_examples over the benchmark's number of examples, in [0, 1]; NaN for an empty benchmark."""
    n_examples, n_concepts = dimensions(evidence.saliency)
    if n_examples == 0:
        return np.full(n_concepts, np.nan)
    return firing_counts(evidence.saliency) / n_examples


METRIC = Metric(
    name="firing_rate",
    description="Share of the benchmark's examples in which the concept fires, in [0, 1].",
    compute=firing_rate,
)
