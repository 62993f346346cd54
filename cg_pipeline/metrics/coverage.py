"""χ_bench: how much a benchmark exercises each concept."""

import math

import numpy as np
from jaxtyping import Float

from cg_pipeline.specs import Evidence, Metric
from cg_pipeline.stats.weighted import column_sums, dimensions


def coverage(evidence: Evidence) -> Float[np.ndarray, " n_concepts"]:
    """Mean saliency of each concept over the benchmark's examples, divided by the benchmark's normaliser.

    χ_bench(b,c) = mean_{x∈b} a_c(x) / Ā_b. All examples count, scored or not. `grand_mean`
    takes Ā_b over all concepts and examples, zeros included; `active_mean` over the pairs
    that are active. 0 for a concept that never fires; the choice changes neither the
    ranking inside a benchmark nor the missing set.

    Source: arXiv 2512.20638, coverage score [given/read]; which average is meant is
    ambiguous there, hence the setting.
    """
    saliency = evidence.saliency
    n_examples, n_concepts = dimensions(saliency)
    if n_examples == 0:
        return np.zeros(n_concepts)
    means = column_sums(saliency) / n_examples
    divisor = _divisor(evidence)
    return means / divisor if divisor > 0 else means


def _divisor(evidence: Evidence) -> float:
    saliency = evidence.saliency
    if evidence.normaliser == "none":
        return 1.0
    pairs = (
        math.prod(dimensions(saliency))
        if evidence.normaliser == "grand_mean"
        else np.count_nonzero(saliency.data)
    )
    return float(saliency.sum()) / max(int(pairs), 1)


METRIC = Metric(
    name="coverage",
    description="χ_bench: mean saliency over all examples, relative to the average concept; 0 is missing.",
    compute=coverage,
)
