"""Names for groups of gaps by a namer, where one is at hand."""

from collections.abc import Sequence
from dataclasses import replace

from cg_pipeline.gaps.legible import visible
from cg_pipeline.gaps.wording import first_free
from cg_pipeline.protocols import GroupNamer, NamingFailed
from cg_pipeline.records import Concept, GapCluster

MAX_FAILURES = 3
"""Failures in a row after which the namer is not asked again: it is down, not unlucky."""

_LABELS = 40
"""Members, strongest first, whose labels a namer is shown."""


def name_clusters(
    clusters: Sequence[GapCluster], concepts: Sequence[Concept], namer: GroupNamer | None
) -> list[GapCluster]:
    """The clusters with the namer's names and explanations; unchanged without a namer.

    A cluster that it fails to name keeps its automatic name, and `note` says why. One
    failure does not stop the others; three in a row do. Two groups of a kind never get one
    name: the second is numbered.
    """
    if namer is None:
        return list(clusters)
    labels = {concept.concept_id: concept.label for concept in concepts}
    named: list[GapCluster] = []
    failures = 0
    for cluster in clusters:
        if failures >= MAX_FAILURES:
            note = f"Not asked: {namer.source} failed {MAX_FAILURES} times in a row before."
            named.append(replace(cluster, note=note))
            continue
        taken = [other.name for other in named if other.kind == cluster.kind]
        renamed = _ask(namer, cluster, [labels[member] for member in cluster.concept_ids[:_LABELS]], taken)
        failures = failures + 1 if renamed.note else 0
        named.append(renamed)
    return named


def _ask(namer: GroupNamer, cluster: GapCluster, labels: Sequence[str], taken: Sequence[str]) -> GapCluster:
    try:
        group = namer.name_group(cluster.kind, labels)
    except NamingFailed as failure:
        return replace(cluster, note=visible(str(failure)) or f"{namer.source} gave no name and no reason.")
    if not group.name.strip():
        return replace(cluster, note=f"{namer.source} gave an empty name.")
    name = first_free(iter([visible(group.name)]), taken)
    return replace(cluster, name=name, name_source=namer.source, explanation=visible(group.explanation))
