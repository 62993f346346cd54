"""Everyday facts, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "animals", "question": "What do cows eat?", "choices": ["grass", "coal"], "answer": 0}
"""

from cg_pipeline.formats import plain
from cg_pipeline.items import ChoiceRow, choice_item
from cg_pipeline.specs import Benchmark, LocalRows

BENCHMARK = Benchmark(
    name="facts",
    title="Everyday facts",
    scope="Stable facts that most adults know, from animals to household things.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/facts.jsonl"),
    row=ChoiceRow,
    to_item=choice_item,
    prompt=plain,
    response="choice",
    scoring="likelihood_per_byte",
)
