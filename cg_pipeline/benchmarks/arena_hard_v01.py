"""Arena-Hard 0.1: five hundred hard prompts picked from Chatbot Arena.

Li et al. (2024), From Crowdsourced Data to High-Quality Benchmarks: Arena-Hard and BenchBuilder
Pipeline, arXiv 2406.11939. Apache-2.0. 500 prompts.

A raw row:
    {"question_id": "q1", "category": "arena-hard-v0.1", "cluster": "Rivers & Maps",
     "turns": [{"content": "Write a program that finds the longest river in a list."}]}

Quirks: `cluster` is a topic and becomes the category, two prompts a topic; `category` is the same
everywhere.

The authors have a judge compare each answer with GPT-4's. Their baseline answers are not among
these rows, so a judge grades each answer from 1 to 10 instead. With a table of those answers, declare
a benchmark with the field `baseline` and `judge_pair` (`data/benchmarks/README.md`).
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Turn(TypedDict):
    """What the user says."""

    content: str


class Row(TypedDict):
    """One row of the hub's Parquet file."""

    question_id: str
    category: str
    cluster: str
    turns: list[Turn]


def to_item(row: Row) -> Item:
    """All prompts have one turn."""
    if len(row["turns"]) != 1:
        raise ValueError(f"there are {len(row['turns'])} turns; expected one. Correct the row.")
    return Item(category=row["cluster"], question=row["turns"][0]["content"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The category is the topic already."""
    return Item(category=fields["category"], question=fields["question"])


BENCHMARK = Benchmark(
    name="arena_hard_v01",
    title="Arena-Hard 0.1",
    scope="Helpful answers to hard and specific requests of chat users.",
    licence="Apache-2.0",
    source=HubRows(
        repo="lmarena-ai/arena-hard-auto-v0.1",
        split="train",
        revision="2a69efe86cff85c593cfd4c2b4491c128e52c6f1",
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    from_normalised=from_normalised,
    response="generation",
    scoring="judge_answer",
    max_new_tokens=1024,
)
