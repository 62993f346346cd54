"""Formal logic in everyday words, yes or no (embedded suite, Apache-2.0).

A raw row:
    {"category": "modus_ponens", "premises": "If it rains, the match is off. It rains.",
     "question": "Is the match off?", "answer": "yes"}
"""

from typing import Literal, TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import Benchmark, LocalRows


class Row(TypedDict):
    """One line of the file."""

    category: str
    premises: str
    question: str
    answer: Literal["yes", "no"]


def to_item(row: Row) -> Item:
    """The two answers are the choices."""
    return Item(
        category=row["category"],
        context=row["premises"],
        question=row["question"],
        choices=("Yes", "No"),
        answers=(row["answer"].capitalize(),),
    )


def prompt(item: Item) -> Prompt:
    """Premises, then the question."""
    return Prompt(text=f"{item.context}\n{item.question} Answer yes or no.")


BENCHMARK = Benchmark(
    name="logic",
    title="Formal logic",
    scope="Whether a conclusion must follow from one to four premises.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/logic.jsonl"),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="choice",
    scoring="likelihood_per_byte",
)
