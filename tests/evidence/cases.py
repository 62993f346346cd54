"""Streams of tokens and evidence small enough to check by hand."""

import numpy as np
from scipy import sparse

from cg_pipeline.evidence.pairs import Wanted, pairs_of
from cg_pipeline.evidence_records import ConceptEvidence, PairFirings
from cg_pipeline.label_records import TokenFirings


def stream(texts: list[list[dict[int, float]]]) -> TokenFirings:
    """Each text is a list of tokens, each what fires on it; a token covers two characters."""
    concepts = sorted({concept for text in texts for token in text for concept in token})
    tokens = [token for text in texts for token in text]
    dense = np.array([[token.get(concept, 0.0) for concept in concepts] for token in tokens], np.float32)
    starts = np.array([2 * place for text in texts for place in range(len(text))], np.int64)
    return TokenFirings(
        text_of=np.repeat(np.arange(len(texts)), [len(text) for text in texts]),
        starts=starts,
        ends=starts + 2,
        concept_ids=tuple(concepts),
        activations=sparse.csc_array(dense.reshape(len(tokens), len(concepts))),
    )


def plain(found: PairFirings) -> dict[tuple[str, int], list[tuple[int, int, float]]]:
    """Every pair with its firing tokens, as (start, end, activation)."""
    shown = {}
    for pair, (example, concept) in enumerate(zip(found.examples, found.concept_ids, strict=True)):
        fires = slice(found.edges[pair], found.edges[pair + 1])
        places = zip(found.starts[fires], found.ends[fires], found.activations[fires], strict=True)
        key = (found.example_ids[example], int(concept))
        assert key not in shown
        shown[key] = [(int(start), int(end), float(activation)) for start, end, activation in places]
    return shown


def pairs(texts: dict[str, list[dict[int, float]]], wanted: Wanted) -> PairFirings:
    return pairs_of(stream(list(texts.values())), list(texts), wanted)


def small_evidence() -> ConceptEvidence:
    """Concept 0: a right (saliency 2), b wrong (1.5); concept 7: b wrong (1), c unscored (0.5)."""
    return ConceptEvidence(
        n_concepts=9,
        example_ids=("a", "b", "c"),
        n_tokens=np.array([2, 4, 2]),
        scores=np.array([1.0, 0.0, np.nan]),
        concept_ids=np.array([0, 0, 7, 7]),
        sides=np.array([0, 1, 1, 2], np.int8),
        ranks=np.array([1, 1, 1, 1]),
        examples=np.array([0, 1, 1, 2]),
        saliency=np.array([2.0, 1.5, 1.0, 0.5], np.float32),
        edges=np.array([0, 2, 3, 4, 5]),
        starts=np.array([0, 2, 4, 0, 0], np.int32),
        ends=np.array([2, 4, 6, 2, 2], np.int32),
        activations=np.array([3.0, 1.0, 6.0, 4.0, 1.0], np.float32),
    )
