"""How lopsided a distribution is."""

import math

import numpy as np
from jaxtyping import Float


def skewness(values: Float[np.ndarray, " n"]) -> float:
    """Third standardised moment m₃ / m₂^1.5, positive for a long right tail; NaN where nothing varies."""
    if len(values) == 0 or values.min() == values.max():
        return math.nan
    unit = (values - values.min()) / (values.max() - values.min())
    return float(np.mean(((unit - unit.mean()) / unit.std()) ** 3))


def top_share(values: Float[np.ndarray, " n"], share: float) -> float:
    """Part of the total held by the largest ⌈share·n⌉ of n values ≥ 0, in [0, 1]; NaN without a total."""
    total = float(values.sum())
    if total <= 0:
        return math.nan
    count = count_of_share(share, len(values))
    return float(np.sort(values)[len(values) - count :].sum()) / total


def count_of_share(share: float, n: int) -> int:
    """⌈share·n⌉, at most n: a positive share of anything is at least one; 0.1 of 30 is 3, not 4."""
    return min(n, math.ceil(share * n - 1e-9))
