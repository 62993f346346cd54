"""A stretch of a prompt around the token on which a concept fires most, in pieces by how strongly."""

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from cg_pipeline.gaps.legible import ELLIPSIS, visible

LEVELS = 3
"""Strengths that are told apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text that a concept fires on with one strength."""

    text: str
    """Nothing in it is invisible; a space at its ends is kept."""
    level: int
    """From 1, weak, to 3, close to the strongest of the example; 0 where the concept is silent."""


def highlight(
    prompt: str, starts: Sequence[int], ends: Sequence[int], activations: Sequence[float], length: int
) -> list[Piece]:
    """About `length` characters of a prompt, with an ellipsis where it was cut; joined, they are its text.

    Args:
        prompt: the example's.
        starts: first character of each token on which the concept fires; tokens outside the prompt, which
            start and end at 0, mark nothing.
        ends: one past its last.
        activations: how strongly.
        length: a shorter prompt is shown whole.
    """
    levels = _levels(len(prompt), starts, ends, activations)
    first, last = _window(prompt, levels, length)
    edges = [first, *(first + 1 + np.flatnonzero(np.diff(levels[first:last]))).tolist(), last]
    pieces = [
        Piece(text=_legible(prompt[a:b]), level=int(levels[a])) for a, b in itertools.pairwise(edges) if a < b
    ]
    cut = Piece(text=ELLIPSIS, level=0)
    return [*([cut] if first else []), *pieces, *([cut] if last < len(prompt) else [])]


def bracketed(pieces: Sequence[Piece]) -> Iterator[tuple[str, bool]]:
    """The text where colours cannot be seen: runs of it, and whether the concept fires there clearly."""
    text, marked = "", False
    for piece in pieces:
        clear = piece.level > 1
        if clear != marked and text:
            yield text, marked
            text = ""
        text, marked = text + piece.text, clear
    if text:
        yield text, marked


def _levels(
    n: int, starts: Sequence[int], ends: Sequence[int], activations: Sequence[float]
) -> Int[np.ndarray, " n"]:
    """Of each character, the strongest of the tokens that cover it: one character may be several tokens."""
    levels = np.zeros(n, np.int64)
    highest = max((a for a, s, e in zip(activations, starts, ends, strict=True) if e > s), default=1.0)
    for start, end, activation in zip(starts, ends, activations, strict=True):
        level = min(LEVELS, 1 + int(LEVELS * activation / highest))
        levels[start:end] = np.maximum(levels[start:end], level)
    return levels


def _window(prompt: str, levels: Int[np.ndarray, " n"], length: int) -> tuple[int, int]:
    """Characters to show, whole words where there are spaces: a third of them before the strongest token."""
    if len(prompt) <= length:
        return 0, len(prompt)
    strongest = int(levels.argmax()) if len(levels) else 0
    first = min(max(0, strongest - length // 3), len(prompt) - length)
    last = first + length
    if first:
        space = prompt.find(" ", first, min(first + length // 4, strongest))
        first = space + 1 if space >= 0 else _whole_letter(prompt, first)
    if last < len(prompt):
        space = prompt.rfind(" ", max(strongest + 1, last - length // 4), last)
        last = space if space >= 0 else _whole_letter(prompt, last)
    return first, last


def _whole_letter(prompt: str, place: int) -> int:
    """A letter keeps its accents."""
    while place < len(prompt) and unicodedata.combining(prompt[place]):
        place += 1
    return place


def _legible(text: str) -> str:
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return f"{before}{inner}{after}" if (inner := visible(text)) else " "
