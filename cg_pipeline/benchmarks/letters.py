"""Letters and palindromes, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "rhymes", "question": "Which word rhymes with cat?", "choices": ["hat", "cup"], "answer": 0}
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
        benchmark="letters",
        category=row["category"],
        cluster="",
        prompt=row["question"],
        choices=tuple(row["choices"]),
        targets=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="letters",
    title="Letters and palindromes",
    scope="Spelling, letters inside words, alphabetical order, rhymes and palindromes.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/letters.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
