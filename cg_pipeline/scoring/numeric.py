"""One number in a generated answer, compared by value.

The number read is the last one after "answer is", "answer:" or "=" in the last sentence
that has such a marker, else the last number of the text. Thousands separators, currency
signs and units are ignored; "3 1/2" and "7/2" are 3.5.
"""

import re
from fractions import Fraction

from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy, grade

_NUMBER = re.compile(
    r"(?<![\w.,])-?(?:\d+\s+\d+/\d+|\d+/\d+|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(?!\d|/\d|,\d{3}|\.\d)"
)
_MARKER = re.compile(r"(?:answer\s*(?:is|:)|=)(.*)", re.IGNORECASE)


def read_number(text: str) -> Fraction | None:
    """The number an answer ends on, or None when there is none."""
    marked = [match for line in text.splitlines() for match in _MARKER.findall(line.rpartition("=")[1] and line or line)]
    for part in [*reversed([piece.rpartition("=")[2] for piece in marked]), text]:
        found = _NUMBER.findall(part.replace("−", "-").replace("$", ""))
        if found:
            return _value(found[-1])
    return None


def _value(text: str) -> Fraction | None:
    sign = -1 if text.startswith("-") else 1
    parts = text.lstrip("-").replace(",", "").split()
    try:
        return sign * sum((Fraction(part) for part in parts), Fraction(0))
    except ZeroDivisionError:
        return None


def score(example: Example, completion: Completion) -> Score:
    """1 when the number equals the target exactly; unscored when none is found or the text was cut short."""
    if completion.stop == "overflow":
        return grade(completion, None, reason="overflow")
    if completion.stop == "length":
        return grade(completion, None, reason="truncated")
    number = read_number(completion.text)
    if number is None:
        return grade(completion, None, reason="unparsed")
    return grade(completion, float(number == Fraction(example.targets[0])), answer=f"{float(number):g}")


POLICY = ScoringPolicy(name="numeric", score=score)
