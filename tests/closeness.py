"""How far two computations of the same numbers are apart."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


def relative_distances(
    found: Float[np.ndarray, "rows n"] | Sequence[Sequence[float]],
    expected: Float[np.ndarray, "rows n"] | Sequence[Sequence[float]],
) -> Float[np.ndarray, " rows"]:
    """‖found - expected‖₂ / ‖expected‖₂ of each row; 0 where both rows are empty or all 0.

    Why the norm of a row: one number of it can be next to nothing and all rounding, while a row
    is what the next stage works with. No row hides behind a larger one, as a bound on the
    largest number of a whole matrix would let it.
    """
    pairs = [
        (np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in zip(found, expected, strict=True)
    ]
    distances = np.array([np.linalg.norm(a - b) for a, b in pairs])
    lengths = np.array([np.linalg.norm(b) for _, b in pairs])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distances == 0, 0.0, distances / lengths)
