"""PIQA: which of two ways to reach an everyday goal makes physical sense.

Bisk et al. (2020), PIQA: Reasoning about Physical Commonsense in Natural Language, arXiv
1911.11641. AFL-3.0. 1,838 validation goals; the test split has no answers (label -1).

A raw row:
    {"goal": "Keep soup warm on a picnic.", "sol1": "Pour it into a flask.",
     "sol2": "Pour it into a basket.", "label": 0}

Quirks: the authors' own repository (ybisk/piqa) needs a loading script; baber/piqa is the
same in Parquet. The two ways often differ in one word.

Prompt as in lm-evaluation-harness (`piqa`). Scored per byte, its acc_norm; its acc is `likelihood`.
"""

from typing_extensions import TypedDict

from cg_pipeline.formats import question_answer
from cg_pipeline.items import Item, pick
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    goal: str
    sol1: str
    sol2: str
    label: int


def to_item(row: Row) -> Item:
    """The two solutions are the choices."""
    choices = [row["sol1"], row["sol2"]]
    return Item(question=row["goal"], choices=tuple(choices), answers=(pick(choices, row["label"]),))


BENCHMARK = Benchmark(
    name="piqa",
    title="PIQA",
    scope="Physical common sense: which of two ways reaches an everyday goal.",
    licence="AFL-3.0",
    source=HubRows(
        repo="baber/piqa",
        split="validation",
        revision="142f6d7367fd9877f0fb3b5734ea6a545f54cdd1",
    ),
    row=Row,
    to_item=to_item,
    prompt=question_answer,
    response="choice",
    scoring="likelihood_per_byte",
)
