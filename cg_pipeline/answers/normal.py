"""Short answers in normal form, so that "The Beatles!" and "beatles" are one.

Lower case, without articles, punctuation and superfluous blanks; numbers by value.

Source: SQuAD's evaluation (arXiv 1606.05250), as TriviaQA, Natural Questions and DROP use it.
It deletes every ASCII punctuation mark, which makes "-5" and "5", "3.5" and "35" the same
and "C++" and "C" too; here a sign or a decimal point inside a number stays, only punctuation
goes and symbols stay, and that holds in all scripts. Wide, circled and other such forms of a character are
the character (NFKC), but a superscript after a number is a power: "5²" is "5^2". After letters, at the
start and before a sign it is the digit: "m²" is "m2", "²³⁵U" is "235U", "SO4²⁻" is "SO42-". Articles alone
stay, so that "(A)." is the letter a, and a text of nothing but punctuation ("] )") is compared as it is,
where SQuAD compares two empty texts.
"""

import re
import unicodedata
from fractions import Fraction

from cg_pipeline.answers.numbers import number_of, with_fractions

_ARTICLE = ("a", "an", "the")
_NUMERIC = re.compile(r"[-+]?\d[\d,.]*(?:/\d+)?|[-+]?\.\d+", re.ASCII)
_MINUS = str.maketrans({"−": "-", "’": "'"})
_POWER = re.compile(r"(?:(?<=[0-9])|(?<=[0-9][)\]}]))[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]++(?![⁺⁻](?![⁰¹²³⁴⁵⁶⁷⁸⁹]))")
"""Superscripts after a number, bracketed or not: `(5)²` is never 52. A sign after them makes a charge."""
_CURRENCY = "$€£¥₹"


def normal_words(text: str) -> list[str]:
    """The words of a text in normal form."""
    powers = _POWER.sub(r"^\g<0>", with_fractions(text))
    folded = unicodedata.normalize("NFKC", powers).translate(_MINUS).casefold()
    words = [bare for piece in folded.split() for bare in _bare(piece)]
    kept = [word for word in words if word not in _ARTICLE]
    return kept or words or folded.split()


def normal_text(text: str) -> str:
    """The words in normal form, joined by single blanks."""
    return " ".join(normal_words(text))


def is_number(word: str) -> bool:
    """Whether a word in normal form is a number."""
    return _fraction(word) is not None


def _bare(piece: str) -> list[str]:
    """A blank-free piece without its punctuation: one word, or several where dashes join them; or none."""
    stripped = piece.strip("\"'()[]{}<>:;!?*_`" + _CURRENCY).rstrip(".,%")
    if (number := _canonical(stripped)) is not None:
        return [number]
    spaced = "".join(
        " " if unicodedata.category(c) == "Pd" else c
        for c in piece
        if unicodedata.category(c) == "Pd" or unicodedata.category(c)[0] != "P"
    )
    return [_canonical(word) or word for word in spaced.split()]


def _canonical(word: str) -> str | None:
    """A number written one way, so that "1,000", "1000" and "1000.0" are one; None for another word."""
    value = number_of(word) if _NUMERIC.fullmatch(word) else None
    return None if value is None else str(value)


def _fraction(word: str) -> Fraction | None:
    try:
        return Fraction(word) if len(word) <= 60 else None
    except (ValueError, ZeroDivisionError):
        return None
