"""All labels of an SAE's concepts from all sources, one of each concept's chosen to be shown.

Nothing is dropped: a label that is not chosen, or that scored low, keeps its row. The rule is in
`label_specs.Labelling`: by source, then the highest score, then the latest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cg_pipeline.label_records import ConceptLabel, GivenLabel, LlmLabel, StoredLabels
from cg_pipeline.label_specs import KINDS, Labelling
from cg_pipeline.records import Concept
from cg_pipeline.specs import Sae

AUTOMATIC = "automatic"

_COMPARED = ("detection", "fuzzing", "score")
"""Kinds of scores that are shares of right answers, 0.5 being chance: of the tests here, and the user's own.

Exports know others on scales of their own; those are kept, and no bound is theirs.
"""


def merge_labels(
    sae: Sae,
    concepts: Sequence[Concept],
    given: Sequence[tuple[StoredLabels, Sequence[GivenLabel]]],
    written: Sequence[LlmLabel] = (),
) -> list[ConceptLabel]:
    """Every label of every concept, by concept, the chosen one first.

    Args:
        sae: the SAE, whose spec has the rule of precedence.
        concepts: its dictionary with the automatic labels.
        given: labels of each published source and of the user's files.
        written: labels by language models.

    Raises:
        ValueError: a label is for a concept that the dictionary does not have.
    """
    bound = sae.labels.low_score
    rows = [
        *(_automatic(concept) for concept in concepts),
        *(_given(sae.name, source, label, bound) for source, labels in given for label in labels),
        *(_written(label, bound) for label in written),
    ]
    by_concept: dict[int, list[ConceptLabel]] = {concept.concept_id: [] for concept in concepts}
    for row in rows:
        if row.concept_id not in by_concept:
            raise ValueError(
                f"A label of {row.source!r} is for concept {row.concept_id} of {sae.name!r}; expected 0 to "
                f"{len(by_concept) - 1}. Are these labels another SAE's? Correct or remove them."
            )
        by_concept[row.concept_id].append(row)
    order = _order(sae.labels, {row.source for row in rows})
    return [row for found in by_concept.values() for row in _chosen_first(found, order)]


def show_labels(
    concepts: Sequence[Concept], labels: Iterable[ConceptLabel], *, mark_low: bool = False
) -> list[Concept]:
    """The dictionary with the chosen labels and their sources; with `mark_low`, low scores before them."""
    chosen = {row.concept_id: row for row in labels if row.chosen}
    if missing := [each.concept_id for each in concepts if each.concept_id not in chosen]:
        raise ValueError(
            f"{len(missing):,} concepts of {concepts[0].sae!r} have no chosen label, such as {missing[0]}; "
            "expected one each. Materialise concept_labels again after concepts."
        )
    return [_shown(concept, chosen[concept.concept_id], mark_low=mark_low) for concept in concepts]


def comparable_score(label: GivenLabel | ConceptLabel) -> float | None:
    """The lowest of a label's scores that a bound can be compared with; None if it has none such."""
    pairs = zip(label.scores, label.score_kinds, strict=True)
    return min((score for score, kind in pairs if kind.partition(" ")[0] in _COMPARED), default=None)


def keep_former(new: Sequence[LlmLabel], former: Sequence[LlmLabel]) -> list[LlmLabel]:
    """The new labels with the former ones that they do not replace, in order of concept, model and reader.

    A former label stays when its model was not asked about the same reader's concept again; when it was,
    and gave the same, the former one stays with its date. Another reader may be back one day.
    """
    found = {(each.concept_id, each.explainer, each.reader): each for each in former}
    for each in new:
        key = (each.concept_id, each.explainer, each.reader)
        known = found.get(key)
        if known is None or not _says_it_all(known, each):
            found[key] = each
    return [found[key] for key in sorted(found)]


