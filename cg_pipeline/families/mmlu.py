"""MMLU: its rows, its prompt and the line that names a subject, with and without worked examples."""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import lettered_lines, letters_for
from cg_pipeline.items import Item, Prompt, letter_index, pick
from cg_pipeline.records import content_id

REPO, REVISION = "cais/mmlu", "c30699e8356da336a370243923dbaf21066bb9fe"
_QUOTES = "This question refers to the following information."


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    subject: str
    choices: list[str]
    answer: int


def to_item(row: Row) -> Item:
    """The subject is the category."""
    return _item(row["subject"], row["question"], row["choices"], row["answer"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The category is the subject already."""
    answer = letter_index(fields["answer"])
    return _item(fields["category"], fields["question"], fields["choices"], answer)


def prompt(item: Item) -> Prompt:
    """The question and lettered choices."""
    return Prompt(
        text=f"{item.question.strip()}\n{lettered_lines(item.choices)}\nAnswer:",
        continuations=letters_for(item.choices),
    )


def header(subject: str) -> str:
    """What the questions are about, said once."""
    return (
        f"The following are multiple choice questions (with answers) about {subject.replace('_', ' ')}.\n\n"
    )


def source_quoted(question: str) -> str:
    """The source that a question quotes: all but its last line; empty when it quotes none."""
    return question.strip().rpartition("\n")[0] if question.lstrip().startswith(_QUOTES) else ""


def _item(subject: str, question: str, choices: list[str], answer: int) -> Item:
    source = source_quoted(question)
    return Item(
        category=subject,
        question=question,
        choices=tuple(choices),
        answers=(pick(choices, answer),),
        cluster=content_id(source) if source else "",
    )
