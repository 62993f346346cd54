"""Tables, rows and hostile texts that the tests of the store share."""

from typing import Any

import pandas as pd

from cg_pipeline.store.materialisations import Provenance
from cg_pipeline.store.tables import Column, Table

MADE = Provenance(fingerprint="f1", run_id="run", code_version="1", versions={"numpy": "2"})

HOSTILE_KEYS = ("o'brien", "x') or 1=1 --", "org/Model-7B", 'a"b', "\\", "$1 ?", "%", "モデル", "A", "a")

METRICS = Table(
    name="metrics",
    columns=(
        Column(name="model", type="VARCHAR", description="Model's name."),
        Column(name="benchmark", type="VARCHAR", description="Benchmark's name."),
        Column(name="coverage", type="DOUBLE", description='Coverage; 1 is "even".'),
        Column(name="accuracy", type="DOUBLE", description="Accuracy."),
        Column(name="n", type="BIGINT", description="Examples."),
        Column(name="note", type="VARCHAR", description="A note.", nullable=True),
    ),
    keys=("model", "benchmark"),
    description="Toy metrics; it's a table.",
)


def cell(model: str, benchmark: str) -> dict[str, str]:
    return {"model": model, "benchmark": benchmark}


def frame(model: str, benchmark: str, **columns: Any) -> pd.DataFrame:
    """Two rows of METRICS, with other values where given."""
    rows = {"coverage": [0.9, 0.8], "accuracy": [0.1, 0.2], "n": [1, 2], "note": ["a", None], **columns}
    return pd.DataFrame({"model": model, "benchmark": benchmark, **rows})
