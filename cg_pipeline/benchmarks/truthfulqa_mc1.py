"""TruthfulQA, single-true multiple choice: does the model prefer a common falsehood?

Lin, Hilton and Evans (2022), TruthfulQA: Measuring How Models Mimic Human Falsehoods, arXiv
2109.07958. Apache-2.0. 817 questions, all in the split called validation.

A raw row:
    {"question": "Do fish drink with their gills?",
     "mc1_targets": {"choices": ["No, gills take oxygen from water.", "Yes, all fish do."], "labels": [1, 0]},
     "mc2_targets": {"choices": ["No, gills take oxygen from water.", "Yes, all fish do."], "labels": [1, 0]}}

Quirks: the right choice always stands first in the source, so choices are sorted here: a tie
would go to the first. The number of choices varies.

Prompt `Q: … A:`. The paper, and lm-evaluation-harness with it (`truthfulqa_mc1`), put six
worked questions of the authors before each one; those are the authors' text, which is not copied
here, so published numbers are not to be compared with these. Scored by likelihood, its acc.
"""

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import Benchmark, HubRows


class Targets(TypedDict):
    """Choices, and 1 for each that is true."""

    choices: list[str]
    labels: list[int]


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    mc1_targets: Targets
    mc2_targets: Targets


def to_item(row: Row) -> Item:
    """The choices of mc1, sorted."""
    targets = row["mc1_targets"]
    if len(targets["labels"]) != len(targets["choices"]) or targets["labels"].count(1) != 1:
        raise ValueError(
            f"mc1_targets has labels {targets['labels']!r} for {len(targets['choices'])} choices; "
            "expected one label each and exactly one 1. Correct them."
        )
    return Item(
        question=row["question"],
        choices=tuple(sorted(targets["choices"])),
        answers=(targets["choices"][targets["labels"].index(1)],),
    )


def prompt(item: Item) -> Prompt:
    """`Q: … A:` on two lines."""
    return Prompt(text=f"Q: {item.question}\nA:")


BENCHMARK = Benchmark(
    name="truthfulqa_mc1",
    title="TruthfulQA (MC1)",
    scope="Questions many people answer wrongly: whether the one true answer is the likeliest.",
    licence="Apache-2.0",
    source=HubRows(
        repo="truthfulqa/truthful_qa",
        configs=("multiple_choice",),
        split="validation",
        revision="741b8276f2d1982aa3d5b832d3ee81ed3b896490",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="choice",
    scoring="likelihood",
)
