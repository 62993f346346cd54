"""Column statistics of a sparse example × concept matrix weighted against a score.

Everything here takes saliency as a CSR array of shape (n_examples, n_concepts) and
returns one number per concept, NaN where nothing is there to measure.
"""

from typing import cast

import numpy as np
from jaxtyping import Float
from scipy import sparse, special

_ROUNDING = 1e-9


def dimensions(weights: sparse.csr_array) -> tuple[int, int]:
    """Number of rows and of columns; scipy's types do not say that a shape has two."""
    n_rows, n_columns = cast(tuple[int, int], weights.shape)
    return n_rows, n_columns


def column_sums(
    weights: sparse.csr_array, by: Float[np.ndarray, " n_examples"] | None = None
) -> Float[np.ndarray, " n_concepts"]:
    """Σ_x w(x)·by(x) for every column; Σ_x w(x) without `by`."""
    factors = np.ones(dimensions(weights)[0]) if by is None else by
    return np.asarray(weights.T @ factors, dtype=np.float64)


def firing_counts(weights: sparse.csr_array) -> Float[np.ndarray, " n_concepts"]:
    """Number of rows in which each column is not zero."""
    return np.asarray(weights.count_nonzero(axis=0), dtype=np.float64)


def weighted_means(
    weights: sparse.csr_array, values: Float[np.ndarray, " n_examples"]
) -> Float[np.ndarray, " n_concepts"]:
    """Σ w·v / Σ w per column, never outside the range of `values`; NaN for a column without weight."""
    means = ratio(column_sums(weights, values), column_sums(weights))
    if len(values) == 0:
        return means
    inside = np.clip(means, values.min(), values.max())
    # Only rounding is taken back: a mean that is really outside stays there, to be found.
    return np.where(np.abs(means - inside) <= _ROUNDING * np.abs(values).max(), inside, means)


def effective_sizes(weights: sparse.csr_array) -> Float[np.ndarray, " n_concepts"]:
    """Kish effective number of examples (Σ w)² / Σ w² per column, 0 for a column without weight.

    Source: L. Kish, Survey Sampling (1965).
    """
    return np.nan_to_num(ratio(column_sums(weights) ** 2, column_sums(weights.power(2))), nan=0.0)


def correlations(
    weights: sparse.csr_array, values: Float[np.ndarray, " n_examples"]
) -> Float[np.ndarray, " n_concepts"]:
    """Pearson r of each column with `values`, zeros of the matrix included; NaN where either is constant.

    Computed on centred values and centred columns, so that a large mean costs few digits;
    constant means equal to the last bit, whatever the unit of the weights.
    """
    n, n_columns = dimensions(weights)
    if n < 2 or n_columns == 0 or values.min() == values.max():
        return np.full(n_columns, np.nan)
    centred = values - values.mean()
    means = column_sums(weights) / n
    products = column_sums(weights, centred) - means * centred.sum()
    total = np.sqrt(_squared_deviations(weights, means) * (centred @ centred))
    varies = weights.max(axis=0).toarray() > weights.min(axis=0).toarray()
    return np.clip(ratio(products, np.where(varies, total, 0.0)), -1.0, 1.0)


def _squared_deviations(
    weights: sparse.csr_array, means: Float[np.ndarray, " n_concepts"]
) -> Float[np.ndarray, " n_concepts"]:
    """Σ_x (w(x) - mean)² per column, zeros of the matrix included."""
    deviations = weights.tocsc(copy=True)
    n_stored = np.diff(deviations.indptr)
    deviations.data = (deviations.data - np.repeat(means, n_stored)) ** 2
    n_absent = dimensions(weights)[0] - n_stored
    return column_sums(deviations.tocsr()) + n_absent * means**2


def correlation_p_values(r: Float[np.ndarray, " n_concepts"], n: int) -> Float[np.ndarray, " n_concepts"]:
    """Two-sided p of Pearson r if independent: Student's t with n - 2 degrees of freedom; NaN below 3."""
    if n < 3:
        return np.full_like(r, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(r) * np.sqrt((n - 2) / (1 - r**2))
    return 2 * special.stdtr(n - 2, -t)


def ratio(top: Float[np.ndarray, " n"], bottom: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Quotient top / bottom, NaN where bottom is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom != 0, top / bottom, np.nan)
