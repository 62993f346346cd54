"""What can be seen of a text: one without ink is no question, and two that look the same are one."""

import re
import unicodedata

_INNER_BLANKS = re.compile(r"(?<=\S)\s+")

_JOINERS = "\u200c\u200d"
"""Zero-width joiners are letters' business in several scripts and in emoji."""

_NO_INK = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
"""Unicode categories of blanks, controls, direction marks and stray surrogates."""

_FILLERS = {
    *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0",
    *map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))),
}
"""Letters and marks that are blank all the same: fillers, the empty Braille cell, variation selectors."""


def is_blank(text: str) -> bool:
    """Whether there is nothing to see in a text: blanks, control and invisible characters only."""
    return not any(has_ink(char) and char not in _JOINERS for char in text)


def has_ink(char: str) -> bool:
    """Whether a character can be seen, or changes how its neighbours look."""
    return char in _JOINERS or not (char in _FILLERS or unicodedata.category(char) in _NO_INK)


def as_read(text: str) -> str:
    """A text without what no reader sees: the invisible, wider blanks, ways to write an accent.

    Lines and their indentation stay: in a program they are what is asked.
    """
    unseen = {ord(char): None for char in set(text) if not (char.isspace() or has_ink(char))}
    seen = unicodedata.normalize("NFC", text.translate(unseen))
    lines = (_INNER_BLANKS.sub(" ", line).rstrip() for line in seen.splitlines())
    return "\n".join(lines).rstrip()
