"""Excerpts about a concept: some to explain it by, others to test the explanation with.

Texts are parted before excerpts are chosen, so that no text is both shown and tested with:
ranked by how strongly the concept fires in them, every second one is held out, and both halves
span the whole range of activations. Near misses are what makes a test mean something: without
them any label on the right topic passes.

Source: excerpts over the whole range of activations, detection and fuzzing: arXiv 2410.13928, whose
negatives are random excerpts; near misses are added here.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from jaxtyping import Float, Int

from cg_pipeline.label_records import ConceptContext, ContextRole, TokenFirings
from cg_pipeline.labels.windows import cut_windows, words_of

N_TOP = 8
"""Excerpts shown of those where the concept fires most strongly."""
N_SAMPLED = 8
"""Excerpts shown of the rest, spread evenly over the ranks of activation."""
N_HELD_OUT = 10
"""Excerpts where it fires to test a label with, spread evenly over the ranks."""
N_SILENT = 12
"""Excerpts where it is silent to test a label with, all roles together."""

_N_NEAR = 4
_TOP_WORDS = 3
_CLEAR = 0.2
"""A token counts as firing clearly from this share of the excerpt's highest activation on."""


class Evidence:
    """A stream of texts on which some concepts were read."""

    def __init__(self, sae: str, texts: Sequence[str], firings: TokenFirings) -> None:
        """Cut the stream into excerpts."""
        self._sae = sae
        self._texts = texts
        self._firings = firings
        self._windows = cut_windows(firings.text_of) if len(firings.text_of) else None
        self._words = words_of(firings, texts)
        self._column = {concept: place for place, concept in enumerate(firings.concept_ids)}

    def contexts(self, concept_id: int, kindred: Sequence[int]) -> list[ConceptContext]:
        """What is shown, then what the label is tested with; empty when the concept never fires."""
        if self._windows is None:
            return []
        activations = self._activations(concept_id)
        strongest = self._windows.strongest(activations)
        shown, held_out = _parted(strongest, self._windows.text_of)
        silent = self._silent(concept_id, kindred, activations, strongest)
        chosen: list[tuple[ContextRole, int, Int[np.ndarray, " n"]]] = [
            *(("shown", window, self._clear(activations, window)) for window in shown),
            *(("held_out", window, self._clear(activations, window)) for window in held_out),
            *(silent if shown else ()),
        ]
        return [self._context(concept_id, activations, *each) for each in chosen]

    def _activations(self, concept_id: int) -> Float[np.ndarray, " n_tokens"]:
        column = self._firings.activations[:, [self._column[concept_id]]]
        return column.toarray().ravel()

    def _clear(self, activations: Float[np.ndarray, " n_tokens"], window: int) -> Int[np.ndarray, " n"]:
        """Tokens of an excerpt on which the concept fires clearly, by their place in it."""
        first, last = self._span(window)
        inside = activations[first:last]
        return np.flatnonzero((inside > 0) & (inside >= _CLEAR * inside.max()))

    def _span(self, window: int) -> tuple[int, int]:
        assert self._windows is not None
        return int(self._windows.first[window]), int(self._windows.last[window])

    def _silent(
        self,
        concept_id: int,
        kindred: Sequence[int],
        activations: Float[np.ndarray, " n_tokens"],
        strongest: Float[np.ndarray, " n_windows"],
    ) -> Iterator[tuple[ContextRole, int, Int[np.ndarray, " n"]]]:
        """Excerpts where the concept is silent: near misses first, then any, each once."""
        free = strongest == 0
        taken = 0
        for role, window, marked in (*self._of_kindred(kindred, free), *self._of_words(activations, free)):
            if free[window]:
                free[window] = False
                taken += 1
                yield role, window, marked
        rest = np.flatnonzero(free)
        drawn = np.random.default_rng(concept_id).permutation(rest)[: max(0, N_SILENT - taken)]
        for window in drawn.tolist():
            yield "random", window, np.zeros(0, np.int64)

    def _of_kindred(
        self, kindred: Sequence[int], free: np.ndarray
    ) -> Iterator[tuple[ContextRole, int, Int[np.ndarray, " n"]]]:
        """Where each kindred concept fires most strongly."""
        assert self._windows is not None
        left = free.copy()
        for other in kindred[:_N_NEAR]:
            activations = self._activations(other)
            strongest = np.where(left, self._windows.strongest(activations), 0)
            window = int(strongest.argmax())
            if strongest[window] > 0:
                left[window] = False
                yield "kindred", window, self._clear(activations, window)

    def _of_words(
        self, activations: Float[np.ndarray, " n_tokens"], free: np.ndarray
    ) -> Iterator[tuple[ContextRole, int, Int[np.ndarray, " n"]]]:
        """Where words stand on which the concept fires most elsewhere, spread over the stream."""
        assert self._windows is not None
        weights = np.bincount(self._words, weights=activations)
        top = [word for word in np.argsort(-weights, kind="stable")[:_TOP_WORDS] if weights[word] > 0]
        there = np.isin(self._words, top)
        candidates = np.flatnonzero(self._windows.strongest(there.astype(np.float32)).astype(bool) & free)
        for window in _spread(candidates.tolist(), _N_NEAR):
            first, last = self._span(window)
            yield "same_words", window, np.flatnonzero(there[first:last])

    def _context(
        self,
        concept_id: int,
        activations: Float[np.ndarray, " n_tokens"],
        role: ContextRole,
        window: int,
        marked: Int[np.ndarray, " n"],
    ) -> ConceptContext:
        first, last = self._span(window)
        text = self._texts[int(self._firings.text_of[first])]
        starts, ends = self._firings.starts[first:last], self._firings.ends[first:last]
        offset, end = int(starts.min()), int(ends.max())
        return ConceptContext(
            sae=self._sae,
            concept_id=concept_id,
            role=role,
            text=text[offset:end],
            starts=tuple((starts - offset).tolist()),
            ends=tuple((ends - offset).tolist()),
            activations=tuple(activations[first:last].tolist()),
            marked=tuple(marked.tolist()),
        )


def collect_contexts(
    sae: str,
    texts: Sequence[str],
    firings: TokenFirings,
    kindred: Mapping[int, Sequence[int]],
) -> list[ConceptContext]:
    """The excerpts about each concept that `kindred` names, in the order of their ids."""
    evidence = Evidence(sae, texts, firings)
    return [
        context
        for concept_id in sorted(kindred)
        for context in evidence.contexts(concept_id, kindred[concept_id])
    ]


def _parted(
    strongest: Float[np.ndarray, " n_windows"], text_of: Int[np.ndarray, " n_windows"]
) -> tuple[list[int], list[int]]:
    """Excerpts to show, and excerpts of other texts to test with; strongest first."""
    ranked = np.argsort(-strongest, kind="stable")
    ranked = ranked[strongest[ranked] > 0].tolist()
    place = {text: rank for rank, text in enumerate(dict.fromkeys(text_of[ranked].tolist()))}
    shown = [window for window in ranked if place[int(text_of[window])] % 2 == 0]
    held_out = [window for window in ranked if place[int(text_of[window])] % 2 == 1]
    return [*shown[:N_TOP], *_spread(shown[N_TOP:], N_SAMPLED)], _spread(held_out, N_HELD_OUT)


def _spread(items: Sequence[int], n: int) -> list[int]:
    """At most n of them, evenly spaced from first to last."""
    if len(items) <= n:
        return list(items)
    return [items[round(place)] for place in np.linspace(0, len(items) - 1, n)]
