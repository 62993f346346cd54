"""DROP: counting, adding and comparing what a paragraph says.

Dua et al. (2019), DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over
Paragraphs, arXiv 1903.00161. CC-BY-SA-4.0. 9,536 validation questions about 582 paragraphs.

A raw row:
    {"section_id": "s1", "query_id": "q1", "passage": "Ada scored twice on 2 May 1950, Bea once.",
     "question": "How many goals more did Ada score than Bea?",
     "answer": {"number": "1", "date": {"day": "", "month": "", "year": ""}, "spans": [],
                "worker_id": "w", "hit_id": "h"},
     "validated_answers": {"number": ["1", ""], "date": [{"day": "", "month": "", "year": ""},
                           {"day": "", "month": "", "year": ""}], "spans": [[], ["one goal"]],
                           "worker_id": ["v", "u"], "hit_id": ["h", "h"]}}

Quirks: an answer is a number, a date or one or more spans; several spans are one answer, joined
by commas. What annotators gave besides is accepted too. Normalised files keep dates and spans
as Python wrote them. The category is the kind of the first answer.

Prompt as in lm-evaluation-harness (`drop`): paragraph and question, no more. It ends an answer
at the first full stop, which cuts 12.5 to 12; here an answer ends with its line. Published
results use 3 examples. Scored by F1 of tokens. Questions about one paragraph share a cluster.
"""

import ast
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import in_context
from cg_pipeline.items import Item
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows


class Date(TypedDict):
    """Parts of a date, empty where they are not known."""

    day: str
    month: str
    year: str


class Answer(TypedDict):
    """One answer: one of number, date and spans is filled."""

    number: str
    date: Date
    spans: list[str]
    worker_id: str
    hit_id: str


class MoreAnswers(TypedDict):
    """Further answers, field by field."""

    number: list[str]
    date: list[Date]
    spans: list[list[str]]
    worker_id: list[str]
    hit_id: list[str]


class Row(TypedDict):
    """One row of the hub's files."""

    section_id: str
    query_id: str
    passage: str
    question: str
    answer: Answer
    validated_answers: MoreAnswers


def to_item(row: Row) -> Item:
    """All answers that annotators gave, the first one first."""
    first, more = row["answer"], row["validated_answers"]
    found = [_answer(first["number"], first["date"], first["spans"])]
    found += map(_answer, more["number"], more["date"], more["spans"])
    answers = [text for _, text in found]
    return _item(row["question"], row["passage"], found[0][0], answers)


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Dates and spans are read back from Python's notation."""
    kind = fields["category"]
    return _item(fields["question"], fields["context"], kind, [_read(kind, a) for a in fields["answer"]])


def _item(question: str, passage: str, kind: str, answers: list[str]) -> Item:
    accepted = tuple(dict.fromkeys(answer for answer in answers if answer))
    if not accepted:
        raise ValueError(f"answers are {answers!r}; expected a number, a date or a span. Add one.")
    return Item(
        question=question, context=passage, answers=accepted, category=kind, cluster=content_id(passage)
    )


def _answer(number: str, date: Date, spans: list[str]) -> tuple[str, str]:
    """Kind and text."""
    if number:
        return "number", number
    if spans:
        return "span", ", ".join(spans)
    return "date", _dated(date)


def _dated(date: Date) -> str:
    return " ".join(part for part in (date["day"], date["month"], date["year"]) if part)


def _read(kind: str, text: str) -> str:
    """`{'day': '', 'month': 'May', 'year': '1950'}` as `May 1950`, `['a', 'b']` as `a, b`."""
    if kind == "number":
        return text
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise ValueError(
            f"answer of kind {kind!r} is {text!r}; expected a Python literal. Correct it."
        ) from None
    return _dated(value) if kind == "date" else ", ".join(value)


BENCHMARK = Benchmark(
    name="drop",
    title="DROP",
    scope="Counting, arithmetic, sorting and comparison over a paragraph about games or history.",
    licence="CC-BY-SA-4.0",
    source=HubRows(
        repo="EleutherAI/drop",
        split="validation",
        revision="619386fc7ffe6dace3cc6d3483c69b164ebf6bf3",
    ),
    row=Row,
    to_item=to_item,
    prompt=in_context,
    from_normalised=from_normalised,
    response="generation",
    scoring="token_f1",
    max_new_tokens=64,
    stop=("\n",),
)
