"""Capital and small letters."""

import re

from cg_pipeline.answers.instructions.language import is_english
from cg_pipeline.answers.instructions.relation import holds

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def english_capital(response: str) -> bool:
    """English, and all in capital letters."""
    return response.isupper() and is_english(response)


def english_lowercase(response: str) -> bool:
    """English, and without a capital letter."""
    return response.islower() and is_english(response)


def capital_words(response: str, capital_relation: str, capital_frequency: int) -> bool:
    """So many words are written in capitals throughout."""
    count = sum(word.isupper() for word in _WORD.findall(response))
    return holds(count, capital_relation, capital_frequency)
