"""Confidence intervals of a mean score."""

import math

from scipy import special


def wilson_interval(mean: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of the mean of n scores in [0, 1]; (0, 1) when there is no score.

    (p + z²/2n ± z·√(p(1-p)/n + z²/4n²)) / (1 + z²/n). Exact coverage is for scores that are
    0 or 1; partial scores vary less than p(1-p), so theirs is wider than it need be.

    It takes the examples as independent. Examples that belong together (twins, one passage)
    carry less information than their number says, and no cluster-aware interval is here yet.

    Source: E. B. Wilson, J. Am. Stat. Assoc. 22 (1927).
    """
    if n == 0:
        return 0.0, 1.0
    z = float(special.ndtri(0.5 + level / 2))
    shrink = 1 + z * z / n
    centre = (mean + z * z / (2 * n)) / shrink
    half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n)) / shrink
    return max(0.0, min(centre - half, mean)), min(1.0, max(centre + half, mean))
