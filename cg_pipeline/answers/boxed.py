r"""The contents of `\boxed{…}`, with braces counted, for a regular expression cannot nest.

A box is written `\boxed{5}`, `\fbox{5}` or, before one term, `\boxed 5`. Boxes that nothing but
a comma, "and" or "or" parts are one answer: "$\boxed{5}$ and $\boxed{-3}$" gives both solutions.
"""

import re
from collections.abc import Iterator

_OPEN = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s{0,3}")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_TERM = re.compile(r"[^\s$]+(?=[\s$])")
_WORDS = re.compile(r"\\(?:text|mathrm|textbf|mathbf)\s?\{([^{}]{0,200})\}")
_BETWEEN = re.compile(
    r"(?:[\s$]|\\[()\[\],;: ]|\\q?quad)*(?:[,;]|(?:,\s*)?(?:\\text\s?\{\s*(?:and|or)\s*\}|and|or))"
    r"(?:[\s$]|\\[()\[\],;: ]|\\q?quad)*(?:[A-Za-z]\s?=\s?)?"
)
_LONGEST_BETWEEN = 40


def last_boxed(text: str) -> str | None:
    """What the last box holds, and those joined to it, without boxes inside it.

    None when there is none or it is not closed.
    """
    return ", ".join(boxes) if (boxes := last_boxes(text)) else None


def boxed_words(text: str) -> str | None:
    r"""What the last box says, without the `\text{…}` around its words."""
    boxed = last_boxed(text)
    return None if boxed is None else _WORDS.sub(r"\1", boxed)


def last_boxes(text: str) -> tuple[str, ...]:
    """The last box and those joined to it, each different one once; empty when it is not closed."""
    return tuple(dict.fromkeys(reversed(list(_joined(text)))))


def last_box(text: str) -> str | None:
    """What the last box alone holds; None when there is none or it is not closed."""
    return next(_joined(text), None)


def has_open_box(text: str) -> bool:
    """Whether the last box is not closed: the text was cut inside it."""
    return _OPEN.search(text) is not None and last_box(text) is None


def closing_brace(text: str, start: int, end: int | None = None) -> int | None:
    """Place of the brace that closes the one before `start`; escaped braces do not count."""
    depth = 1
    for brace in _BRACE.finditer(text, start, len(text) if end is None else end):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            return brace.start()
    return None


def _joined(text: str) -> Iterator[str]:
    """The last box and those before it that belong to the same answer, the last one first."""
    next_box = None
    for opened in reversed(list(_OPEN.finditer(text))):
        held, end = _held(text, opened.end(), next_box)
        if held is None or (next_box is not None and not _joins(text[end:next_box])):
            return
        yield held
        next_box = opened.start()


def _held(text: str, start: int, end: int | None) -> tuple[str | None, int]:
    """What a box holds, in braces or as one term, and where it ends; None when it does not end."""
    if text.startswith("{", start):
        close = closing_brace(text, start + 1, end)
        return (None, start) if close is None else (text[start + 1 : close].strip(), close + 1)
    term = _TERM.match(text, start)
    return (term.group().rstrip(".,"), term.end()) if term else (None, start)


def _joins(between: str) -> bool:
    return len(between) <= _LONGEST_BETWEEN and _BETWEEN.fullmatch(between) is not None
