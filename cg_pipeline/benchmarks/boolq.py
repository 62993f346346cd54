"""BoolQ: yes/no questions people asked a search engine, with a passage that answers them.

Clark et al. (2019), BoolQ: Exploring the Surprising Difficulty of Natural Yes/No
Questions, arXiv 1905.10044. CC-BY-SA-3.0. 3,270 validation questions.

A raw row:
    {"question": "is cork lighter than water", "answer": true,
     "passage": "Cork is a light bark tissue. It floats on water because of its low density."}

Quirks: questions are in lower case and have no question mark, which the prompt adds; files
that have one already lose it on reading. The same data in SuperGLUE (aps/super_glue), which
lm-evaluation-harness reads, puts the page's title before each passage; google/boolq does not.
62 % of the answers are yes.

Prompt as in lm-evaluation-harness (`boolq`), choices in its order: no, yes. Scored by
likelihood, its acc. Questions about one passage share a cluster.
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt, letter_index, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    answer: bool
    passage: str


def to_item(row: Row) -> Item:
    """No and yes are the choices."""
    return _item(row["question"], row["passage"], "yes" if row["answer"] else "no")


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Normalised questions end with a question mark."""
    answer = pick(fields["choices"], letter_index(fields["answer"]))
    return _item(fields["question"].removesuffix("?"), fields["context"], answer)


def prompt(item: Item) -> Prompt:
    """Passage, question with its mark, `Answer:`."""
    return Prompt(text=f"{item.context}\nQuestion: {item.question}?\nAnswer:")


def _item(question: str, passage: str, answer: str) -> Item:
    return Item(
        question=question,
        context=passage,
        choices=("no", "yes"),
        answers=(answer,),
        cluster=content_id(passage),
    )


BENCHMARK = Benchmark(
    name="boolq",
    title="BoolQ",
    scope="Reading comprehension: natural yes/no questions about a short encyclopedia passage.",
    licence="CC-BY-SA-3.0",
    source=HubRows(
        repo="google/boolq",
        split="validation",
        revision="35b264d03638db9f4ce671b711558bf7ff0f80d5",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
