"""Formal logic in everyday words, yes or no (embedded suite, Apache-2.0).

A raw row:
    {"category": "modus_ponens", "premises": "If it rains, the match is off. It rains.",
     "question": "Is the match off?", "answer": "yes"}
"""

from typing import Literal, TypedDict

from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark, LocalRows


class Row(TypedDict):
    """One line of the file."""

    category: str
    premises: str
    question: str
    answer: Literal["yes", "no"]


def to_example(row: Row) -> Example:
    """Premises, then the question; the two answers are compared by likelihood."""
    return Example(
        benchmark="logic",
        category=row["category"],
        cluster="",
        prompt=f"{row['premises']}\n{row['question']} Answer yes or no.",
        choices=("Yes", "No"),
        targets=(row["answer"].capitalize(),),
    )


BENCHMARK = Benchmark(
    name="logic",
    title="Formal logic",
    scope="Whether a conclusion must follow from one to four premises.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/logic.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
