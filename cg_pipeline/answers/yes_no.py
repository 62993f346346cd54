"""Whether a generated text says yes or no.

Read are, in this order, what is boxed, what follows the last "answer is" (nowhere else when there
is one), the first word, the last line and the beginning of the last sentence ("So no, …"). "No
evidence …", "I know" and "yes and no" say neither.
"""

import re
from typing import NamedTuple

from cg_pipeline.answers.boxed import boxed_words
from cg_pipeline.answers.markers import announced, first_line, first_sentence
from cg_pipeline.answers.own_part import own_part

YES = ("yes", "true", "yeah", "yep", "correct")
NO = ("no", "false", "nope", "nah", "incorrect")

_WORD = rf"((?a:{'|'.join((*YES, *NO))}))"
_FOLLOWED = (
    r"(?=\W*$|\s*[,.;:!?\n)\"'*—–-]"
    r"|\s+(?:it|he|she|they|we|you|i|this|that|there|these|those|because|since|as|the|a|an|in|is|are|to|based)\b)"
)
_OPENS = re.compile(rf"\W{{0,8}}{_WORD}\b{_FOLLOWED}", re.IGNORECASE)
_CONCLUDES = re.compile(
    r"\W{0,8}(?:(?:so|thus|therefore|hence|overall|in conclusion|then)[, ]{1,2})+"
    rf"(?:the answer is )?{_WORD}\b{_FOLLOWED}",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\W*(?:and|or|/|&)\W*(?:yes|no|true|false)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?\n]\s+")
_LONGEST_TAIL = 400


class Verdict(NamedTuple):
    """What a text says."""

    says_yes: bool
    settled: bool
    """Whether the text went on after saying so, so that a cut at the limit cannot have changed it."""


def read_yes_no(text: str) -> Verdict | None:
    """What the text says; None when it says neither yes nor no."""
    own = own_part(text)
    if (boxed := boxed_words(own)) is not None:
        return _opening(boxed, f"{boxed} …")
    said = own.replace("**", "")
    after = announced(said)
    if after:
        return _opening(first_sentence(after), after)
    found = _opening(first_line(said), said) if said else None
    if found is not None:
        return found
    return _opening(said.rpartition("\n")[2], "") or _conclusion(said)


def _opening(place: str, whole: str, pattern: re.Pattern[str] = _OPENS) -> Verdict | None:
    opened = pattern.match(place[:_LONGEST_TAIL])
    if opened is None or _BOTH.match(place[opened.end() : opened.end() + 20]):
        return None
    return Verdict(opened.group(1).lower() in YES, opened.end() < len(whole.rstrip()))


def _conclusion(said: str) -> Verdict | None:
    last = _SENTENCE.split(said[-_LONGEST_TAIL:])[-1]
    return _opening(last, "", _CONCLUDES)


def meaning(target: str) -> bool | None:
    """What a target means: True for yes, False for no, None for anything else."""
    word = target.strip().strip(".").casefold()
    return word in YES if word in (*YES, *NO) else None
