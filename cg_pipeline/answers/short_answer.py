"""The short answer in a generated text: what it announces or boxes, else its first sentence.

A statement is taken apart (`answers.statements`): "The capital of France is Paris." answers with
Paris. Whatever is equal to a target then is right. What is not, is wrong as long as it is short
or its sides are. Prose far longer than every target, the opening of a reasoning or of a list, and a
sentence that has a target in it and more may well hold the answer, or not: they are not read.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from cg_pipeline.answers.boxed import boxed_words
from cg_pipeline.answers.markers import announced, first_sentence, goes_on_after_first_line
from cg_pipeline.answers.normal import normal_text, normal_words
from cg_pipeline.answers.own_part import own_part
from cg_pipeline.answers.statements import emphasised, names, sides, without_greeting

_LONGEST = 2000
_REASONING = re.compile(
    r"(?:let['’]?s|let (?:me|us)|first(?:ly)?,|to (?:find|answer|determine|solve|figure|get|identify)|step \d"
    r"|we (?:need|know|can|have|are|must|start)|i (?:need|will|have|should)|i['’]ll|hmm|wait|thinking"
    r"|the (?:question|passage|text)|this question|here (?:is|are)|based on|according to|looking at)\b",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,2}[.)]\s+\S")
_BESIDE = 2
"""Words besides a target's that make a text one that has a target in it and more."""
_FAR = 4
"""Words more than the longest target's, and twice as many, that make a text far longer than it."""


class ShortAnswer(NamedTuple):
    """A short answer that was read."""

    text: str
    is_a_target: bool
    settled: bool
    """Whether more text followed, so that a cut at the limit cannot have changed it."""


def read_short_answer(text: str, targets: Sequence[str], partly: bool = False) -> ShortAnswer | None:
    """The short answer; None when there is none, or prose in its place.

    `partly`: one that has a target in it and more is read as well, for it is worth a part.
    """
    sentence = short_answer(text)
    if not sentence:
        return None
    wanted, settled, parts = [normal_text(target) for target in targets], is_settled(text), sides(sentence)
    for said in (_place(text), *names(sentence), *parts):
        if normal_text(said) in wanted:
            return ShortAnswer(said, True, settled)
    said = emphasised(sentence) or _short_side(parts, wanted) or sentence
    starts = _NUMBERED.match(_first_line(own_part(text))) or (not parts and _REASONING.match(sentence))
    beside = _holds_one(sentence, wanted, 1) and not _holds_one(said, wanted, 0)
    if starts or beside or _is_prose(said, wanted) or (not partly and _holds_one(sentence, wanted, _BESIDE)):
        return None
    return ShortAnswer(said, False, settled)


def short_answer(text: str) -> str:
    """What is boxed, else the sentence after the last "answer is", else the first; empty when there is none.

    A line that ends with a colon, or is a heading, announces the next one. Of a longer one the first
    2,000 characters.
    """
    own = own_part(text)
    if boxed := boxed_words(own):
        return boxed[:_LONGEST]
    sentence = first_sentence(without_greeting(_place(text))).strip()
    return (sentence if announced(own) is None else _unpaired(sentence))[:_LONGEST]


def _place(text: str) -> str:
    """The line that an answer stands in, or what of it follows the announcement."""
    own = own_part(text)
    after = announced(own)
    return (_first_line(own) if after is None else after.partition("\n")[0])[:_LONGEST]


def is_settled(text: str) -> bool:
    """Whether a text cut at its limit had finished its short answer: something follows it."""
    said = own_part(text)
    after = announced(said)
    if after is None:
        return boxed_words(said) is not None or goes_on_after_first_line(text.rpartition("</think>")[2])
    return len(first_sentence(after)) < len(after)


def _unpaired(announced_text: str) -> str:
    """The text without the asterisks that close what was opened before it."""
    return announced_text.replace("**", "", 1).strip() if announced_text.count("**") % 2 else announced_text


def _first_line(said: str) -> str:
    """The first line that says something: no heading, and nothing that a colon ends."""
    lines = (line.strip() for line in said.split("\n"))
    return next(
        (line for line in lines if line and not line.startswith("#") and line.strip("*_ ")[-1:] != ":"), ""
    )


def _short_side(parts: Sequence[str], wanted: Sequence[str]) -> str | None:
    """The complement of a statement unless it is prose, else what else of it is as short as a target."""
    if parts and not _is_prose(parts[0], wanted):
        return parts[0]
    return next((part for part in parts if len(normal_words(part)) <= _longest(wanted) + 1), None)


def _longest(wanted: Sequence[str]) -> int:
    return max(len(words.split()) for words in wanted)


def _is_prose(said: str, wanted: Sequence[str]) -> bool:
    """Whether a text is far longer than every target."""
    longest = _longest(wanted)
    return len(normal_words(said)) > max(2 * longest, longest + _FAR)


def _holds_one(said: str, wanted: Sequence[str], beside: int) -> bool:
    """Whether a text has a target in it, and so many words besides or more."""
    words = normal_words(said)
    whole = f" {' '.join(words)} "
    return any(len(words) >= len(each.split()) + beside and f" {each} " in whole for each in wanted)
