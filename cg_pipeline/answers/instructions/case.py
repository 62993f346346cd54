"""Capital and small letters."""

import re

from cg_pipeline.answers.instructions.language import is_english
from cg_pipeline.answers.instructions.relation import holds

_BETWEEN = re.compile(r"[\s;@#$%&?!*()\[\]{}<>\"“”„«»‘’`–—]|--|\.\.+|[:,](?!\d)")
_PARTS = re.compile(
    r"(?<=[^'])('(?:s|m|d|ll|re|ve)|n't)(?=\.?$)"
    r"|^(can)(?=not$)|^(gon|wan)(?=na$)|^(got)(?=ta$)|^(gim|lem)(?=me$)|^('t)(?=is$|was$)",
    re.IGNORECASE,
)
"""What a word of two is cut into: CAN'T, I'M, CANNOT."""


def english_capital(response: str) -> bool:
    """English, and all in capital letters."""
    return response.isupper() and is_english(response)


def english_lowercase(response: str) -> bool:
    """English, and without a capital letter."""
    return response.islower() and is_english(response)


def capital_words(response: str, capital_relation: str, capital_frequency: int) -> bool:
    """So many words are written in capitals throughout; a single I is one, IT'S are two, A-B is one."""
    words = [part for word in _BETWEEN.split(response) if word for part in _PARTS.split(word) if part]
    return holds(sum(word.isupper() for word in words), capital_relation, capital_frequency)
