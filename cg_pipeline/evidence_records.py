"""What speaks for a concept: the examples in which it is strongest, and where in their texts it fires.

Held as arrays, a row per concept, side and rank: a dictionary of 65,536 concepts has up to 590,000
rows for each benchmark, too many for objects.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

Side = Literal["right", "wrong", "unscored"]
SIDES: tuple[Side, ...] = ("right", "wrong", "unscored")
"""How an example went, in the order in which evidence is kept."""

RIGHT_FROM = 0.5
"""A score of so much or more is on the side of the right ones, a lower one on that of the wrong ones."""


@dataclass(frozen=True, kw_only=True)
class PairFirings:
    """Where concepts fire in examples, token by token, for chosen pairs of an example and a concept."""

    example_ids: tuple[str, ...]
    """Examples that were read, each once."""
    n_tokens: Int[np.ndarray, " n_examples"]
    """Counted tokens |x| of each."""
    examples: Int[np.ndarray, " n_pairs"]
    """Each pair's example, by its place in `example_ids`."""
    concept_ids: Int[np.ndarray, " n_pairs"]
    """Each pair's concept."""
    edges: Int[np.ndarray, " n_pairs_and_1"]
    """Firings of pair i are those from edges[i] up to edges[i + 1]; none where it never fires."""
    starts: Int[np.ndarray, " n_firings"]
    """First character of each firing token in its example's prompt, tokens in the order of the text."""
    ends: Int[np.ndarray, " n_firings"]
    """One past its last. 0, as its first, of a token that is not of the prompt: a template's, or BOS."""
    activations: Float[np.ndarray, " n_firings"]
    """z_c(x_t) > 0, in the unit of the SAE's activations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """One example that speaks for a concept."""

    concept_id: int
    example_id: str
    side: Side
    rank: int
    """1 is the strongest of its concept and side."""
    score: float | None
    """s(x) in [0, 1]; None when unscored."""
    saliency: float
    """a_c(x), as in the activations."""
    n_tokens: int
    """Counted tokens |x|."""
    starts: tuple[int, ...]
    """First character of each token on which the concept fires."""
    ends: tuple[int, ...]
    """One past its last; 0, as its first, of a token that is not of the prompt."""
    activations: tuple[float, ...]
    """z_c(x_t) on each of these tokens; they sum up to `saliency · n_tokens`."""


@dataclass(frozen=True, kw_only=True)
class ConceptEvidence:
    """The strongest examples of the concepts of one cell, ordered by concept, side (as `SIDES`) and rank."""

    n_concepts: int
    """Width of the dictionary."""
    example_ids: tuple[str, ...]
    """Examples that speak for a concept, each once."""
    n_tokens: Int[np.ndarray, " n_examples"]
    """Counted tokens |x| of each, as they were found when their tokens were read."""
    scores: Float[np.ndarray, " n_examples"]
    """s(x) of each, the mean over its scored answers; NaN when unscored."""
    concept_ids: Int[np.ndarray, " n_rows"]
    """Each row's concept, ascending."""
    sides: Int[np.ndarray, " n_rows"]
    """Each row's side, by its place in `SIDES`."""
    ranks: Int[np.ndarray, " n_rows"]
    """From 1, the highest saliency of the concept and side."""
    examples: Int[np.ndarray, " n_rows"]
    """Each row's example, by its place in `example_ids`."""
    saliency: Float[np.ndarray, " n_rows"]
    """a_c(x), as in the activations."""
    edges: Int[np.ndarray, " n_rows_and_1"]
    """Firings of row i are those from edges[i] up to edges[i + 1]."""
    starts: Int[np.ndarray, " n_firings"]
    """As in `PairFirings`."""
    ends: Int[np.ndarray, " n_firings"]
    """As in `PairFirings`."""
    activations: Float[np.ndarray, " n_firings"]
    """As in `PairFirings`."""

    def of(self, concept_ids: Int[np.ndarray, " n"] | list[int]) -> "ConceptEvidence":
        """What there is of some concepts; every example stays listed."""
        return self.where(np.isin(self.concept_ids, np.asarray(concept_ids, np.int64)))

    def where(self, kept: Bool[np.ndarray, " n_rows"]) -> "ConceptEvidence":
        """Some of the rows; every example stays listed."""
        lengths = np.diff(self.edges)
        fires = np.repeat(kept, lengths)
        return ConceptEvidence(
            n_concepts=self.n_concepts,
            example_ids=self.example_ids,
            n_tokens=self.n_tokens,
            scores=self.scores,
            concept_ids=self.concept_ids[kept],
            sides=self.sides[kept],
            ranks=self.ranks[kept],
            examples=self.examples[kept],
            saliency=self.saliency[kept],
            edges=np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64),
            starts=self.starts[fires],
            ends=self.ends[fires],
            activations=self.activations[fires],
        )

    def rows(self) -> Iterator[EvidenceRow]:
        """One by one, for whoever shows a few."""
        for row in range(len(self.examples)):
            example = int(self.examples[row])
            fires = slice(int(self.edges[row]), int(self.edges[row + 1]))
            score = float(self.scores[example])
            yield EvidenceRow(
                concept_id=int(self.concept_ids[row]),
                example_id=self.example_ids[example],
                side=SIDES[int(self.sides[row])],
                rank=int(self.ranks[row]),
                score=None if np.isnan(score) else score,
                saliency=float(self.saliency[row]),
                n_tokens=int(self.n_tokens[example]),
                starts=tuple(self.starts[fires].tolist()),
                ends=tuple(self.ends[fires].tolist()),
                activations=tuple(self.activations[fires].tolist()),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvidence:
    """Where one cell's evidence is kept, and how much there is; the rows themselves are shards."""

    model: str
    """Name of the model whose cell it is."""
    benchmark: str
    """Name of the benchmark."""
    sae: str
    """The SAE that read it."""
    fingerprint: str
    """Hash of activations, scores and how many examples are kept."""
    n_kept: int
    """Examples kept of each concept, right, wrong and unscored ones apart, at most."""
    n_concepts: int
    """Concepts that any example speaks for: those that fire in the benchmark."""
    n_examples: int
    """Examples that speak for any concept: their tokens were read."""
    n_rows: int
    """Pairs of a concept and an example kept."""
    n_firings: int
    """Tokens kept, over all rows: those on which the row's concept fires."""
    path: str
    """Directory of the shards, relative to the data directory."""
