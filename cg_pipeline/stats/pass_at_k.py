"""pass@k: the chance that one of k answers is right, estimated from n ≥ k answers.

Source: Chen et al. 2021, arXiv 2107.03374, equation 1 (unbiased; the plain 1 − (1 − c/n)^k is not).
"""

import math
from collections.abc import Iterable


def pass_at_k(n: int, n_right: int, k: int) -> float:
    """1 − C(n − n_right, k) / C(n, k), of one example with `n` answers, `n_right` of them right.

    Raises:
        ValueError: the numbers are impossible, or k is larger than n.
    """
    if not (0 <= n_right <= n and 1 <= k <= n):
        raise ValueError(f"{n_right} right of {n} answers, k = {k}; expected 0 ≤ right ≤ n and 1 ≤ k ≤ n.")
    return 1 - math.comb(n - n_right, k) / math.comb(n, k)


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float:
    """Mean of pass@k over the examples with k answers or more, given their (n, n_right); else NaN."""
    values = [pass_at_k(n, n_right, k) for n, n_right in counts if n >= k]
    return math.fsum(values) / len(values) if values else math.nan
