"""GPQA: questions that experts of biology, chemistry and physics wrote to resist a web search.

Rein et al. (2023), GPQA: A Graduate-Level Google-Proof Q&A Benchmark, arXiv 2311.12022.
CC-BY-4.0. 448 questions (`gpqa_main`); `gpqa_diamond` is a part of 198 of them.

A raw row:
    {"Question": "Which gas do plants take up for photosynthesis?", "Correct Answer": "Carbon dioxide",
     "Incorrect Answer 1": "Oxygen", "Incorrect Answer 2": "Argon", "Incorrect Answer 3": "Helium",
     "High-level domain": "Biology"}

Quirks: gated, so that questions do not reach training data: no row may be published, nor an
example shown in plain text. It is CSV with some fifty more columns, which are not read. The
right answer has a column of its own, so choices need an order: here it is that of a hash of
question and choice, the same on every machine and unrelated to which is right.

Prompt as in lm-evaluation-harness (`gpqa_main_zeroshot`), which shuffles choices anew in each
run. Like it, everything in square brackets is taken out of the choices, for the markers of web
pages; that takes the brackets of some formulas as well. Letters in brackets are compared by likelihood.
"""

from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.families.web_pages import without_markers
from cg_pipeline.formats import letters_for
from cg_pipeline.items import Item, Prompt
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows

Row = TypedDict(
    "Row",
    {
        "Question": str,
        "Correct Answer": str,
        "Incorrect Answer 1": str,
        "Incorrect Answer 2": str,
        "Incorrect Answer 3": str,
        "High-level domain": str,
    },
)
"""Columns of the hub's table that are read."""


def to_item(row: Row) -> Item:
    """Four choices in an order that says nothing about which is right."""
    question, right = row["Question"].strip(), without_markers(row["Correct Answer"])
    wrong = (row["Incorrect Answer 1"], row["Incorrect Answer 2"], row["Incorrect Answer 3"])
    choices = sorted([right, *map(without_markers, wrong)], key=lambda choice: content_id(question, choice))
    return Item(
        category=row["High-level domain"], question=question, choices=tuple(choices), answers=(right,)
    )


def from_normalised(fields: Any) -> Item:
    """Nobody may hand GPQA on: a directory of benchmark files cannot hold it."""
    raise ValueError(
        f"row {fields.get('item_id', '')!r} is of GPQA, which must not be handed on; "
        "expected it from the hub alone. Remove it from the directory."
    )


def prompt(item: Item) -> Prompt:
    """The question and its choices with letters in brackets, which are compared."""
    letters = [f"({letter})" for letter in letters_for(item.choices)]
    lines = [f"{letter} {choice}" for letter, choice in zip(letters, item.choices, strict=True)]
    return Prompt(
        text="\n".join([f"What is the correct answer to this question:{item.question}", "Choices:", *lines])
        + "\nAnswer:",
        continuations=tuple(letters),
    )


BENCHMARK = Benchmark(
    name="gpqa",
    title="GPQA",
    scope="Biology, chemistry and physics at the level of doctoral students.",
    licence="CC-BY-4.0, gated",
    source=HubRows(
        repo="Idavidrein/gpqa",
        configs=("gpqa_main",),
        split="train",
        revision="633f5ee89ab8ad4522a9f850766b73f62147ffdd",
        gated="not to reveal examples of the data set in plain text or images online",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
