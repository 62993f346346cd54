"""Which concepts can be trusted in a study: how each fires on its examples, and what speaks against it.

Arrays in, arrays out, one number per concept; `measure_health` turns them into records at the end.

Why the verdict looks only at tokens that count: an SAE fires something on every token of a chat
template, and the template is the same in every prompt, so that a concept which is rare in the examples
themselves would look as if it were about the template. What is not counted never reaches a score. The
shares on all tokens are stored besides.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from cg_pipeline.health_records import PLACES, REASONS, ConceptHealth, FitArrays, Place
from cg_pipeline.health_specs import HealthRules
from cg_pipeline.records import Concept, ConceptActivations
from cg_pipeline.stats.weighted import ratio

_SHOWN: tuple[Place, ...] = ("bos", "template", "first")
_PLACED = [index for index, place in enumerate(PLACES) if place != "content"]


@dataclass(frozen=True, kw_only=True)
class PooledSaliency:
    """Saliency over all examples of a study, whatever their benchmark."""

    n_examples: int
    n_active: Int[np.ndarray, " n_concepts"]
    """Examples in which each concept fires."""
    mean: Float[np.ndarray, " n_concepts"]
    """Over those; NaN where there is none."""
    highest: Float[np.ndarray, " n_concepts"]
    """0 where there is none."""


def measure_health(
    model: str,
    concepts: Sequence[Concept],
    arrays: FitArrays,
    activations: Iterable[ConceptActivations],
    label_scores: Mapping[int, float],
    rules: HealthRules,
) -> list[ConceptHealth]:
    """One record per concept, in the order of the dictionary.

    Args:
        model: whose study it is.
        concepts: the dictionary, in the order of its ids.
        arrays: what was counted in the sample of the study's examples.
        activations: of every benchmark of the study.
        label_scores: of the concepts whose shown label was tested.
        rules: bounds.

    Raises:
        ValueError: dictionary, counts and activations are not of one width.
    """
    n = len(concepts)
    activations = list(activations)
    check_widths(n, arrays, activations)
    pooled = pool_saliency(activations, n)
    broad = np.array([concept.firing_rate for concept in concepts], dtype=np.float64)
    totals = arrays.firings.sum(0)
    columns = {
        "broad_rate": broad,
        "token_rate": token_rates(arrays),
        "example_rate": pooled.n_active / max(pooled.n_examples, 1),
        "mean_saliency": pooled.mean,
        "max_saliency": pooled.highest,
        "n_firings": totals,
        **{f"{place}_share": _share(arrays.firings, place) for place in _SHOWN},
        "nearest_concept_id": arrays.nearest,
        "cosine": arrays.cosine.astype(np.float64),
    }
    scores = np.array([label_scores.get(each.concept_id, np.nan) for each in concepts], dtype=np.float64)
    faults = find_faults([each.status for each in concepts], broad, arrays, scores, rules)
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [
        ConceptHealth(
            model=model,
            concept_id=concept.concept_id,
            verdict="quarantined" if reasons else "fine",
            reasons=reasons,
            label_score=label_scores.get(concept.concept_id),
            **dict(zip(columns, row, strict=True)),
        )
        for concept, row, reasons in zip(concepts, rows, _reasons(faults, n), strict=True)
    ]


def check_widths(n_concepts: int, arrays: FitArrays, activations: Sequence[ConceptActivations]) -> None:
    """Refuse what is not about one dictionary: every number would be another concept's."""
    read = {each.n_concepts for each in activations}
    for noun, width in [("reader_fit", arrays.firings.shape[1]), *(("activations", width) for width in read)]:
        if width != n_concepts:
            raise ValueError(
                f"{noun} have {width} concepts, the dictionary {n_concepts}; expected one width. Materialise "
                f"concepts and {noun} again with the same SAE."
            )


def pool_saliency(activations: Sequence[ConceptActivations], n_concepts: int) -> PooledSaliency:
    """Count, mean and maximum of each concept's saliency over all examples where it fires."""
    counts, totals, highest = (np.zeros(n_concepts) for _ in range(3))
    for part in activations:
        counts += np.bincount(part.concept_ids, minlength=n_concepts)
        totals += np.bincount(part.concept_ids, weights=part.saliency, minlength=n_concepts)
        np.maximum.at(highest, part.concept_ids, part.saliency)
    return PooledSaliency(
        n_examples=sum(len(part.example_ids) for part in activations),
        n_active=counts.astype(np.int64),
        mean=ratio(totals, counts),
        highest=highest,
    )


