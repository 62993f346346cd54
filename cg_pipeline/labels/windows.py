"""A stream of tokens cut into excerpts: runs of neighbouring tokens of one text."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from cg_pipeline.label_records import TokenFirings

WINDOW_TOKENS = 32
"""Tokens of an excerpt: two lines of text."""

_SHORTEST = 8
"""A shorter rest of a text belongs to the excerpt before it."""


@dataclass(frozen=True)
class Windows:
    """Excerpts that cover the stream without gap or overlap."""

    first: Int[np.ndarray, " n_windows"]
    """First token of each, ascending from 0."""
    last: Int[np.ndarray, " n_windows"]
    """One past its last token."""
    text_of: Int[np.ndarray, " n_windows"]
    """Number of the text that it is a part of."""

    def strongest(self, activations: Float[np.ndarray, " n_tokens"]) -> Float[np.ndarray, " n_windows"]:
        """The highest activation within each excerpt."""
        return np.maximum.reduceat(activations, self.first)


def cut_windows(text_of: Int[np.ndarray, " n_tokens"]) -> Windows:
    """Excerpts of `WINDOW_TOKENS` tokens of one text each; the last of a text may be shorter or longer."""
    starts: list[int] = []
    edges = [0, *(np.flatnonzero(np.diff(text_of)) + 1).tolist(), len(text_of)]
    for start, end in itertools.pairwise(edges):
        found = list(range(start, end, WINDOW_TOKENS))
        if len(found) > 1 and end - found[-1] < _SHORTEST:
            found.pop()
        starts.extend(found)
    first = np.array(starts, np.int64)
    return Windows(first=first, last=np.append(first[1:], len(text_of)), text_of=text_of[first])


def words_of(firings: TokenFirings, texts: Sequence[str]) -> Int[np.ndarray, " n_tokens"]:
    """A number for each token's text, surrounding space and case aside: equal for equal texts."""
    numbers: dict[str, int] = {}
    places = zip(firings.text_of.tolist(), firings.starts.tolist(), firings.ends.tolist(), strict=True)
    words = (str(texts[text])[start:end].strip().casefold() for text, start, end in places)
    return np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
