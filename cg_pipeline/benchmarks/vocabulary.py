"""Words in context, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "opposites", "question": "Opposite of hot?", "choices": ["cold", "warm"], "answer": 0}
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
        benchmark="vocabulary",
        category=row["category"],
        cluster="",
        prompt=row["question"],
        choices=tuple(row["choices"]),
        targets=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="vocabulary",
    title="Words in context",
    scope="Synonyms, opposites, idioms and the right word for a gap.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/vocabulary.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
