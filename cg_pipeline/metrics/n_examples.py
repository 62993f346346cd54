"""How many examples a concept fires in."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import firing_counts


def n_examples(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Number of the benchmark's examples with a_c(x) > 0, scored or not."""
    return firing_counts(evidence.saliency)


METRIC = Metric(
    name="n_examples",
    description="Examples of the benchmark in which the concept fires, scored or not.",
    counts=True,
    compute=n_examples,
)
