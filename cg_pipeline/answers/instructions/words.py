"""Words and letters that a response must, or must not, hold."""

import re
from collections.abc import Sequence

from cg_pipeline.answers.instructions.relation import holds


def keywords_present(response: str, keywords: Sequence[str]) -> bool:
    """Every keyword stands somewhere, in any case, also inside a longer word."""
    return all(re.search(re.escape(keyword), response, re.IGNORECASE) for keyword in keywords)


def forbidden_words(response: str, forbidden_words: Sequence[str]) -> bool:
    """None of the words stands there as a word, in any case."""
    return not any(re.search(rf"\b{re.escape(word)}\b", response, re.IGNORECASE) for word in forbidden_words)


def keyword_frequency(response: str, relation: str, keyword: str, frequency: int) -> bool:
    """The keyword stands there so often, in any case, also inside longer words."""
    found = re.findall(re.escape(keyword.strip()), response, re.IGNORECASE)
    return holds(len(found), relation, frequency)


def letter_frequency(response: str, let_relation: str, letter: str, let_frequency: int) -> bool:
    """The letter, or other sign, stands there so often, in any case."""
    return holds(response.lower().count(letter.strip().lower()), let_relation, let_frequency)
