"""LogiQA: logical reasoning about a short text, from Chinese civil-service examinations.

Liu et al. (2020), LogiQA: A Challenge Dataset for Machine Reading Comprehension with Logical
Reasoning, arXiv 2007.08124. The authors' repository states no licence. 651 test questions,
translated into English.

A raw row:
    {"context": "All tools in the shed are rusty. The rake is in the shed.",
     "query": "Which follows?",
     "options": ["A. The rake is rusty.", "B. The shed is old.", "C. Rakes rust.", "D. No tool is new."],
     "correct_option": 0}

Quirks: the hub's repositories need a loading script (EleutherAI/logiqa, which
lm-evaluation-harness reads, and lucasmccabe/logiqa alike); the revision here is one that the
hub converted to Parquet. An option may repeat its own letter, which is dropped.

Prompt as in lm-evaluation-harness (`logiqa`): lettered options shown, their texts compared.
Scored per byte, its acc_norm; its acc is `likelihood`. Questions about one text share a cluster.
"""

# revision not verified against the hub

import re

from typing_extensions import TypedDict

from cg_pipeline.formats import LETTERS, lettered_lines
from cg_pipeline.items import Item, Prompt, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    context: str
    query: str
    options: list[str]
    correct_option: int


def to_item(row: Row) -> Item:
    """Options without their letters."""
    options = [_unlettered(letter, text) for letter, text in zip(LETTERS, row["options"], strict=False)]
    return Item(
        context=row["context"],
        question=row["query"],
        choices=tuple(options),
        answers=(pick(options, row["correct_option"]),),
        cluster=content_id(row["context"]),
    )


def prompt(item: Item) -> Prompt:
    """Passage, question, lettered choices, `Answer:`."""
    return Prompt(
        text=f"Passage: {item.context}\nQuestion: {item.question}\n"
        f"Choices:\n{lettered_lines(item.choices)}\nAnswer:"
    )


def _unlettered(letter: str, text: str) -> str:
    return re.sub(rf"^\s*{letter}\s*[.．]\s*", "", text)


BENCHMARK = Benchmark(
    name="logiqa",
    title="LogiQA",
    scope="Deduction, sufficiency and weakening of arguments in a short text, four options.",
    licence="not stated",
    source=HubRows(
        repo="lucasmccabe/logiqa",
        split="test",
        revision="fa9f9918fa81eca088805c1395d7f592f7755ae0",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="choice",
    scoring="likelihood_per_byte",
)
