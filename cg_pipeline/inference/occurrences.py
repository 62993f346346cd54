"""One token in its text: how to show it, the word it belongs to, and what stands around it.

Everything is cut out of the text itself, by characters, so that a token that is half of a
character or carries a tokenizer's own mark for a space never reaches a reader.
"""

import re
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]{3,}")
_LINE_BREAK, _SPACE = "⏎", "␣"
_CONTEXT_CHARACTERS = 60
_NEAR_CHARACTERS = 50
_PHRASE_CHARACTERS = 28


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Where a concept fires, and how strongly."""

    text: str
    start: int
    """First character of the token."""
    end: int
    """One past its last character."""
    activation: float

    @property
    def token(self) -> str:
        """The token without surrounding space; a mark for one that is nothing else."""
        return _shown(self.text[self.start : self.end])

    @property
    def word(self) -> str:
        """The whole word around the token; the token itself when it is punctuation."""
        start, end = self._word_span()
        return _shown(self.text[start:end])

    @property
    def piece(self) -> str:
        """The token, with `…` on the side where its word goes on."""
        (start, end), (first, last) = self._token_span(), self._word_span()
        return f"{'…' if first < start else ''}{self.token}{'…' if last > end else ''}"

    def context(self) -> str:
        """A short excerpt on one line, the token between ⟦ and ⟧."""
        left = _from_a_word(self.text[max(0, self.start - _CONTEXT_CHARACTERS) : self.start], self.start)
        right = self.text[self.end : self.end + _CONTEXT_CHARACTERS]
        if self.end + _CONTEXT_CHARACTERS < len(self.text):
            right = right.rpartition(" ")[0] or right
        inside = self.text[self.start : self.end]
        lead = inside[: len(inside) - len(inside.lstrip())] if inside.strip() else ""
        return f"{_one_line(left + lead)}⟦{self.token}⟧{_one_line(right)}"

    def phrase(self) -> str:
        """The token's word with what touches it and one word more on either side, on one line."""
        start, end = self._word_span()
        before = re.search(r"\S*\s*\S*$", self.text[max(0, start - _PHRASE_CHARACTERS) : start])
        after = re.match(r"\S*\s*\S*", self.text[end : end + _PHRASE_CHARACTERS])
        first, last = before[0] if before else "", after[0] if after else ""
        return _one_line(f"{first}{self.text[start:end]}{last}").strip()

    def neighbours(self) -> dict[str, str]:
        """Words nearby, in lower case, each with the form it has here."""
        start, end = self._word_span()
        left = _from_a_word(self.text[max(0, start - _NEAR_CHARACTERS) : start], start, _NEAR_CHARACTERS)
        right = self.text[end : end + _NEAR_CHARACTERS]
        if end + _NEAR_CHARACTERS < len(self.text):
            right = right.rpartition(" ")[0]
        return {word.casefold(): word for side in (left, right) for word in _WORD.findall(side)}

    def _token_span(self) -> tuple[int, int]:
        """The token without its surrounding space, unless it is nothing else."""
        inside = self.text[self.start : self.end]
        if not inside.strip():
            return self.start, self.end
        return self.end - len(inside.lstrip()), self.start + len(inside.rstrip())

    def _word_span(self) -> tuple[int, int]:
        start, end = self._token_span()
        while start > 0 and self.text[start].isalnum() and self.text[start - 1].isalnum():
            start -= 1
        while end < len(self.text) and self.text[end - 1].isalnum() and self.text[end].isalnum():
            end += 1
        return start, end


def _shown(text: str) -> str:
    stripped = "".join(letter for letter in text.strip() if letter.isprintable())
    if stripped:
        return stripped
    return _LINE_BREAK if "\n" in text or "\r" in text else _SPACE


def _from_a_word(left: str, end: int, width: int = _CONTEXT_CHARACTERS) -> str:
    """The stretch before a token, without the word that its left edge cuts."""
    return left if end <= width else left.partition(" ")[2] or left


def _one_line(text: str) -> str:
    kept = "".join(letter if letter.isprintable() else " " for letter in text)
    return re.sub(r"\s+", " ", kept).replace("⟦", "[").replace("⟧", "]")
