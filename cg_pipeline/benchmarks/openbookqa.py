"""OpenBookQA: elementary science facts applied to new situations, without the book.

Mihaylov et al. (2018), Can a Suit of Armor Conduct Electricity? A New Dataset for Open Book
Question Answering, arXiv 1809.02789. Apache-2.0 (the hub page names none). 500 test questions.

A raw row:
    {"id": "8-1", "question_stem": "A lamp left on all night",
     "choices": {"text": ["uses energy", "makes sunlight", "eats air", "grows"],
                 "label": ["A", "B", "C", "D"]},
     "answerKey": "A"}

Quirks: a stem is a question or the start of a sentence; an answer key may have blanks around
it. The facts of the open book (configuration `additional`) are not shown.

Prompt as in lm-evaluation-harness (`openbookqa`): the stem alone. Scored per byte, its
acc_norm; its acc is `likelihood`. GPT-3 and others divide by the likelihood without the stem
(`likelihood_unconditional` after "Answer:").
"""

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item, LabelledChoices, labelled
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    id: str
    question_stem: str
    choices: LabelledChoices
    answerKey: str


def to_item(row: Row) -> Item:
    """The choices without their labels."""
    return Item(
        question=row["question_stem"],
        choices=tuple(row["choices"]["text"]),
        answers=(labelled(row["choices"], row["answerKey"].strip()),),
    )


BENCHMARK = Benchmark(
    name="openbookqa",
    title="OpenBookQA",
    scope="Elementary science: a known fact applied to a situation the book does not name.",
    licence="Apache-2.0",
    source=HubRows(
        repo="allenai/openbookqa",
        configs=("main",),
        split="test",
        revision="388097ea7776314e93a529163e0fea805b8a6454",
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="choice",
    scoring="likelihood_per_byte",
)
