"""Arithmetic word problems with one number for an answer (embedded suite, Apache-2.0).

A raw row:
    {"category": "shopping", "question": "A mug costs 4 euros. What do three cost, in euros?", "answer": "12"}
"""

import re
from typing import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, LocalRows


class Row(TypedDict):
    """One line of the file."""

    category: str
    question: str
    answer: str


def to_item(row: Row) -> Item:
    """`answer` must be a number."""
    if not re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,10})?", row["answer"]):
        raise ValueError(
            f"answer is {row['answer']!r}; expected a number such as '12' or '3.5', of at most 15 digits. "
            "Correct it."
        )
    return Item(category=row["category"], question=row["question"], answers=(row["answer"],))


BENCHMARK = Benchmark(
    name="arithmetic",
    title="Arithmetic word problems",
    scope="Everyday word problems of one or two steps with small numbers.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/arithmetic.jsonl"),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="numeric",
    max_new_tokens=20,
    opening="The answer is",
)
