"""One example per metric, small enough to check by hand.

Four examples, two concepts; the last example is unscored:

    example   a₁   a₂   score
    x₁        1    0    1
    x₂        3    0    0
    x₃        0    2    1
    x₄        4    0    unscored
"""

import math

import numpy as np
import pytest
from scipy import sparse

from cg_pipeline.metrics import METRICS
from cg_pipeline.specs import Evidence

SALIENCY = [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [4.0, 0.0]]
SCORES = [1.0, 0.0, 1.0, math.nan]


def compute(name: str, normaliser: str = "grand_mean") -> list[float]:
    saliency = sparse.csr_array(np.array(SALIENCY))
    evidence = Evidence(saliency=saliency, scores=np.array(SCORES), normaliser=normaliser)
    return METRICS[name].compute(evidence).tolist()


def test_coverage():
    # means over 4 examples: (1+3+0+4)/4 = 2 and 2/4 = 0.5; all 8 pairs average 10/8 = 1.25
    assert compute("coverage") == [2 / 1.25, 0.5 / 1.25]
    # the 4 active pairs average 10/4 = 2.5
    assert compute("coverage", "active_mean") == [2 / 2.5, 0.5 / 2.5]
    assert compute("coverage", "none") == [2, 0.5]


def test_performance():
    # x₄ is left out: (1·1 + 3·0)/(1+3) = 0.25; concept 2 fires only in x₃, which is right
    assert compute("performance") == [0.25, 1.0]


def test_lift():
    # mean score of the 3 scored examples: 2/3
    assert compute("lift") == pytest.approx([0.25 - 2 / 3, 1 - 2 / 3])


def test_mass():
    # over scored examples: 1 + 3 and 2
    assert compute("mass") == [4, 2]


def test_n_eff():
    # (1+3)²/(1²+3²) = 16/10; a single example counts once
    assert compute("n_eff") == [1.6, 1]


def test_n_examples():
    # concept 1 fires in x₁, x₂, x₄
    assert compute("n_examples") == [3, 1]


def test_n_scored():
    # x₄ is not scored
    assert compute("n_scored") == [2, 1]


def test_firing_rate():
    # 3 and 1 of 4 examples, scored or not
    assert compute("firing_rate") == [0.75, 0.25]


def test_outcome_correlation():
    # a₁ = (1, 3, 0), mean 4/3, deviations (-1/3, 5/3, -4/3); s = (1, 0, 1), deviations (1/3, -2/3, 1/3)
    # Σ products = -1/9 - 10/9 - 4/9 = -15/9; Σ squares = 42/9 and 6/9
    first = -(15 / 9) / math.sqrt(42 / 9 * 6 / 9)
    # a₂ = (0, 0, 2), deviations (-2/3, -2/3, 4/3): Σ products = -2/9 + 4/9 + 4/9 = 6/9; Σ squares = 24/9
    second = (6 / 9) / math.sqrt(24 / 9 * 6 / 9)
    assert compute("outcome_correlation") == pytest.approx([first, second])
    assert second == pytest.approx(0.5)


def test_outcome_correlation_p():
    # n = 3 leaves 1 degree of freedom, where Student's t is Cauchy: p = 1 - (2/π)·atan(t)
    # r = 0.5: t = 0.5·√(1/(1-0.25)) = 1/√3, atan = π/6, p = 1 - 1/3
    assert compute("outcome_correlation_p")[1] == pytest.approx(2 / 3)
