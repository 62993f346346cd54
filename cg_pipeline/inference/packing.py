"""Texts to score, packed into rows that read every shared beginning once.

The choices of an example go on from one prompt, twin examples from one passage, and all
questions of a few-shot benchmark from the same worked examples. A row is the tree of such
texts, written depth first: a token sees its ancestors and itself, and stands at its depth,
so that each text is read as if it stood alone. A text's last token is never an input, since
nothing follows it: choices of one token add nothing to the row.

Why whole examples meet in a row only when a quarter of their tokens is shared: the attention
over a row costs the square of its length, so a short beginning in common does not pay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

_LEAST_SHARED = 0.25
_ROW_TOKENS = 256
"""Longest row of several examples, beyond twice the beginning they share."""


@dataclass(frozen=True)
class Continued:
    """Token ids whose likelihood is wanted, after ids that are given."""

    context: Int[np.ndarray, " _"]
    continuation: Int[np.ndarray, " _"]

    @property
    def inputs(self) -> Int[np.ndarray, " seq"]:
        """What the model reads."""
        return np.concatenate([self.context, self.continuation[:-1]])


@dataclass(frozen=True)
class PackedRow:
    """One row of ids with what is needed to attend, place and score it."""

    input_ids: Int[np.ndarray, " seq"]
    position_ids: Int[np.ndarray, " seq"]
    """Depth of each token in the tree."""
    ends: Int[np.ndarray, " seq"]
    """Place after the last token that may look at this one: j sees i when i ≤ j < ends[i]."""
    predictors: Int[np.ndarray, " n_scored"]
    """Place in the row whose logits predict each scored token, text after text."""
    scored_ids: Int[np.ndarray, " n_scored"]
    n_tokens: tuple[int, ...]
    """Scored tokens of each text."""

    @property
    def is_chain(self) -> bool:
        """Whether nothing branches, so that plain causal attention reads it."""
        return bool((self.ends == len(self.ends)).all())


def pack(texts: Sequence[Continued]) -> PackedRow:
    """The row of some texts, each with a context and a continuation of at least one token."""
    inputs = [text.inputs for text in texts]
    tree = _Tree()
    paths = {index: tree.add(inputs[index]) for index in sorted(range(len(texts)), key=_order(inputs))}
    predictors = [paths[index][len(text.context) - 1 :] for index, text in enumerate(texts)]
    return PackedRow(
        input_ids=np.concatenate(tree.ids),
        position_ids=np.concatenate(tree.depths),
        ends=tree.closed(),
        predictors=np.concatenate(predictors),
        scored_ids=np.concatenate([text.continuation for text in texts]),
        n_tokens=tuple(len(text.continuation) for text in texts),
    )


def group_by_beginning(examples: Sequence[Sequence[Continued]], max_tokens: int) -> list[list[int]]:
    """Indices of examples that are worth a common row, which then has at most `max_tokens`."""
    firsts = [texts[0].inputs for texts in examples]
    order = sorted(range(len(examples)), key=_order(firsts))
    groups: list[list[int]] = []
    length = 0
    for previous, index in zip([None, *order], order, strict=False):
        size = _n_tokens_upper(examples[index])
        shared = 0 if previous is None else n_shared(firsts[previous], firsts[index])
        together = length + size - shared
        worth = shared >= _LEAST_SHARED * size and together <= min(max_tokens, 2 * shared + _ROW_TOKENS)
        if worth:
            groups[-1].append(index)
        else:
            groups.append([index])
        length = together if worth else size
    return groups


class _Tree:
    """A depth-first row that grows by texts in lexicographic order."""

    def __init__(self) -> None:
        self.ids: list[Int[np.ndarray, " _"]] = []
        self.depths: list[Int[np.ndarray, " _"]] = []
        self._last = np.zeros(0, np.int64)
        self._path = np.zeros(0, np.int64)
        self._ends = np.zeros(0, np.int64)

    def add(self, ids: Int[np.ndarray, " _"]) -> Int[np.ndarray, " _"]:
        """The place in the row of every token of a text, after what it shares with the text before."""
        shared, size = n_shared(self._last, ids), len(self._ends)
        self._ends[self._path[shared:]] = size
        new = np.arange(size, size + len(ids) - shared)
        self._ends = np.concatenate([self._ends, np.zeros(len(new), np.int64)])
        self.ids.append(ids[shared:])
        self.depths.append(np.arange(shared, len(ids)))
        self._last, self._path = ids, np.concatenate([self._path[:shared], new])
        return self._path

    def closed(self) -> Int[np.ndarray, " seq"]:
        """Where each token's subtree ends, once no text follows."""
        self._ends[self._path] = len(self._ends)
        return self._ends


def _order(inputs: Sequence[Int[np.ndarray, " _"]]) -> Callable[[int], bytes]:
    """Sort key of an index: texts in lexicographic order, a beginning before what goes on from it."""
    keys = [ids.astype(">i8").tobytes() for ids in inputs]
    return keys.__getitem__


def n_shared(some: Int[np.ndarray, " _"], others: Int[np.ndarray, " _"]) -> int:
    """Tokens that two texts begin with alike."""
    least = min(len(some), len(others))
    differ = np.flatnonzero(some[:least] != others[:least])
    return int(differ[0]) if len(differ) else least


def _n_tokens_upper(texts: Sequence[Continued]) -> int:
    """At most so many tokens does the example's own row have."""
    first = texts[0].inputs
    return len(first) + sum(len(text.inputs) - n_shared(first, text.inputs) for text in texts[1:])
