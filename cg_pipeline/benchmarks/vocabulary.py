"""Words in context, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "opposites", "question": "Opposite of hot?", "choices": ["cold", "warm"], "answer": 0}
"""

from cg_pipeline.formats import plain
from cg_pipeline.items import ChoiceRow, choice_item
from cg_pipeline.specs import Benchmark, LocalRows

BENCHMARK = Benchmark(
    name="vocabulary",
    title="Words in context",
    scope="Synonyms, opposites, idioms and the right word for a gap.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/vocabulary.jsonl"),
    row=ChoiceRow,
    to_item=choice_item,
    prompt=plain,
    response="choice",
    scoring="likelihood_per_byte",
)
