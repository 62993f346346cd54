"""Which characters can be seen: a text without ink is no question, and no answer."""

import unicodedata

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
