"""CommonsenseQA: everyday questions with five choices that lie close together.

Talmor et al. (2019), CommonsenseQA: A Question Answering Challenge Targeting Commonsense
Knowledge, arXiv 1811.00937. MIT. 1,221 validation questions; the test split has no answers.

A raw row:
    {"id": "a1", "question": "Where would you keep milk?", "question_concept": "milk",
     "choices": {"label": ["A", "B", "C", "D", "E"], "text": ["shelf", "fridge", "car", "well", "sink"]},
     "answerKey": "B"}

Quirks: about one row in seventy names the same choice twice; never the right one.

Prompt as in lm-evaluation-harness (`commonsense_qa`): lettered choices, and the letters
compared. Scored by likelihood, its acc.
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import lettered_lines, letters_for
from cg_pipeline.items import Item, LabelledChoices, Prompt, labelled, letter_index, pick
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    id: str
    question: str
    question_concept: str
    choices: LabelledChoices
    answerKey: str


def to_item(row: Row) -> Item:
    """The choices without their labels."""
    return _item(row["question"], row["choices"]["text"], labelled(row["choices"], row["answerKey"]))


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The source's concept and id are no part of what is asked."""
    choices = fields["choices"]
    return _item(fields["question"], choices, pick(choices, letter_index(fields["answer"])))


def prompt(item: Item) -> Prompt:
    """`Question: …`, one lettered choice per line, `Answer:`."""
    text = f"Question: {item.question}\n{lettered_lines(item.choices)}\nAnswer:"
    return Prompt(text=text, continuations=letters_for(item.choices))


def _item(question: str, choices: list[str], answer: str) -> Item:
    return Item(question=question.strip(), choices=tuple(choices), answers=(answer,))


BENCHMARK = Benchmark(
    name="commonsense_qa",
    title="CommonsenseQA",
    scope="Everyday knowledge: which of five related things fits a question best.",
    licence="MIT",
    source=HubRows(
        repo="tau/commonsense_qa",
        split="validation",
        revision="94630fe30dad47192a8546eb75f094926d47e155",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
