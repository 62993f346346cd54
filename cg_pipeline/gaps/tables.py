"""Columns of tables as arrays: pandas' own types say too little for a checker to follow."""

import numpy as np
import pandas as pd
from jaxtyping import Float


def numbers(table: pd.DataFrame, column: str) -> Float[np.ndarray, " n"]:
    """A column as an array of floats."""
    return np.asarray(table[column], dtype=np.float64)
