"""A benchmark row in normal form, and the prompt made of it.

Wherever rows come from (the hub, a directory of benchmark files, a user's table), they meet
here: a benchmark turns its own rows into items, and an item into a prompt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypedDict


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What one row asks, in words, without any prompt format."""

    question: str
    """The question, instruction or text to go on with."""
    choices: tuple[str, ...] = ()
    """Texts to choose from; empty for an open answer."""
    answers: tuple[str, ...] = ()
    """Right answers: one of the choices, or every accepted text, first the canonical one.

    Empty where a judge or a checker decides.
    """
    context: str = ""
    """What the question is about: a passage, a situation."""
    category: str | None = None
    """What the author says it is about; None when the benchmark has no categories."""
    cluster: str = ""
    """Shared by items that are not independent; empty when the item stands alone."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What scoring needs besides the answers; JSON values only."""
    worked: str = ""
    """The answer written out, shown where the item is a worked example; empty: the canonical answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What is put to the model, and what is compared where a choice has to be made."""

    text: str
    """Without chat template. This is also what the reader SAE reads."""
    continuations: tuple[str, ...] = ()
    """For each choice the text whose likelihood counts, where it is not the choice itself (a letter)."""
    stems: tuple[str, ...] = ()
    """For each choice the text it follows, where they differ (a filled blank); empty: all follow `text`."""


def pick(choices: list[str], answer: int) -> str:
    """The choice with index `answer`, or a `ValueError` that says which indices there are."""
    if not choices:
        raise ValueError("choices are []; expected two or more texts. Add them.")
    if not 0 <= answer < len(choices):
        raise ValueError(f"answer is {answer}; expected an index from 0 to {len(choices) - 1}. Correct it.")
    return choices[answer]


class ChoiceRow(TypedDict):
    """The plainest row with choices; a benchmark with others declares its own."""

    category: str
    question: str
    choices: list[str]
    answer: int


def choice_item(row: ChoiceRow) -> Item:
    """The item of a `ChoiceRow`."""
    return Item(
        category=row["category"],
        question=row["question"],
        choices=tuple(row["choices"]),
        answers=(pick(row["choices"], row["answer"]),),
    )
