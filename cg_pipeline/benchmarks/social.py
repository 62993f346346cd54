"""Social situations: feelings, motives, manners, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "feelings", "situation": "Ana lost her keys.", "question": "How does she feel?",
     "choices": ["worried", "proud", "sleepy"], "answer": 0}
"""

from typing import TypedDict

from cg_pipeline.formats import in_context
from cg_pipeline.items import Item, pick
from cg_pipeline.specs import Benchmark, LocalRows


class Row(TypedDict):
    """One line of the file."""

    category: str
    situation: str
    question: str
    choices: list[str]
    answer: int


def to_item(row: Row) -> Item:
    """The situation is the context."""
    return Item(
        category=row["category"],
        context=row["situation"],
        question=row["question"],
        choices=tuple(row["choices"]),
        answers=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="social",
    title="Social situations",
    scope="What people feel, want and do next, and what good manners ask for.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/social.jsonl"),
    row=Row,
    to_item=to_item,
    prompt=in_context,
    response="choice",
    scoring="likelihood_per_byte",
)