def _says_it_all(known: LlmLabel, new: LlmLabel) -> bool:
    """Whether a former label makes the new one needless: the same, or the same words better tested."""
    tested_less = new.n_detection + new.n_fuzzing < known.n_detection + known.n_fuzzing
    return replace(known, made=new.made) == new or (known.label == new.label and tested_less)


def label_counts(sae: Sae, labels: Sequence[ConceptLabel]) -> Mapping[str, dict[str, int]]:
    """Of each source: concepts labelled and missing, labels chosen, tested and of low score."""
    found: dict[str, dict[str, int]] = {}
    concepts: dict[str, set[int]] = {}
    for row in labels:
        counts = found.setdefault(row.source, dict.fromkeys(("labels", "chosen", "tested", "low_score"), 0))
        counts["labels"] += 1
        counts["chosen"] += row.chosen
        counts["tested"] += row.score is not None
        counts["low_score"] += row.low_score
        concepts.setdefault(row.source, set()).add(row.concept_id)
    for source, counts in found.items():
        counts["concepts"] = len(concepts[source])
        counts["missing"] = sae.d_sae - len(concepts[source])
    return found


def _order(labelling: Labelling, sources: Iterable[str]) -> dict[str, int]:
    """Each source with its rank: as the spec says, then by kind, then by name."""
    wanted = [*labelling.precedence, *KINDS]

    def rank(source: str) -> tuple[int, str]:
        return min(wanted.index(name) for name in (source, _kind(source)) if name in wanted), source

    return {source: place for place, source in enumerate(sorted(sources, key=rank))}


def _kind(source: str) -> str:
    return source.partition(":")[0]


def _chosen_first(rows: Sequence[ConceptLabel], order: Mapping[str, int]) -> list[ConceptLabel]:
    ranked = sorted(rows, key=lambda row: (row.label, row.explainer))  # equal claims: by alphabet
    ranked.sort(key=lambda row: row.made, reverse=True)
    ranked.sort(key=lambda row: (order[row.source], row.score is None, -(row.score or 0.0)))
    return [replace(row, chosen=place == 0) for place, row in enumerate(ranked)]


def _shown(concept: Concept, label: ConceptLabel, *, mark_low: bool) -> Concept:
    mark = f"(low score {label.score:.2f}) " if mark_low and label.low_score else ""
    return replace(concept, label=mark + label.label, label_source=label.source)


def _automatic(concept: Concept) -> ConceptLabel:
    label = GivenLabel(concept_id=concept.concept_id, label=concept.label)
    return _row(concept.sae, AUTOMATIC, label, low_below=0.0)


def _given(sae: str, source: StoredLabels, label: GivenLabel, bound: float) -> ConceptLabel:
    return _row(sae, source.source, replace(label, made=label.made or source.dated), bound)


def _written(label: LlmLabel, bound: float) -> ConceptLabel:
    tests = (
        ("detection", label.detection, label.n_detection),
        ("fuzzing", label.fuzzing, label.n_fuzzing),
    )
    known = [(f"{name} by {label.scorer}", score, n) for name, score, n in tests if score is not None]
    given = GivenLabel(
        concept_id=label.concept_id,
        label=label.label,
        explainer=label.explainer,
        made=label.made,
        scores=tuple(score for _, score, _ in known),
        score_kinds=tuple(name for name, _, _ in known),
        score_ns=tuple(n for _, _, n in known),
    )
    return _row(label.sae, label.explainer, given, bound)


def _row(sae: str, source: str, label: GivenLabel, low_below: float) -> ConceptLabel:
    score = min(label.scores, default=None)
    return ConceptLabel(
        sae=sae,
        concept_id=label.concept_id,
        source=source,
        label=label.label,
        chosen=False,
        explainer=label.explainer,
        made=label.made,
        score=score,
        low_score=(compared := comparable_score(label)) is not None and compared < low_below,
        scores=label.scores,
        score_kinds=label.score_kinds,
        score_ns=label.score_ns,
    )
