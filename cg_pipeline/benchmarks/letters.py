"""Letters and palindromes, multiple choice (embedded suite, Apache-2.0).

A raw row:
    {"category": "rhymes", "question": "Which word rhymes with cat?", "choices": ["hat", "cup"], "answer": 0}
"""

from cg_pipeline.formats import plain
from cg_pipeline.items import ChoiceRow, choice_item
from cg_pipeline.specs import Benchmark, LocalRows

BENCHMARK = Benchmark(
    name="letters",
    title="Letters and palindromes",
    scope="Spelling, letters inside words, alphabetical order, rhymes and palindromes.",
    licence="Apache-2.0",
    source=LocalRows(path="suite/letters.jsonl"),
    row=ChoiceRow,
    to_item=choice_item,
    prompt=plain,
    response="choice",
    scoring="likelihood_per_byte",
)
