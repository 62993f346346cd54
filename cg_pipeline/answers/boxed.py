r"""The contents of `\boxed{…}`, with braces counted, for a regular expression cannot nest."""

import re

from cg_pipeline.answers.last import last_match

_OPEN = re.compile(r"\\f?boxed\s?\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def last_boxed(text: str) -> str | None:
    """What the last box holds, without boxes inside it; None when there is none or it is not closed."""
    opened = last_match(_OPEN, text)
    if opened is None:
        return None
    end = closing_brace(text, opened.end())
    return None if end is None else text[opened.end() : end].strip()


def has_open_box(text: str) -> bool:
    """Whether the last box is not closed: the text was cut inside it."""
    return _OPEN.search(text) is not None and last_boxed(text) is None


def closing_brace(text: str, start: int) -> int | None:
    """Place of the brace that closes the one before `start`; escaped braces do not count."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            return brace.start()
    return None
