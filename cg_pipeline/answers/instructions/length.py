"""How many words, sentences and paragraphs a response has."""

import re

from cg_pipeline.answers.instructions.relation import holds

_WORD = re.compile(r"\w+")
_STARTERS = (
    "The|This|That|These|Those|There|It|Its|He|She|They|We|You|In|On|At|For|From|With|By|As|If|When|While|Where"
    "|How|What|Which|Who|Why|But|And|So|However|After|Before|Although|Each|His|Her|Their|Our|My|To|Then|Some"
)
"""Words that begin a sentence even after an abbreviation."""
_ABBREVIATION = re.compile(
    r"\b(?:(?:Mr|Mrs|Ms|Dr|Prof|Gen|Sen|Rep|Rev|Gov|Capt|Col|Lt|Sgt|St)\.(?=\s+\S)"
    r"|(?:Jr|Sr|vs|e\.g|i\.e|Inc|Ltd|Corp|Co|[Ff]ig|Vol|(?<!\b[A-Za-z]\.)[A-Za-z](?:\.[A-Za-z])+"
    r"|(?:Jan|Feb|Aug|Sept|Oct|Nov|Dec)(?=\. \d)|No(?=\. \d)|approx(?=\. \d)|(?<![°\d])[A-Z])\."
    rf"(?=\s+\S)(?!\s+(?:{_STARTERS})\b))"
)
_SENTENCE = re.compile(
    r"(?<![.!?。！？।])(?:\.{2,}[\"'”’)\]*_]{0,3}(?=\s+[\"'“‘(\[*_]{0,3}[A-Z])"
    r"|(?!\.\.)[.!?。！？।]+[\"'”’)\]*_]{0,3}(?:\s|$))|(?<=[。！？।])"
)
"""Where sentences end; an ellipsis ends one before a capital letter only."""
_RULE = re.compile(r"\s?\*\*\*\s?")
_BLANK_LINE = re.compile(r"\n\n")
_PUNCTUATION = re.compile(r"[.,?!'\"]")


def n_words(response: str, relation: str, num_words: int) -> bool:
    """So many words: runs of letters and digits."""
    return holds(len(_WORD.findall(response)), relation, num_words)


def n_sentences(response: str, relation: str, num_sentences: int) -> bool:
    """So many sentences: what ends with a full stop, a question or exclamation mark, or the text."""
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
    """So many paragraphs, set apart by blank lines, and the nth begins with the word.

    Empty paragraphs, as of two blank lines, are not among the number, but have their place in the order.
    """
    parts = [part.strip() for part in _BLANK_LINE.split(response)]
    n_written = sum(map(bool, parts))
    if n_written != num_paragraphs or not 1 <= nth_paragraph <= n_written or not parts[nth_paragraph - 1]:
        return False
    opening = parts[nth_paragraph - 1].split(maxsplit=1)[0].lstrip("'").lstrip('"')
    return _PUNCTUATION.split(opening, maxsplit=1)[0].lower() == first_word.lower()
