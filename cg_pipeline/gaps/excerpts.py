"""The examples that speak for a concept, right and wrong, with what the model answered and where it fires."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cg_pipeline.evidence_records import RIGHT_FROM, ConceptEvidence, EvidenceRow, Side
from cg_pipeline.gaps.highlights import Piece, highlight
from cg_pipeline.records import Completion, Example, Score

SHOWN_CHARACTERS = 260
"""Of an example's prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One example that speaks for a concept."""

    benchmark: str
    side: Side
    """How it went: right from a score of 0.5 on."""
    saliency: float
    """a_c(x) in this example."""
    pieces: Sequence[Piece]
    """The prompt around the token on which the concept fires most."""
    answer: str
    """The answer read out of the completion, or the whole completion where none was found."""
    target: str
    """The canonical right answer; empty where a judge or a checker decides."""
    value: float | None
    """Score in [0, 1], the mean over several answers; None when unscored."""
    reason: str
    """Why it is unscored; empty otherwise."""


@dataclass(frozen=True, kw_only=True)
class Texts:
    """What was asked and answered, by benchmark and example."""

    examples: Mapping[tuple[str, str], Example]
    completions: Mapping[tuple[str, str, int], Completion]
    scores: Mapping[tuple[str, str], Sequence[Score]]
    """Of every answer to an example."""


def gather_texts(
    examples: Mapping[str, Sequence[Example]],
    completions: Mapping[str, Sequence[Completion]],
    scores: Mapping[str, Sequence[Score]],
) -> Texts:
    """The same by benchmark and example."""
    answers: dict[tuple[str, str], list[Score]] = {}
    for name, found in scores.items():
        for score in found:
            answers.setdefault((name, score.example_id), []).append(score)
    return Texts(
        examples={(name, each.example_id): each for name, found in examples.items() for each in found},
        completions={
            (name, each.example_id, each.sample): each
            for name, found in completions.items()
            for each in found
        },
        scores=answers,
    )


def show_evidence(
    concept_ids: Sequence[int], evidence: Mapping[str, ConceptEvidence], texts: Texts, n: int
) -> dict[int, list[Excerpt]]:
    """Up to n right and n wrong examples of highest saliency for each concept, over all the benchmarks.

    Where no example of it was scored, unscored ones. Saliency is in the units of one SAE, so benchmarks
    compare; ties go to the earlier benchmark, then to the lower example id. Exact as long as n is no more
    than what each benchmark keeps.
    """
    wanted = set(concept_ids)
    found: dict[int, dict[Side, list[tuple[str, EvidenceRow]]]] = {concept: {} for concept in concept_ids}
    for benchmark, kept in evidence.items():
        for row in kept.of(sorted(wanted)).rows():
            found[row.concept_id].setdefault(row.side, []).append((benchmark, row))
    shown: dict[int, list[Excerpt]] = {}
    for concept_id, by_side in found.items():
        sides: tuple[Side, ...] = ("right", "wrong") if by_side.keys() - {"unscored"} else ("unscored",)
        chosen = [
            each for side in sides for each in sorted(by_side.get(side, ()), key=lambda e: -e[1].saliency)[:n]
        ]
        shown[concept_id] = [_excerpt(benchmark, row, texts) for benchmark, row in chosen]
    return shown


def _excerpt(benchmark: str, row: EvidenceRow, texts: Texts) -> Excerpt:
    example = texts.examples[benchmark, row.example_id]
    score = _typical(texts.scores[benchmark, row.example_id], row.side)
    completion = texts.completions[benchmark, row.example_id, score.sample]
    places = (row.starts, row.ends, row.activations)
    return Excerpt(
        benchmark=benchmark,
        side=row.side,
        saliency=row.saliency,
        pieces=highlight(example.prompt, *places, SHOWN_CHARACTERS),
        answer=score.answer or completion.text,
        target=example.targets[0] if example.targets else "",
        value=row.score,
        reason=score.reason if row.score is None else "",
    )


def _typical(scores: Sequence[Score], side: Side) -> Score:
    """Of several answers to an example, the first that went as the example went on the whole."""
    for score in scores:
        if score.value is not None and side == ("right" if score.value >= RIGHT_FROM else "wrong"):
            return score
    return scores[0]
