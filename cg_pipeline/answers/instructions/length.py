"""How many words, sentences and paragraphs a response has."""

import re

from cg_pipeline.answers.instructions.relation import holds

_WORD = re.compile(r"\w+")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|e\.g|i\.e|Inc|Ltd|U\.S|[A-Z])\.(?=\s+\S)")
_SENTENCE = re.compile(r"(?<![.!?。！？।])[.!?。！？।]+[\"'”’)\]*_]{0,3}(?:\s|$)|(?<=[。！？।])|\n\s*\n")
_RULE = re.compile(r"\s?\*\*\*\s?")
_BLANK_LINE = re.compile(r"\n\n")
_BESIDE = " \t\n'\".,?!*_#>-"


def n_words(response: str, relation: str, num_words: int) -> bool:
    """So many words: runs of letters and digits."""
    return holds(len(_WORD.findall(response)), relation, num_words)


def n_sentences(response: str, relation: str, num_sentences: int) -> bool:
    """So many sentences: what ends with a full stop, a question or exclamation mark, or its paragraph."""
    return holds(count_sentences(response), relation, num_sentences)


def count_sentences(text: str) -> int:
    """Sentences of a text; common abbreviations and initials end none."""
    held = _ABBREVIATION.sub(lambda match: match.group().replace(".", "·"), text)
    return sum(_WORD.search(part) is not None for part in _SENTENCE.split(held))


def n_paragraphs(response: str, num_paragraphs: int) -> bool:
    """Exactly so many paragraphs, set apart by the rule `***`; an empty one is only forgiven at the ends."""
    parts = _RULE.split(response)
    inner_empty = any(not part.strip() for part in parts[1:-1])
    return not inner_empty and sum(bool(part.strip()) for part in parts) == num_paragraphs


def nth_paragraph(response: str, num_paragraphs: int, nth_paragraph: int, first_word: str) -> bool:
    """So many paragraphs, set apart by blank lines, and the nth begins with the word."""
    parts = [part.strip() for part in _BLANK_LINE.split(response) if part.strip()]
    if len(parts) != num_paragraphs or not 1 <= nth_paragraph <= len(parts):
        return False
    opening = parts[nth_paragraph - 1].lstrip(_BESIDE).split(maxsplit=1)
    word = re.split(r"[.,?!'\"*_]", opening[0], maxsplit=1)[0] if opening else ""
    return word.casefold() == first_word.casefold()
