"""One line of a JSON-lines file as a plain object, or a sentence saying what is wrong with it.

Stricter than JSON parsers are: a field stands once, numbers are finite and fit 64 bits,
texts have a sensible length and no character that cannot be stored.
"""

import json
import math
import reprlib
from collections import Counter
from typing import Any

MAX_TEXT_CHARACTERS = 100_000
"""Longest text of one field: about 25,000 tokens, more than any benchmark question needs."""

_LARGEST_NUMBER = 2**63 - 1
_DEEPEST = 8
_SHOW = reprlib.Repr()
_SHOW.maxlevel, _SHOW.maxstring, _SHOW.maxother = 3, 60, 60


def parse_line(line: bytes) -> dict[str, Any]:
    """The JSON object of a line.

    Raises:
        ValueError: the line is no UTF-8, no JSON, no object, or holds what a row may not hold.
    """
    try:
        row = json.loads(_text_of(line), object_pairs_hook=unique_fields, parse_int=bounded_integer)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"got {show(error.doc)}, not JSON at column {error.colno} ({error.msg}); "
            "expected one object per line. Correct it."
        ) from None
    except RecursionError:
        raise ValueError(
            f"got {show(line)}, nested too deep to read; expected a flat object. Flatten it."
        ) from None
    if not isinstance(row, dict):
        raise ValueError(f"got {show(row)}; expected a JSON object with the benchmark's fields. Correct it.")
    return checked(row)


def checked(row: dict[str, Any]) -> dict[str, Any]:
    """The row itself, or a `ValueError` that names what no row may hold."""
    for field, value in row.items():
        _check(field, value)
    return row


def show(value: object) -> str:
    """A value as Python would write it, on one line, a long one shortened in the middle."""
    return _SHOW.repr(value)


def _text_of(line: bytes) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = line[error.start : error.end].hex(" ")
        raise ValueError(
            f"byte {error.start + 1} is {found}, not UTF-8; expected text. Save the file as UTF-8."
        ) from None
    if "\x00" in text:
        raise ValueError(f"character {text.index(chr(0)) + 1} is a NUL byte; expected text. Remove it.")
    return text


def bounded_integer(digits: str) -> int | float:
    """For `json.loads`: an integer; one of very many digits as the float nearest to it, in no time."""
    return int(digits) if len(digits) <= 20 else float(digits)


def unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For `json.loads`: an object, refused if a field stands twice."""
    row = dict(pairs)
    if len(row) < len(pairs):
        field, count = Counter(name for name, _ in pairs).most_common(1)[0]
        values = show([value for name, value in pairs if name == field])
        raise ValueError(
            f"field {show(field)} is given {count} times, as {values}; expected once. Remove the others."
        )
    return row


def _check(field: str, value: Any, depth: int = 1) -> None:
    """Refuse what no row may hold, at any depth."""
    if isinstance(value, (list, dict)):
        if depth > _DEEPEST:
            raise ValueError(
                f"field {show(field)} is nested more than {_DEEPEST} levels deep; expected less. Flatten it."
            )
        for item in [*value, *value.values()] if isinstance(value, dict) else value:
            _check(field, item, depth + 1)
    elif fault := text_fault(value) if isinstance(value, str) else _number_fault(value):
        raise ValueError(f"field {show(field)} is {show(value)}{fault}")


def text_fault(text: str) -> str:
    """What is wrong with a text, to be said after it; empty where nothing is."""
    if len(text) > MAX_TEXT_CHARACTERS:
        return f" with {len(text):,} characters; expected at most {MAX_TEXT_CHARACTERS:,}. Shorten it."
    if "\x00" in text:
        return " with a NUL character; expected text. Remove it."
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return " with half of a surrogate pair; expected text. Remove it."
    return ""


def _number_fault(value: Any) -> str:
    if isinstance(value, (int, float)) and (math.isnan(value) or abs(value) > _LARGEST_NUMBER):
        return f"; expected a number of at most {_LARGEST_NUMBER:,} in size. Correct it."
    return ""
