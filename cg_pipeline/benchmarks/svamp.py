"""SVAMP: one-step arithmetic word problems, varied so that shallow cues mislead.

Patel, Bhattamishra and Goyal (2021), Are NLP Models really able to Solve Simple Math Word
Problems?, arXiv 2103.07191. MIT. 300 test problems.

A raw row:
    {"ID": "chal-1", "Body": "Ann has 9 pears. She eats 2.0 of them", "Question": "How many are left?",
     "Equation": "( 9.0 - 2.0 )", "Answer": "7.0", "Type": "Subtraction",
     "question_concat": "Ann has 9 pears. She eats 2.0 of them How many are left?"}

Quirks: answers are written with a decimal point although all are whole, and the types are
misspelt here and there; the category is read from the equation. A problem without a full
stop at the end of its body stays without one.

Prompt `Question: … Answer:`; the last number of the answer counts.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import question_answer
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows

_OPERATIONS = {"+": "addition", "-": "subtraction", "*": "multiplication", "/": "division"}


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    ID: str
    Body: str
    Question: str
    Equation: str
    Answer: str
    Type: str
    question_concat: str


def to_item(row: Row) -> Item:
    """Body and question make one text."""
    return _item(f"{row['Body'].strip()} {row['Question'].strip()}", row["Answer"], row["Equation"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The equation is among the source's fields."""
    return _item(fields["question"], fields["answer"], fields["source_fields"]["equation"])


def _item(question: str, answer: str, equation: str) -> Item:
    return Item(question=question, answers=(_shortest(answer),), category=_operation(equation))


def _shortest(answer: str) -> str:
    """`7.0` as `7`, and `7.5` as it is."""
    number = Fraction(answer)
    return str(number) if number.denominator == 1 else answer


def _operation(equation: str) -> str:
    """The one operation of an equation, or `mixed`; a minus right before a digit is a sign."""
    found = set(re.findall(r"[+*/]|-(?!\d)", equation))
    return _OPERATIONS[found.pop()] if len(found) == 1 else "mixed"


BENCHMARK = Benchmark(
    name="svamp",
    title="SVAMP",
    scope="Word problems of one or two steps with small numbers and distracting quantities.",
    licence="MIT",
    source=HubRows(
        repo="ChilleD/SVAMP",
        split="test",
        revision="5e0bf1e5e7c0e9c4bc39180d224f41f3f801b7ef",
    ),
    row=Row,
    to_item=to_item,
    prompt=question_answer,
    from_normalised=from_normalised,
    response="generation",
    scoring="numeric",
    max_new_tokens=256,
    stop=("\nQuestion:",),
)
