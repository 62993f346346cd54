"""Which of a few words a generated text answers with: "valid" or "invalid", "True" or "False".

Read are, in this order, what follows the last "answer is" (nowhere else when there is one), a
word that opens the text, and of the last line what follows "=", else the last "is", else all of it. Of
two words "not" before one means the other. Where a place names two, or none, it says none.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from cg_pipeline.answers.boxed import boxed_words
from cg_pipeline.answers.last import last_match
from cg_pipeline.answers.markers import announced, first_line, first_sentence
from cg_pipeline.answers.own_part import own_part

_LONGEST_PLACE = 400
_WRAPPING = re.compile(r"\*\*|__|`|\\(?:text|mathrm|mathbf|textbf)\s?\{|[${}]|\\[()\[\]]")
_CAME_TO = re.compile(
    r"\b(?:is|are|was|be|becomes|equals|gives|yields|(?:evaluates|simplifies|reduces|comes) to)\b",
    re.IGNORECASE,
)
_NOT = r"(?:\bnot|n['’]t|\bcannot)\s(?:(?:be|an?|the|\w{4,14}ly)\s)*"
_ENDS = r"(?=\W*$|[,.;:!?)\"'*—–]|\s[—–-]\s|\n)"


class Word(NamedTuple):
    """The word that a text answers with."""

    word: str
    settled: bool
    """Whether the text went on after it, so that a cut at the limit cannot have changed it."""


def read_word(text: str, words: Sequence[str]) -> Word | None:
    """The one of `words` that the text answers with, as it is written there; None for none or several."""
    own = own_part(text)
    if (boxed := boxed_words(own)) is not None:
        return _found(_bare(boxed), words, settled=True)
    said = _bare(own)
    if after := announced(said):
        sentence = first_sentence(after)
        return _found(sentence, words, settled=len(sentence) < len(after))
    if opening := _opening(first_line(said), words):
        return Word(opening, settled=len(said) > len(opening) + 2)
    last = said.rpartition("\n")[2]
    for place in (last.rpartition("=")[2] if "=" in last else "", _after(last), last):
        if found := _found(place, words, settled=False):
            return found
    return None


def _bare(text: str) -> str:
    return _WRAPPING.sub("", text).strip()


def _opening(line: str, words: Sequence[str]) -> str | None:
    opened = re.match(rf"\W{{0,4}}({_any(words)})\b{_ENDS}", line[:_LONGEST_PLACE], re.IGNORECASE)
    return None if opened is None else _spelt(opened[1], words)


def _after(line: str) -> str:
    came_to = last_match(_CAME_TO, line[-_LONGEST_PLACE:])
    return line[-_LONGEST_PLACE:][came_to.end() :] if came_to else ""


def _found(place: str, words: Sequence[str], settled: bool) -> Word | None:
    """The one word that a place names, "not" heeded where there are two to choose from."""
    pattern = re.compile(rf"({_NOT})?\b({_any(words)})\b", re.IGNORECASE)
    read = [(bool(denied), _spelt(word, words)) for denied, word in pattern.findall(place)]
    named = {_meant(denied, word, words) for denied, word in read if word is not None}
    [only] = named if len(named) == 1 else [None]
    return None if only is None else Word(only, settled)


def _meant(denied: bool, word: str, words: Sequence[str]) -> str | None:
    others = [each for each in words if each != word]
    return word if not denied else others[0] if len(others) == 1 else None


def _spelt(word: str, words: Sequence[str]) -> str | None:
    """The word as it is given; None for what only a pattern takes for it, as "ı" for an i."""
    return next((each for each in words if each.casefold() == word.casefold()), None)


def _any(words: Sequence[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
