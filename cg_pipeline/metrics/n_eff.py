"""How many examples a concept's performance really rests on."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import effective_sizes


def n_eff(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Kish effective number (Σ a)² / Σ a² of the scored examples, from 1 to n_scored; 0 if it never fires.

    Source: method of this project; L. Kish, Survey Sampling (1965).
    """
    return effective_sizes(evidence.saliency[evidence.scored])


METRIC = Metric(
    name="n_eff",
    description="Kish effective number of scored examples, (Σa)²/Σa²; 1 to n_scored, 0 if it never fires.",
    compute=n_eff,
)
