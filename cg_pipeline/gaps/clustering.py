"""Gaps in groups of kindred concepts, by decoder direction and by words.

Why both: two directions that point the same way are kindred whatever they are called, but
an SAE spreads one subject over nearly orthogonal directions that only words bring together.

Why k-means on unit vectors: gaps come by the thousand, and average linkage on such data
leaves one giant group beside singletons. scikit-learn is imported where it is used: it takes
more than a second that loading the package need not spend.
"""

import math
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from cg_pipeline.gaps.selection import KINDS, SUITE
from cg_pipeline.gaps.wording import concept_document, name_groups, word_spread
from cg_pipeline.records import Concept, Gap, GapCluster, GapKind

WORD_WEIGHT = 0.7
"""Share of words in the similarity of two concepts; the rest is the cosine of their directions."""

_COMPONENTS = 48
"""Dimensions kept of each view: enough for kinship, few enough for thousands of gaps."""

_SILHOUETTE_SAMPLE = 2000
"""Concepts on which a number of groups is judged."""

_LARGE = 100
"""Concepts from which on words of a single concept, or of more than a tenth of them, are left out."""


def group_gaps(
    gaps: Sequence[Gap],
    concepts: Sequence[Concept],
    directions: Float[np.ndarray, "n_concepts d_model"],
    *,
    max_clusters: int,
    seed: int,
) -> list[GapCluster]:
    """The suite's gaps in groups, kind by kind, largest group first, each with an automatic name.

    similarity(c, d) = 0.7 · cos(words of c, words of d) + 0.3 · cos(direction c, direction d).
    Words are TF-IDF over label, tokens and contexts in the space of the 48 leading
    components of the whole dictionary (so that *egg* and *butter* are near where they keep
    the same company); directions keep the 48 leading components of the gaps at hand. The
    number of groups, from 2 to `max_clusters` and at most √n, has the highest silhouette; 1
    where fewer than three gaps differ. Gaps of single benchmarks are not grouped. Equal
    input and seed give equal groups.

    Source: this project; the paper has an LLM group the concepts [given].
    """
    of_suite = sorted((gap for gap in gaps if gap.scope == SUITE), key=lambda gap: gap.rank)
    if not of_suite:
        return []
    spread = word_spread(concepts)
    words = _word_view(concepts, spread, seed)
    place = {concept.concept_id: number for number, concept in enumerate(concepts)}
    clusters: list[GapCluster] = []
    for kind in KINDS:
        members = [gap.concept_id for gap in of_suite if gap.kind == kind]
        if members:
            rows = [place[concept_id] for concept_id in members]
            points = _points(words[rows], _direction_view(directions[members], seed))
            groups = [[rows[k] for k in group] for group in _split(points, max_clusters, seed)]
            clusters.extend(
                _clusters(of_suite[0].model, kind, [[concepts[k] for k in g] for g in groups], spread)
            )
    return clusters


def _clusters(
    model: str, kind: GapKind, groups: Sequence[Sequence[Concept]], spread: Counter[str]
) -> Iterator[GapCluster]:
    for number, (group, name) in enumerate(zip(groups, name_groups(groups, spread), strict=True)):
        yield GapCluster(
            model=model,
            kind=kind,
            cluster_id=number,
            name=name,
            name_source="automatic",
            explanation="",
            note="",
            concept_ids=tuple(concept.concept_id for concept in group),
        )


def _points(
    words: Float[np.ndarray, "n_gaps d_words"], directions: Float[np.ndarray, "n_gaps d_directions"]
) -> Float[np.ndarray, "n_gaps d"]:
    """Points whose dot products are the similarity: both views of unit length, weighted and side by side."""
    return np.hstack([np.sqrt(WORD_WEIGHT) * words, np.sqrt(1 - WORD_WEIGHT) * directions])


def _word_view(
    concepts: Sequence[Concept], spread: Counter[str], seed: int
) -> Float[np.ndarray, "n_dictionary d_words"]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    n = len(concepts)
    fewest, most = (2, n / 10) if n >= _LARGE else (1, n)
    vocabulary = sorted(word for word, count in spread.items() if fewest <= count <= most)
    if not vocabulary:
        return np.zeros((n, 1))
    tf_idf = TfidfVectorizer(
        vocabulary=vocabulary, token_pattern=r"\S+", lowercase=False, sublinear_tf=True
    ).fit_transform(concept_document(concept) for concept in concepts)
    return _unit(_leading_components(sparse.csr_array(tf_idf), seed))


def _direction_view(
    directions: Float[np.ndarray, "n_gaps d_model"], seed: int
) -> Float[np.ndarray, "n_gaps d_directions"]:
    return _unit(_leading_components(_unit(np.nan_to_num(directions.astype(np.float64))), seed))


def _leading_components(
    rows: sparse.csr_array | Float[np.ndarray, "n_gaps d_view"], seed: int
) -> Float[np.ndarray, "n_gaps d"]:
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits

    n_rows, n_columns = cast(tuple[int, int], rows.shape)
    n_components = min(_COMPONENTS, n_rows - 1, n_columns - 1)
    if n_components < 2:
        return rows.toarray() if isinstance(rows, sparse.csr_array) else rows
    with threadpool_limits(limits=1):  # sums in one order: equal input, equal groups
        left, sizes, _ = randomized_svd(rows, n_components, random_state=seed)
    return left * sizes


def _unit(rows: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _split(
    points: Float[np.ndarray, "n_gaps d"], max_clusters: int, seed: int
) -> list[Int[np.ndarray, " n"]]:
    """Places of each group's members in rank order; groups by size, then by their strongest member."""
    labels = _best_labels(points, max_clusters, seed)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return sorted(groups, key=lambda group: (-len(group), group[0]))


def _best_labels(
    points: Float[np.ndarray, "n_gaps d"], max_clusters: int, seed: int
) -> Int[np.ndarray, " n_gaps"]:
    from sklearn.metrics import pairwise_distances, silhouette_score

    n = len(points)
    n_distinct = len(np.unique(points.round(6), axis=0))
    judged = np.sort(np.random.default_rng(seed).permutation(n)[:_SILHOUETTE_SAMPLE])
    distances = pairwise_distances(points[judged])
    best, best_score = np.zeros(n, dtype=np.int64), -np.inf
    for k in range(2, min(max_clusters, n_distinct, n - 1, math.ceil(math.sqrt(n))) + 1):
        labels = _k_means(points, k, seed)
        if not 2 <= len(np.unique(labels[judged])) < len(judged):
            continue
        score = silhouette_score(distances, labels[judged], metric="precomputed")
        if score > best_score:
            best, best_score = labels, score
    return best


def _k_means(points: Float[np.ndarray, "n_gaps d"], k: int, seed: int) -> Int[np.ndarray, " n_gaps"]:
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than groups is no fault
        model = KMeans(k, n_init=8, random_state=seed)  # pyright: ignore[reportArgumentType] (its stub says str)
        return model.fit_predict(points).astype(np.int64)
