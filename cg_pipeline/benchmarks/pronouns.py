"""Pronoun resolution by common sense, half of it in twins (embedded suite, Apache-2.0).

A raw row:
    {"category": "ability", "pair": "p000", "text": "Ben asked Tom for help, for he could not swim.",
     "question": "Who could not swim?", "choices": ["Ben", "Tom"], "answer": 0}
"""

from typing import TypedDict

from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark, LocalRows, pick


class Row(TypedDict):
    """One line of the file."""

    category: str
    pair: str
    text: str
    question: str
    choices: list[str]
    answer: int


def to_example(row: Row) -> Example:
    """The text, then the question; twins share a cluster."""
    return Example(
        benchmark="pronouns",
        category=row["category"],
        cluster=row["pair"],
        prompt=f"{row['text']} {row['question']}",
        choices=tuple(row["choices"]),
        targets=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="pronouns",
    title="Pronoun resolution",
    scope="Which of two or three things a pronoun stands for, decided by common sense.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/pronouns.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
