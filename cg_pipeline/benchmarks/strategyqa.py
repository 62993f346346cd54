"""StrategyQA: yes/no questions whose steps of reasoning are not named.

Geva et al. (2021), Did Aristotle Use a Laptop? A Question Answering Benchmark with Implicit
Reasoning Strategies, arXiv 2101.02235. MIT. 687 questions held out of the training data by
the hub's repository, for the authors' test answers are not public.

A raw row:
    {"qid": "q1", "term": "Snail", "description": "Slow animal with a shell",
     "question": "Could a snail cross a football pitch within a minute?", "answer": false,
     "facts": "A pitch is about 100 metres long. A snail moves a metre in an hour."}

Quirks: `facts` and `description` give the answer away and are never shown.

Prompt `Question: … Answer:`, choices yes and no; the few-shot results with chains of thought
of the literature are another setting. Scored by likelihood.
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import question_answer
from cg_pipeline.items import Item, letter_index, pick
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    qid: str
    term: str
    description: str
    question: str
    answer: bool
    facts: str


def to_item(row: Row) -> Item:
    """The question and nothing that helps with it."""
    return _item(row["question"], "yes" if row["answer"] else "no")


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The question and nothing that helps with it: the source's fields hold its facts."""
    return _item(fields["question"], pick(fields["choices"], letter_index(fields["answer"])))


def _item(question: str, answer: str) -> Item:
    return Item(question=question, choices=("yes", "no"), answers=(answer,))


BENCHMARK = Benchmark(
    name="strategyqa",
    title="StrategyQA",
    scope="Yes/no questions that need several facts and an unnamed way to combine them.",
    licence="MIT",
    source=HubRows(
        repo="ChilleD/StrategyQA",
        split="test",
        revision="705562638fe1d8ca6bb98c66fc8f94d45fda8c83",
    ),
    row=Row,
    to_item=to_item,
    prompt=question_answer,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
