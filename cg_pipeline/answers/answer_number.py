"""The number that a generated text gives as its answer."""

import re
from fractions import Fraction

from cg_pipeline.answers.boxed import last_boxed
from cg_pipeline.answers.markers import announced, first_sentence
from cg_pipeline.answers.numbers import Number, numbers_in, plain
from cg_pipeline.answers.own_part import own_part

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
    own = own_part(text)
    if (boxed := last_boxed(own)) is not None:
        return _result(plain(boxed)), True
    if after := announced(own):
        said = plain(first_sentence(after))
        found = _result(said)
        whole = len(first_sentence(after)) < len(after)
        return found, found is not None and (whole or _goes_on(said[found.end :]))
    said = plain(own)
    numbers = numbers_in(said)
    if not numbers:
        return None, False
    line_start = said.rfind("\n", 0, numbers[-1].start) + 1
    equals = said.rfind("=", line_start)
    found = next((number for number in numbers if number.start > equals >= 0), None)
    return (numbers[-1], False) if found is None else (found, _goes_on(said[found.end :]))


def _goes_on(rest: str) -> bool:
    """Whether what follows a number shows that it had ended: "3." may become 3.5, "12," may become 12,000."""
    return _GONE_ON.match(rest) is not None


def _result(said: str) -> Number | None:
    """The first number of a sentence, or of what follows the last "=" in it."""
    numbers, equals = numbers_in(said), said.rfind("=")
    after = [number for number in numbers if number.start > equals]
    return next(iter(after or numbers), None)
