"""Which examples speak for each concept: the k of highest saliency, right, wrong and unscored ones apart.

All concepts at once, by sorting. Pairs of example and concept go through in blocks, and only those as
strong as the weakest one kept so far are sorted, so that what is held besides the activations is a
block and the k best.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from cg_pipeline.evidence_records import RIGHT_FROM, SIDES
from cg_pipeline.records import ConceptActivations

_PAIRS_AT_ONCE = 2**20


@dataclass(frozen=True, kw_only=True)
class Strongest:
    """Pairs of a concept and an example, ordered by concept, side and rank."""

    concept_ids: Int[np.ndarray, " n_rows"]
    """The concept."""
    sides: Int[np.ndarray, " n_rows"]
    """How the example went, by its place in `SIDES`."""
    ranks: Int[np.ndarray, " n_rows"]
    """From 1, the highest saliency."""
    examples: Int[np.ndarray, " n_rows"]
    """The example, by its row of the activations."""
    saliency: Float[np.ndarray, " n_rows"]
    """a_c(x) > 0."""

    def first(self, k: int) -> "Strongest":
        """Those that would have been found with a smaller k."""
        return _taken(self, self.ranks <= k)


def sides_of(scores: Float[np.ndarray, " n_examples"]) -> Int[np.ndarray, " n_examples"]:
    """Side of each example by its place in `SIDES`: right from a score of 0.5 on, unscored for NaN."""
    right, wrong, unscored = (SIDES.index(side) for side in ("right", "wrong", "unscored"))
    sides = np.where(scores >= RIGHT_FROM, right, wrong)
    return np.where(np.isnan(scores), unscored, sides).astype(np.int8)


def find_strongest(
    activations: ConceptActivations,
    scores: Float[np.ndarray, " n_examples"],
    k: int,
    pairs_at_once: int = _PAIRS_AT_ONCE,
) -> Strongest:
    """Up to k examples of each side in which each concept is strongest; ties go to the lower example id.

    A concept has none in examples where it does not fire. The order of the examples is irrelevant.

    Args:
        activations: of one cell.
        scores: s(x) of its examples, in their order; NaN when unscored.
        k: examples kept of each concept and side.
        pairs_at_once: pairs sorted at a time; it changes memory and time, never the result.

    Raises:
        ValueError: k is below 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; expected 1 or more examples of each concept and side.")
    sides = sides_of(scores)
    order = _places(activations.example_ids)
    examples = np.repeat(np.arange(len(sides)), np.diff(activations.indptr))
    floors = np.zeros(activations.n_concepts * len(SIDES), np.float32)
    kept = _pairs(activations, sides, examples, slice(0, 0))
    for start in range(0, len(examples), pairs_at_once):
        block = slice(start, start + pairs_at_once)
        new = _pairs(activations, sides, examples, block)
        new = _taken(new, new.saliency >= floors[_groups(new)])
        kept = _best(_joined(kept, new), order, k)
        full = kept.ranks == k
        floors[_groups(kept)[full]] = kept.saliency[full]
    return kept


def _places(names: tuple[str, ...]) -> Int[np.ndarray, " n"]:
    """Each name's place in their order."""
    places = np.empty(len(names), np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return places


def _pairs(
    activations: ConceptActivations,
    sides: Int[np.ndarray, " n_examples"],
    examples: Int[np.ndarray, " nnz"],
    block: slice,
) -> Strongest:
    return Strongest(
        concept_ids=activations.concept_ids[block].astype(np.int64),
        sides=sides[examples[block]],
        ranks=np.zeros(len(examples[block]), np.int64),
        examples=examples[block],
        saliency=activations.saliency[block],
    )


def _groups(pairs: Strongest) -> Int[np.ndarray, " n_rows"]:
    """A number for each concept and side, in the order in which rows are kept."""
    return pairs.concept_ids * len(SIDES) + pairs.sides


def _best(pairs: Strongest, order: Int[np.ndarray, " n_examples"], k: int) -> Strongest:
    """The first k of each concept and side."""
    groups = _groups(pairs)
    found = np.lexsort((order[pairs.examples], -pairs.saliency, groups))
    groups = groups[found]
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    ranks = np.arange(len(groups)) - np.repeat(firsts, np.diff(firsts, append=len(groups))) + 1
    best = ranks <= k
    return replace(_taken(pairs, found[best]), ranks=ranks[best])


def _taken(pairs: Strongest, which: np.ndarray) -> Strongest:
    return Strongest(**{name: getattr(pairs, name)[which] for name in Strongest.__dataclass_fields__})


def _joined(one: Strongest, other: Strongest) -> Strongest:
    return Strongest(
        **{
            name: np.concatenate([getattr(one, name), getattr(other, name)])
            for name in Strongest.__dataclass_fields__
        }
    )
