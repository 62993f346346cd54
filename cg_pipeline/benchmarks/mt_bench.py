"""MT-Bench: eighty requests of eight kinds, graded by a judge.

Zheng et al. (2023), Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, arXiv 2306.05685.
Apache-2.0. 80 conversations of two turns.

A raw row:
    {"prompt": ["A train leaves at 9 and rides for 3 hours. When does it arrive?", "And if it stops?"],
     "prompt_id": 1, "category": "math", "reference": ["At 12.", "Later."]}

Quirks: only the first turn is asked, so scores are not comparable with those of the table.
Reference answers, GPT-4's, are there for mathematics, reasoning, code and some others; the first
one goes to the judge.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet file."""

    prompt: list[str]
    prompt_id: int
    category: str
    reference: list[str]


def to_item(row: Row) -> Item:
    """The first turn and what the judge compares with."""
    if not row["prompt"]:
        raise ValueError("prompt is []; expected the user's turns. Add them.")
    return _item(row["prompt"][0], row["category"], row["reference"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The question is the first turn."""
    return _item(fields["question"], fields["category"], fields["source_fields"]["reference"] or ())


def _item(question: str, category: str, references: Sequence[str]) -> Item:
    return Item(
        category=category,
        question=question,
        details={"reference": references[0]} if references else {},
    )


BENCHMARK = Benchmark(
    name="mt_bench",
    title="MT-Bench",
    scope="Helpful answers in writing, roleplay, reasoning, mathematics, code, extraction and sciences.",
    licence="Apache-2.0",
    source=HubRows(
        repo="HuggingFaceH4/mt_bench_prompts",
        split="train",
        revision="e3a795c5e9a82ee40611c416b8a7786c73198991",
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    from_normalised=from_normalised,
    response="generation",
    scoring="judge_answer",
    max_new_tokens=1024,
)
