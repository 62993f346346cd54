"""Random evidence for the metrics' tests: sparse saliency, scores with holes, degenerate shapes."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from cg_pipeline.specs import Evidence
from tests.oracle import OracleBenchmark

CASES = settings(max_examples=40, deadline=None)

_SALIENCY = st.floats(2**-10, 1000, width=32).map(float)
_SCORE = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(0, 1, width=32))


@st.composite
def benchmarks(draw: st.DrawFn, n_concepts: int | None = None, max_examples: int = 8) -> OracleBenchmark:
    """A benchmark of any number of examples, none included, scored or not."""
    width = n_concepts or draw(st.integers(1, 5))
    n = draw(st.integers(0, max_examples))
    rows = draw(arrays.arrays(np.float64, (n, width), elements=_SALIENCY, fill=st.just(0.0)))
    scores = draw(st.lists(_SCORE, min_size=n, max_size=n))
    return OracleBenchmark(saliency=rows.tolist(), scores=scores, n_concepts=width)


def evidence_of(benchmark: OracleBenchmark, normaliser: str = "grand_mean") -> Evidence:
    """The same benchmark as the metrics see it."""
    dense = np.array(benchmark.saliency, dtype=np.float64).reshape(
        len(benchmark.saliency), benchmark.n_concepts
    )
    scores = np.array([np.nan if s is None else s for s in benchmark.scores], dtype=np.float64)
    return Evidence(saliency=sparse.csr_array(dense), scores=scores, normaliser=normaliser)
