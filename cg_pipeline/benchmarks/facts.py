"""Everyday facts, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "animals", "question": "What do cows eat?", "choices": ["grass", "coal"], "answer": 0}
"""

from typing import TypedDict

from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark, LocalRows, pick


class Row(TypedDict):
    """One line of the file."""

    category: str
    question: str
    choices: list[str]
    answer: int


def to_example(row: Row) -> Example:
    """The question as it stands; choices are compared by likelihood."""
    return Example(
        benchmark="facts",
        category=row["category"],
        cluster="",
        prompt=row["question"],
        choices=tuple(row["choices"]),
        targets=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="facts",
    title="Everyday facts",
    scope="Stable facts that most adults know, from animals to household things.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/facts.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
