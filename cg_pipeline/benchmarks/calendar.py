"""Calendar and time, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "weekdays", "question": "What follows Friday?", "choices": ["Mon", "Sat"], "answer": 1}
"""

from cg_pipeline.formats import plain
from cg_pipeline.items import ChoiceRow, choice_item
from cg_pipeline.specs import Benchmark, LocalRows

BENCHMARK = Benchmark(
    name="calendar",
    title="Calendar and time",
    scope="Weekdays, months, clock times, durations and schedules of daily life.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/calendar.jsonl"),
    row=ChoiceRow,
    to_item=choice_item,
    prompt=plain,
    response="choice",
    scoring="likelihood_per_byte",
)
