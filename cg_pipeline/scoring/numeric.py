"""One number in a generated answer, compared by value.

The number read is the first one after the last "answer is", "answer:" or "=", else the
last number of the text. Thousands separators, currency signs and units are passed over;
"3 1/2" and "7/2" are 3.5. Endless digits, as small models sometimes write, are no number.
"""

import re
from fractions import Fraction

from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy, grade, unanswered

_LONGEST = 40
_MIXED = r"\d+ +\d+/\d+"
_FRACTION = r"\d+/\d+"
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"
_DECIMAL = r"\d*\.\d+|\d+"
_NUMBER = re.compile(
    rf"(?<![\w.])-?(?:{_MIXED}|{_FRACTION}|{_THOUSANDS}|{_DECIMAL})(?![\d/]|,\d{{3}}|\.\d)", re.ASCII
)
_GOES_ON = re.compile(r"[\s.,]*[^\s.,/\d]")
"""What shows that a number is over: "3." may become 3.5, and "12," may become 12,000."""
_MARKER = re.compile(r"answer\s*(?:is|:)|=", re.IGNORECASE)


def read_number(text: str) -> Fraction | None:
    """The number an answer ends on, or None when there is none."""
    plain = _plain(text)
    numbers = list(_NUMBER.finditer(plain))
    if not numbers:
        return None
    return _value((_after_marker(plain, numbers) or numbers[-1]).group())


def is_settled(text: str) -> bool:
    """Whether a text cut short had already given its number: after a marker, and gone on from there."""
    plain = _plain(text)
    found = _after_marker(plain, list(_NUMBER.finditer(plain)))
    return found is not None and _GOES_ON.match(plain, found.end()) is not None


def _plain(text: str) -> str:
    return text.replace("−", "-").replace("**", "")


def _after_marker(plain: str, numbers: list[re.Match[str]]) -> re.Match[str] | None:
    """The first number after the last marker."""
    last = max((match.end() for match in _MARKER.finditer(plain)), default=len(plain))
    return next((match for match in numbers if match.start() >= last), None)


def _value(text: str) -> Fraction | None:
    sign = -1 if text.startswith("-") else 1
    parts = text.lstrip("-").replace(",", "").split()
    if len(text) > _LONGEST:
        return None
    try:
        return sign * sum((Fraction(part) for part in parts), Fraction(0))
    except ZeroDivisionError:
        return None


def score(example: Example, completion: Completion) -> Score:
    """1 when the number equals the target exactly; unscored when none is found or it may be cut off."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if completion.stop == "length" and not is_settled(completion.text):
        return grade(completion, None, reason="truncated")
    number = read_number(completion.text)
    if number is None:
        return grade(completion, None, reason="unparsed")
    return grade(completion, float(number == Fraction(example.targets[0])), answer=f"{float(number):.12g}")


POLICY = ScoringPolicy(name="numeric", score=score)
