"""Social situations: feelings, motives, manners, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "feelings", "situation": "Ana lost her keys.", "question": "How does she feel?",
     "choices": ["worried", "proud", "sleepy"], "answer": 0}
"""

from typing import TypedDict

from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark, LocalRows, pick


class Row(TypedDict):
    """One line of the file."""

    category: str
    situation: str
    question: str
    choices: list[str]
    answer: int


def to_example(row: Row) -> Example:
    """The situation, then the question."""
    return Example(
        benchmark="social",
        category=row["category"],
        cluster="",
        prompt=f"{row['situation']} {row['question']}",
        choices=tuple(row["choices"]),
        targets=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="social",
    title="Social situations",
    scope="What people feel, want and do next, and what good manners ask for.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/social.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
