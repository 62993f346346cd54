"""The number that a generated text gives as its answer.

It is the one in its last box, or else the one that the sentence gives which announces the answer,
or else the one of the last sentence that has any; there the last number counts when that sentence
gives none by itself. How a sentence gives one is told in `said_number`.
"""

import re
from fractions import Fraction

from cg_pipeline.answers.boxed import last_boxed
from cg_pipeline.answers.markers import SENTENCE_END, announced, first_sentence
from cg_pipeline.answers.numbers import Number, numbers_in, plain
from cg_pipeline.answers.own_part import own_part
from cg_pipeline.answers.said_number import opens_with, said_number

_OR = re.compile(r"(?:\s?\w{1,12})?,?\sor\s(?:maybe\s|perhaps\s|possibly\s)?")
_CALCULATOR = re.compile(r"<<[^<>\n]{0,200}>>")
"""Notes of GSM8K's solutions, which repeat the equation that they stand in."""
_GONE_ON = re.compile(r"[\s.,/^]*[^\s.,/^\d]")


def readings(text: str) -> tuple[Fraction, ...]:
    """What the number may mean: "5 %" is 5 and 1/20; empty when there is none."""
    found = _find(text)[0]
    return found.readings if found else ()


def is_settled(text: str) -> bool:
    """Whether a text cut short had given its number: announced or after "=", and gone on from there."""
    found, settled = _find(text)
    return found is not None and settled


def _find(text: str) -> tuple[Number | None, bool]:
    own = _CALCULATOR.sub("", own_part(text))
    if (boxed := last_boxed(own)) is not None:
        return said_number(plain(boxed)), True
    if after := announced(own):
        return _announced(after)
    return _last(plain(own))


def _announced(after: str) -> tuple[Number | None, bool]:
    """The number of the sentence that announces it, unless it is a step and later sentences give another."""
    sentence = first_sentence(after)
    said, rest = plain(sentence), plain(after[len(sentence) :])
    found = said_number(said, announced=True)
    if found is None:
        return None, False
    if not opens_with(said, found) and (later := _last(rest)[0]) and later.value != found.value:
        return None, False
    return found, bool(rest) or _goes_on(said[found.end :])


def _last(said: str) -> tuple[Number | None, bool]:
    """The number of the last sentence that has any."""
    numbers = numbers_in(said)
    if not numbers:
        return None, False
    sentence = said[_sentence_start(said, numbers[-1].start) :]
    if (found := said_number(sentence)) is None:
        return (None if _is_alternative(said, numbers) else numbers[-1]), False
    return found, "=" in sentence[: found.start] and _goes_on(sentence[found.end :])


def _sentence_start(said: str, place: int) -> int:
    """Where the sentence or line begins in which a place lies."""
    ends = [end.end() for end in SENTENCE_END.finditer(said, 0, place)]
    return ends[-1] if ends else 0


def _is_alternative(said: str, numbers: list[Number]) -> bool:
    """Whether the last two numbers are alternatives: "5 or 6"."""
    return len(numbers) > 1 and _OR.fullmatch(said, numbers[-2].end, numbers[-1].start) is not None


def _goes_on(rest: str) -> bool:
    """Whether what follows a number shows that it had ended: "3." may become 3.5, "12," may become 12,000."""
    return _GONE_ON.match(rest) is not None
