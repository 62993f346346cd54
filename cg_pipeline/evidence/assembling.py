"""Evidence as it is kept: the strongest examples of each concept with their token activations."""

import numpy as np
from jaxtyping import Float

from cg_pipeline.evidence.pairs import places_of
from cg_pipeline.evidence.strongest import Strongest
from cg_pipeline.evidence_records import ConceptEvidence, PairFirings
from cg_pipeline.records import ConceptActivations


def wanted_of(strongest: Strongest, activations: ConceptActivations) -> dict[str, list[int]]:
    """The concepts whose token activations are wanted of each example, by its id, in the examples' order."""
    order = np.lexsort((strongest.concept_ids, strongest.examples))
    examples, firsts = np.unique(strongest.examples[order], return_index=True)
    parts = np.split(strongest.concept_ids[order], firsts[1:])
    pairs = zip(examples.tolist(), parts, strict=False)  # of no example there is one part, an empty one
    return {activations.example_ids[example]: part.tolist() for example, part in pairs}


def assemble_evidence(
    strongest: Strongest,
    activations: ConceptActivations,
    scores: Float[np.ndarray, " n_examples"],
    firings: PairFirings,
) -> ConceptEvidence:
    """The strongest examples with the tokens on which each concept fires.

    Args:
        strongest: which examples.
        activations: what they were found in.
        scores: s(x) of its examples, in their order.
        firings: of these pairs, and maybe of others.

    Raises:
        LookupError: a pair's token activations are not among the firings.
    """
    kept = np.unique(strongest.examples)
    names = tuple(activations.example_ids[example] for example in kept.tolist())
    read = {name: place for place, name in enumerate(firings.example_ids)}
    if unread := [name for name in names if name not in read]:
        raise LookupError(
            f"{len(unread)} examples were never read token by token, the first {unread[0]!r}; expected "
            f"all {len(names)} that speak for a concept. Read them first."
        )
    places = np.array([read[name] for name in names], np.int64)
    examples = np.searchsorted(kept, strongest.examples)
    found = places_of(firings, places[examples], strongest.concept_ids)
    lengths = np.diff(firings.edges)[found]
    edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    gathered = np.repeat(firings.edges[found] - edges[:-1], lengths) + np.arange(edges[-1])
    return ConceptEvidence(
        n_concepts=activations.n_concepts,
        example_ids=names,
        n_tokens=firings.n_tokens[places],
        scores=scores[kept],
        concept_ids=strongest.concept_ids,
        sides=strongest.sides,
        ranks=strongest.ranks,
        examples=examples.astype(np.int64),
        saliency=strongest.saliency,
        edges=edges,
        starts=firings.starts[gathered],
        ends=firings.ends[gathered],
        activations=firings.activations[gathered],
    )
