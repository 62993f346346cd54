"""Share of a benchmark's examples in which a concept fires."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import firing_counts


def firing_rate(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """n_examples over the benchmark's number of examples, in [0, 1]; NaN for an empty benchmark."""
    n = evidence.saliency.shape[0]
    return firing_counts(evidence.saliency) / n if n else np.full(evidence.saliency.shape[1], np.nan)


METRIC = Metric(
    name="firing_rate",
    description="Share of the benchmark's examples in which the concept fires, in [0, 1].",
    compute=firing_rate,
)
