"""Arena-Hard 2.0: hard prompts of software, mathematics and creative writing.

Li et al. (2024), From Crowdsourced Data to High-Quality Benchmarks: Arena-Hard and BenchBuilder
Pipeline, arXiv 2406.11939; second release 2025. Apache-2.0. 750 prompts.

A raw row:
    {"uid": "u1", "category": "hard_prompt", "subcategory": "coding",
     "prompt": "Write a program that finds the longest river in a list."}

Quirks: the category here is the subcategory, or the category where it is the narrower one
(creative writing). The repository is an archive of answers and verdicts without
configurations; one file of it holds the prompts.

The authors have a judge compare each answer with another model's. Those answers are not among
these rows, so a judge grades each answer from 1 to 10 instead. With a table of those answers, declare
a benchmark with the field `baseline` and `judge_pair` (`data/benchmarks/README.md`).
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One line of the hub's file."""

    uid: str
    category: str
    subcategory: str
    prompt: str


def to_item(row: Row) -> Item:
    """Three kinds of request are the categories."""
    kind = row["subcategory"] if row["category"] == "hard_prompt" else row["category"]
    return Item(category=kind, question=row["prompt"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The category is the kind already."""
    return Item(category=fields["category"], question=fields["question"])


# The names of its fields are from memory, not verified against the hub.
BENCHMARK = Benchmark(
    name="arena_hard_v2",
    title="Arena-Hard 2.0",
    scope="Helpful answers to hard requests of software, mathematics and creative writing.",
    licence="Apache-2.0",
    source=HubRows(
        repo="lmarena-ai/arena-hard-auto",
        split="train",
        revision="15f3746e21432264ce9b453999bde4f3c946d2e6",
        files=("data/arena-hard-v2.0/question.jsonl",),
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    from_normalised=from_normalised,
    response="generation",
    scoring="judge_answer",
    max_new_tokens=2048,
)
