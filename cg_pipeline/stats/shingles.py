"""Texts that share long sequences of words: containment of hashed word n-grams.

*Why containment and not Jaccard similarity:* a question that stands inside another one's
long passage is asked twice, though the two texts as wholes are little alike.
"""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int, UInt64
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

LENGTH = 8
"""Words of a sequence."""

_WORD = re.compile(r"\w+")
_MOST_TEXTS = 50
_BASE = np.uint64(0x9E3779B97F4A7C15)


def contained_pairs(
    texts: Sequence[str], groups: Sequence[str], least: float
) -> list[tuple[int, int, float]]:
    """Pairs of texts of different groups and their overlap, where it is at least `least`; largest first.

    overlap(x, y) = |S(x) ∩ S(y)| / min(|S(x)|, |S(y)|) over the sets S of eight-word
    sequences; a shorter text is one sequence. Words that all texts of a group begin or end
    with are its format and do not count; nor does a sequence found in more than 50 texts.

    Source: 8-grams and a share of 70 % as in the contamination study of PaLM,
    arXiv 2204.02311; there against training text and without the bound on common sequences.
    """
    rows, columns = _sequences(_words_without_format(texts, groups))
    kept = np.bincount(columns, minlength=1)[columns] <= _MOST_TEXTS
    shape = (len(texts), int(columns.max(initial=-1)) + 1)
    has = sparse.csr_array((np.ones(int(kept.sum()), np.int32), (rows[kept], columns[kept])), shape=shape)
    sizes = np.asarray(has.sum(axis=1)).ravel()
    shared = sparse.coo_array(sparse.triu(has @ has.T, k=1))
    first, second = shared.coords
    overlap = shared.data / np.minimum(sizes[first], sizes[second])
    names = np.unique(np.asarray(groups, dtype=str), return_inverse=True)[1]
    wanted = np.flatnonzero((names[first] != names[second]) & (overlap >= least))
    order = wanted[np.lexsort((second[wanted], first[wanted], -overlap[wanted]))]
    return [(int(first[i]), int(second[i]), float(overlap[i])) for i in order]


def _words_without_format(texts: Sequence[str], groups: Sequence[str]) -> list[list[str]]:
    """Each text's words, less those with which all texts of its group begin or end."""
    words = [_WORD.findall(text.casefold()) for text in texts]
    bodies = [list[str]()] * len(words)
    for group in set(groups):
        members = [index for index, name in enumerate(groups) if name == group]
        head = _n_common([words[index] for index in members])
        tail = _n_common([words[index][head:][::-1] for index in members])
        for index in members:
            bodies[index] = words[index][head : len(words[index]) - tail]
    return bodies


def _n_common(lists: Sequence[list[str]]) -> int:
    """How many words all lists begin with; none for a single list, which is all its own."""
    lowest, highest = min(lists), max(lists)
    pairs = zip(lowest, highest, strict=False)
    n = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(lowest), len(highest)))
    return n if len(lists) > 1 else 0


def _sequences(words: Sequence[Sequence[str]]) -> tuple[Int[np.ndarray, " nnz"], Int[np.ndarray, " nnz"]]:
    """Text and sequence of every (text, sequence) pair, each once; sequences are numbered from 0."""
    lengths = np.array([len(each) for each in words], np.int64)
    known: dict[str, int] = {}
    ids = np.array([known.setdefault(word, len(known)) for each in words for word in each], np.uint64)
    texts = np.repeat(np.arange(len(words)), lengths)
    left = np.repeat(lengths, lengths) - (
        np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    )
    hashes = _rolled(ids, np.minimum(left, LENGTH))
    whole = _starts(left, np.repeat(lengths, lengths))
    pairs = np.unique(np.stack([texts[whole].astype(np.uint64), hashes[whole]]), axis=1)
    return pairs[0].astype(np.int64), np.unique(pairs[1], return_inverse=True)[1]


def _rolled(
    ids: UInt64[np.ndarray, " n_words"], spans: Int[np.ndarray, " n_words"]
) -> UInt64[np.ndarray, " n_words"]:
    """A hash of the words from each place on, as many as its span says."""
    hashes = np.zeros(len(ids), np.uint64)
    for step in range(LENGTH):
        inside = np.flatnonzero(spans > step)
        mixed = (ids[inside + step] + np.uint64(1)) * _BASE
        hashes[inside] = (hashes[inside] ^ (mixed ^ (mixed >> np.uint64(29)))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes[inside] ^= hashes[inside] >> np.uint64(32)
    return hashes


def _starts(
    left: Int[np.ndarray, " n_words"], lengths: Int[np.ndarray, " n_words"]
) -> Bool[np.ndarray, " n_words"]:
    """Where a whole sequence starts; a short text's only one starts at its first word."""
    return (left >= LENGTH) | ((lengths < LENGTH) & (left == lengths))
