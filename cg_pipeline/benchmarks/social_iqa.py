"""Social IQa: what people feel, want and do in everyday situations.

Sap et al. (2019), Social IQa: Commonsense Reasoning about Social Interactions, arXiv
1904.09728. No licence stated. 1,954 validation questions; the test answers are not public.

A raw row:
    {"context": "Kim lent Lee a bike.", "question": "How would Lee feel afterwards?",
     "answerA": "grateful", "answerB": "robbed", "answerC": "hungry", "label": "1"}

Quirks: the original repository (`allenai/social_i_qa`) is a loading script; this is the
Parquet copy that lm-evaluation-harness reads too. Two of the three choices are equal in a few
rows.

Prompt as in lm-evaluation-harness (`social_iqa`). Scored by likelihood, its acc. Questions
about one situation share a cluster.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt, letter_index, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    context: str
    question: str
    answerA: str
    answerB: str
    answerC: str
    label: str


def to_item(row: Row) -> Item:
    """Labels count from 1."""
    choices = [row["answerA"], row["answerB"], row["answerC"]]
    return _item(row["context"], row["question"], choices, "123".find(row["label"]))


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Situation, question and choices."""
    answer = letter_index(fields["answer"])
    return _item(fields["context"], fields["question"], fields["choices"], answer)


def prompt(item: Item) -> Prompt:
    """`Q: situation question`, `A:`."""
    return Prompt(text=f"Q: {item.context} {item.question}\nA:")


def _item(context: str, question: str, choices: Sequence[str], answer: int) -> Item:
    return Item(
        context=context,
        question=question,
        choices=tuple(choices),
        answers=(pick(list(choices), answer),),
        cluster=content_id(context),
    )


BENCHMARK = Benchmark(
    name="social_iqa",
    title="Social IQa",
    scope="Motives, reactions and next steps of people in everyday situations.",
    licence="none stated",
    source=HubRows(
        repo="lighteval/siqa", split="validation", revision="54c6a1f8cb6daf4f5abf24a601852612fb35eb25"
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
