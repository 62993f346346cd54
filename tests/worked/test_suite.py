"""A suite of two benchmarks and three concepts, small enough to check by hand."""

import math

import pandas as pd
import pytest

from cg_pipeline.gaps.suite import combine_benchmarks

ROWS = pd.DataFrame(
    {
        "model": "m",
        "benchmark": ["a", "a", "a", "b", "b", "b"],
        "concept_id": [0, 1, 2, 0, 1, 2],
        "coverage": [2.0, 1.0, 0.0, 0.5, 0.0, 0.0],
        "performance": [0.25, 0.8, math.nan, 0.75, math.nan, math.nan],
        "lift": [-0.25, 0.3, math.nan, 0.05, math.nan, math.nan],
        "n_examples": [5, 2, 0, 1, 0, 0],
        "n_scored": [4, 2, 0, 1, 0, 0],
        "mass": [4.0, 2.0, 0.0, 2.0, 0.0, 0.0],
        "n_eff": [3.2, 2.0, 0.0, 1.0, 0.0, 0.0],
    }
)


def test_a_suite_by_hand():
    suite = combine_benchmarks(ROWS).set_index("concept_id")
    # coverage counts zeros: (2 + 0.5)/2, (1 + 0)/2, 0
    assert suite["coverage"].tolist() == [1.25, 0.5, 0.0]
    # performance skips benchmarks where it is undefined: (0.25 + 0.75)/2, 0.8, none
    assert suite["performance"].tolist() == pytest.approx([0.5, 0.8, math.nan], nan_ok=True)
    assert suite["lift"].tolist() == pytest.approx([-0.1, 0.3, math.nan], nan_ok=True)
    assert suite["n_benchmarks"].tolist() == [2, 1, 0]
    assert suite["n_examples"].tolist() == [6, 2, 0]
    assert suite["n_scored"].tolist() == [5, 2, 0]
    # Σa² is mass²/n_eff: 16/3.2 = 5 and 4/1 = 4, so (4+2)²/(5+4) = 4; 2²/(4/2) = 2; never fires: 0
    assert suite["n_eff"].tolist() == pytest.approx([4.0, 2.0, 0.0])
