"""Who leaves out quarantined concepts, and how many of them there are: never one without the other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cg_pipeline.health_records import REASONS, ConceptHealth
from cg_pipeline.records import Concept


def set_aside(concepts: Sequence[Concept], health: Sequence[ConceptHealth]) -> list[Concept]:
    """The dictionary with the status `quarantined` of those that are, and `alive` of the others.

    Raises:
        ValueError: the verdicts are not about exactly these concepts.
    """
    verdicts = {each.concept_id: each.verdict for each in health}
    if verdicts.keys() != {concept.concept_id for concept in concepts} or len(verdicts) != len(health):
        raise ValueError(
            f"concept_health is about {len(verdicts)} concepts, the dictionary has {len(concepts)}; expected "
            "one verdict for each. Materialise concept_health again after concepts."
        )
    return [
        replace(concept, status="quarantined" if verdicts[concept.concept_id] == "quarantined" else "alive")
        for concept in concepts
    ]


def count_reasons(health: Sequence[ConceptHealth]) -> Mapping[str, int]:
    """Quarantined concepts by reason, in the order of `REASONS`; one with two reasons counts under both."""
    counts = Counter(reason for each in health for reason in each.reasons)
    return {reason: counts[reason] for reason in REASONS if counts[reason]}


def count_quarantined(health: Sequence[ConceptHealth]) -> int:
    """Quarantined concepts, each once."""
    return sum(each.verdict == "quarantined" for each in health)
