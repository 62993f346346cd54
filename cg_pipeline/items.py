"""A benchmark row in normal form, and the prompt made of it.

Wherever rows come from (the hub, a directory of benchmark files, a user's table), they meet
here: a benchmark turns its own rows into items, and an item into a prompt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import TypedDict

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""What choices are called, in their order."""


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
    """For each choice the text it follows, where they differ (a filled blank); empty: all follow `text`.

    A model is then given these alone, as raw text even if it chats: `text` is for the reader.
    """


def pick(choices: list[str], answer: int) -> str:
    """The choice with index `answer`, or a `ValueError` that says which indices there are."""
    if not choices:
        raise ValueError("choices are []; expected two or more texts. Add them.")
    if not 0 <= answer < len(choices):
        raise ValueError(f"answer is {answer}; expected an index from 0 to {len(choices) - 1}. Correct it.")
    return choices[answer]


class NormalisedRow(TypedDict):
    """One line of a directory of benchmark files, whatever the benchmark."""

    item_id: str
    question: str
    choices: list[str] | None
    answer: str | list[str] | None
    """The letter of a choice, a text, every accepted text, or null where a judge or checker decides."""
    context: str | None
    category: str | None
    source_fields: dict[str, Any]
    """What the source says besides."""


def normalised_item(row: Mapping[str, Any]) -> Item:
    """The item of a `NormalisedRow`: a letter becomes the choice it names, `source_fields` the details."""
    choices, answer = tuple(row["choices"] or ()), row["answer"]
    texts = () if answer is None else (answer,) if isinstance(answer, str) else tuple(answer)
    return Item(
        question=row["question"],
        choices=choices,
        answers=tuple(named(choices, letter) for letter in texts) if choices else texts,
        context=row["context"] or "",
        category=row["category"],
        details=row["source_fields"],
    )


def named(choices: tuple[str, ...], letter: str) -> str:
    """The choice that a letter from A names, or a `ValueError` that says which letters there are."""
    known = LETTERS[: len(choices)]
    if len(letter) != 1 or letter not in known:
        raise ValueError(f"answer is {letter!r}; expected a letter from A to {known[-1:]}. Correct it.")
    return choices[known.index(letter)]


def letter_index(letter: object) -> int:
    """The index from 0 that a single letter from A names; a `ValueError` for anything else."""
    if not isinstance(letter, str) or len(letter) != 1 or letter not in LETTERS:
        raise ValueError(f"answer is {letter!r}; expected one letter from A on. Correct it.")
    return LETTERS.index(letter)


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


class LabelledChoices(TypedDict):
    """Choices as the hub keeps them where they carry labels (A, B, … or 1, 2, …)."""

    text: list[str]
    label: list[str]


def labelled(choices: LabelledChoices, key: str) -> str:
    """The choice whose label is `key`, or a `ValueError` that says which labels there are."""
    if key not in choices["label"]:
        raise ValueError(f"answer is {key!r}; expected one of the labels {choices['label']!r}. Correct it.")
    return pick(choices["text"], choices["label"].index(key))


class LabelledRow(TypedDict):
    """The hub's plainest row with labelled choices; a benchmark with others declares its own."""

    id: str
    question: str
    choices: LabelledChoices
    answerKey: str


def labelled_item(row: LabelledRow) -> Item:
    """The item of a `LabelledRow`: the choices without their labels."""
    return Item(
        question=row["question"],
        choices=tuple(row["choices"]["text"]),
        answers=(labelled(row["choices"], row["answerKey"]),),
    )