def token_rates(arrays: FitArrays) -> Float[np.ndarray, " n_concepts"]:
    """Share of the counted tokens of the sample on which each concept fires."""
    return arrays.counted_firings.sum(0) / max(int(arrays.counted_tokens.sum()), 1)


def find_faults(
    status: Sequence[str],
    broad_rate: Float[np.ndarray, " n_concepts"],
    arrays: FitArrays,
    label_scores: Float[np.ndarray, " n_concepts"],
    rules: HealthRules,
) -> dict[str, Bool[np.ndarray, " n_concepts"]]:
    """Of every reason in `REASONS`, which concepts it holds for.

    Args:
        status: what the dictionary says of each concept.
        broad_rate: share of the tokens of broad text on which each fires.
        arrays: what was counted in the sample of the study's examples.
        label_scores: NaN where the shown label was not tested.
        rules: bounds.
    """
    states = np.array(status, dtype=object)
    bound = -np.inf if rules.min_label_score is None else rules.min_label_score
    faults = {
        "dead": states == "dead",
        "dense": (states == "dense") | (token_rates(arrays) > rules.max_token_rate),
        "positional": positional(arrays.counted_firings, rules),
        "badly_labelled": label_scores < bound,  # false for NaN
    }
    sound = ~np.logical_or.reduce(list(faults.values()))
    shared = duplicates(arrays.nearest, arrays.cosine, broad_rate, rules.max_cosine, sound)
    return {**faults, "duplicate": shared}


def positional(
    counted_firings: Int[np.ndarray, "n_places n_concepts"], rules: HealthRules
) -> Bool[np.ndarray, " n_concepts"]:
    """Which concepts fire, where it counts, nearly only on BOS, template or first tokens."""
    totals = counted_firings.sum(0)
    placed = counted_firings[_PLACED].sum(0)
    return (totals >= rules.min_firings) & (placed > rules.max_place_share * totals)


def duplicates(
    nearest: Int[np.ndarray, " n_concepts"],
    cosine: Float[np.ndarray, " n_concepts"],
    rate: Float[np.ndarray, " n_concepts"],
    max_cosine: float,
    among: Bool[np.ndarray, " n_concepts"],
) -> Bool[np.ndarray, " n_concepts"]:
    """Which concepts share their direction with one that stays and fires more often.

    From the highest `rate` down, of equals from the lowest id up, a concept stays unless one that stays is
    closer to it than `max_cosine`. Close is who is the other's nearest one.

    Args:
        nearest: the concept whose direction is nearest to each; -1 for none.
        cosine: of the two directions.
        rate: how often each fires.
        max_cosine: bound.
        among: who is looked at: nobody is left out for one who is left out for another reason.
    """
    close = (cosine > max_cosine) & (nearest >= 0) & among & among[nearest]
    linked: dict[int, set[int]] = {}
    for one, other in zip(np.flatnonzero(close).tolist(), nearest[close].tolist(), strict=True):
        linked.setdefault(one, set()).add(other)
        linked.setdefault(other, set()).add(one)
    stays: set[int] = set()
    found = np.zeros(len(nearest), dtype=bool)
    for one in sorted(linked, key=lambda each: (-rate[each], each)):
        if linked[one] & stays:
            found[one] = True
        else:
            stays.add(one)
    return found


def _share(firings: Int[np.ndarray, "n_places n_concepts"], place: Place) -> Float[np.ndarray, " n_concepts"]:
    """Share of each concept's firings that is on tokens of one kind; NaN for a concept that never fires."""
    counts = firings.astype(np.float64)
    return ratio(counts[PLACES.index(place)], counts.sum(0))


def _reasons(faults: Mapping[str, Bool[np.ndarray, " n_concepts"]], n: int) -> list[tuple[str, ...]]:
    return [tuple(reason for reason in REASONS if faults[reason][index]) for index in range(n)]
