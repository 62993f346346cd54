"""Random benchmarks as the metrics see them."""

import numpy as np
from scipy import sparse

from cg_pipeline.specs import Evidence
from tests.oracle import OracleBenchmark


def evidence_of(benchmark: OracleBenchmark, normaliser: str = "grand_mean") -> Evidence:
    """The same benchmark as the metrics see it."""
    dense = np.array(benchmark.saliency, dtype=np.float64).reshape(
        len(benchmark.saliency), benchmark.n_concepts
    )
    scores = np.array([np.nan if s is None else s for s in benchmark.scores], dtype=np.float64)
    return Evidence(saliency=sparse.csr_array(dense), scores=scores, normaliser=normaliser)
