"""Calendar and time, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "weekdays", "question": "What follows Friday?", "choices": ["Mon", "Sat"], "answer": 1}
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
        benchmark="calendar",
        category=row["category"],
        cluster="",
        prompt=row["question"],
        choices=tuple(row["choices"]),
        targets=(pick(row["choices"], row["answer"]),),
    )


BENCHMARK = Benchmark(
    name="calendar",
    title="Calendar and time",
    scope="Weekdays, months, clock times, durations and schedules of daily life.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/calendar.jsonl"),
    row=Row,
    to_example=to_example,
    response="choice",
    scoring="likelihood_per_byte",
)
