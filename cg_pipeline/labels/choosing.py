"""Which concepts a language model is asked to label: few, for each costs several questions."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from cg_pipeline.records import Concept

N_KINDRED = 4
"""Concepts of similar direction that are looked at as near misses."""


def choose_concepts(
    concepts: Sequence[Concept], *, named: Sequence[int] = (), top: int = 0, limit: int
) -> tuple[int, ...]:
    """The concepts named; else the `top` alive ones that fire most often, all of them for 0.

    Args:
        concepts: the dictionary.
        named: ids of concepts that are wanted, whatever their status.
        top: how many alive ones, when none is named.
        limit: most that may be chosen at all.

    Raises:
        ValueError: a named concept does not exist or never fires, or more are chosen than the limit allows.
    """
    chosen = _named(concepts, named) if named else _most_firing(concepts, top)
    if len(chosen) > limit:
        raise ValueError(
            f"{len(chosen):,} concepts are chosen to be labelled; expected at most {limit:,}, the limit. "
            "Choose fewer, or raise the limit: each costs several questions to a language model."
        )
    if not chosen:
        raise ValueError("No concept is alive; expected some to label. Is it the right SAE and text?")
    return tuple(sorted(chosen))


def kindred_of(
    directions: Float[np.ndarray, "n_concepts d_model"], concept_ids: Sequence[int], n: int = N_KINDRED
) -> Mapping[int, tuple[int, ...]]:
    """For each concept the n others whose decoder directions (unit length) are nearest, nearest first."""
    found: dict[int, tuple[int, ...]] = {}
    for concept_id in concept_ids:
        cosines = directions @ directions[concept_id]
        cosines[concept_id] = -np.inf
        nearest = np.argsort(-cosines, kind="stable")[: min(n, len(directions) - 1)]
        found[concept_id] = tuple(map(int, nearest))
    return found


def _named(concepts: Sequence[Concept], named: Sequence[int]) -> set[int]:
    by_id = {concept.concept_id: concept for concept in concepts}
    for concept_id in named:
        if concept_id not in by_id:
            raise ValueError(
                f"Concept {concept_id} does not exist; expected 0 to {len(by_id) - 1}. Correct it."
            )
        if by_id[concept_id].status == "dead":
            raise ValueError(
                f"Concept {concept_id} never fires on the broad sample, so there is nothing to label it by; "
                "expected a concept that fires. Leave it out."
            )
    return set(named)


def _most_firing(concepts: Sequence[Concept], top: int) -> set[int]:
    alive = sorted(
        (concept for concept in concepts if concept.status == "alive"),
        key=lambda concept: (-concept.firing_rate, concept.concept_id),
    )
    return {concept.concept_id for concept in (alive[:top] if top else alive)}
