"""A toy study written down: evidence anybody can read, and what the method made of it when last agreed on.

`evidence.csv` has a row per example: its score, empty where unscored, and the saliency of
eight concepts. c4 fires on nothing scored, c6 never, c7 alike on nearly everything. The other
files are results; `python -m tests.golden.toy` writes them anew, and their diff is the review.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from cg_pipeline import pipeline
from cg_pipeline.metrics import METRICS
from cg_pipeline.records import ConceptActivations, ConceptMetrics, Score, outcome_of
from cg_pipeline.specs import GapRules, Study
from tests.gaps.small_study import activations_of, concept

HERE = Path(__file__).parent
COMMAND = "python -m tests.golden.toy"
TABLES = ("concept_metrics", "suite_metrics", "gaps")
QUARANTINED = {5}
"""Measured like the others, never a gap, and counted where it is left out."""
STUDY = Study(
    name="toy",
    title="A toy study",
    models=("tiny",),
    benchmarks=("sums", "facts", "essays"),
    rules=GapRules(under_share=0.25, over_share=0.2, model_gap_share=0.3, min_n_eff=2.0),
)


def results() -> Mapping[str, pd.DataFrame]:
    """Every table of the toy study, by the name of its file."""
    evidence = pd.read_csv(HERE / "evidence.csv")
    measured = [_measure(name, rows) for name, rows in evidence.groupby("benchmark", sort=False)]
    concept_metrics = pd.concat(measured, ignore_index=True)
    suite = pipeline.summarise_suite(concept_metrics)
    concepts = [
        concept(number, f"c{number}", status="quarantined" if number in QUARANTINED else "alive")
        for number in range(len(suite))
    ]
    gaps = pipeline.find_gaps(suite, concept_metrics, concepts, STUDY)
    return {
        "concept_metrics": concept_metrics,
        "suite_metrics": suite.reset_index(drop=True),
        "gaps": pd.DataFrame([asdict(gap) for gap in gaps]),
    }


def _measure(benchmark: object, rows: pd.DataFrame) -> ConceptMetrics:
    name = str(benchmark)
    return pipeline.measure_concepts("tiny", name, _activations(rows), _scores(name, rows), METRICS, STUDY)


def _activations(rows: pd.DataFrame) -> ConceptActivations:
    return activations_of(rows.filter(regex=r"^c\d+$").to_numpy(np.float64), list(rows["example"]))


def _scores(benchmark: str, rows: pd.DataFrame) -> list[Score]:
    values = [None if np.isnan(value) else float(value) for value in rows["score"]]
    return [
        Score(
            model="tiny",
            benchmark=benchmark,
            example_id=example,
            outcome=outcome_of(value),
            value=value,
            reason="unparsed" if value is None else "",
        )
        for example, value in zip(rows["example"], values, strict=True)
    ]


def agreed(name: str) -> pd.DataFrame:
    """One table as it was last agreed on."""
    return pd.read_csv(HERE / f"{name}.csv", float_precision="round_trip")  # pyright: ignore[reportCallIssue, reportArgumentType]


if __name__ == "__main__":
    for name, table in results().items():
        table.to_csv(HERE / f"{name}.csv", index=False)
