"""Pronoun resolution by common sense, half of it in twins (embedded suite, Apache-2.0).

A raw row:
    {"category": "ability", "pair": "p000", "text": "Ben asked Tom for help, for he could not swim.",
     "question": "Who could not swim?", "choices": ["Ben", "Tom"], "answer": 0}
"""

from typing import TypedDict

from cg_pipeline.formats import in_context
from cg_pipeline.items import Item, pick
from cg_pipeline.specs import Benchmark, LocalRows


class Row(TypedDict):
    """One line of the file."""

    category: str
    pair: str
    text: str
    question: str
    choices: list[str]
    answer: int


def to_item(row: Row) -> Item:
    """Twins share a cluster."""
    return Item(
        category=row["category"],
        cluster=row["pair"],
        context=row["text"],
        question=row["question"],
        choices=tuple(row["choices"]),
        answers=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="pronouns",
    title="Pronoun resolution",
    scope="Which of two or three things a pronoun stands for, decided by common sense.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/pronouns.jsonl"),
    row=Row,
    to_item=to_item,
    prompt=in_context,
    response="choice",
    scoring="likelihood_per_byte",
)
