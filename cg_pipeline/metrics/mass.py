"""Total saliency of a concept, from which support adds up over benchmarks."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import column_sums


def mass(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Σ a_c(x) over scored examples, in units of the SAE's activations; 0 if it never fires."""
    return column_sums(evidence.saliency[evidence.scored])


METRIC = Metric(
    name="mass",
    description="Total saliency over scored examples, in units of the SAE's activations, ≥ 0.",
    compute=mass,
)
