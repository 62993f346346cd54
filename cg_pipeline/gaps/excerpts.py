"""The examples in which a concept is strongest, with what the model answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cg_pipeline.records import Completion, ConceptActivations, Example, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One example that speaks for a concept."""

    benchmark: str
    saliency: float
    """a_c(x) in this example."""
    prompt: str
    answer: str
    """The answer read out of the completion, or the whole completion where none was found."""
    target: str
    """The canonical right answer."""
    value: float | None
    """Score in [0, 1]; None when unscored."""
    reason: str
    """Why it is unscored; empty otherwise."""


def strongest_examples(
    concept_ids: Sequence[int],
    activations: Mapping[str, ConceptActivations],
    examples: Mapping[str, Sequence[Example]],
    completions: Mapping[str, Sequence[Completion]],
    scores: Mapping[str, Sequence[Score]],
    n: int = 2,
) -> dict[int, list[Excerpt]]:
    """Up to n examples of highest saliency for each concept, over all benchmarks, scored or not.

    Saliency is in the units of one SAE, so benchmarks compare. Ties go to the earlier
    benchmark, then to the earlier example.
    """
    found: dict[int, list[tuple[float, str, str]]] = {concept_id: [] for concept_id in concept_ids}
    for benchmark, read in activations.items():
        for concept_id, strongest in _strongest(read, list(found), n).items():
            found[concept_id].extend((saliency, benchmark, example_id) for saliency, example_id in strongest)
    texts = {(name, item.example_id): item for name, items in examples.items() for item in items}
    answers = {(name, item.example_id): item for name, items in completions.items() for item in items}
    marks = {(name, item.example_id): item for name, items in scores.items() for item in items}
    return {
        concept_id: [
            _excerpt(saliency, texts[name, key], answers[name, key], marks[name, key])
            for saliency, name, key in sorted(places, key=lambda place: -place[0])[:n]
        ]
        for concept_id, places in found.items()
    }


def _strongest(
    read: ConceptActivations, concept_ids: Sequence[int], n: int
) -> dict[int, list[tuple[float, str]]]:
    """Per concept its n most salient rows of one benchmark, as (saliency, example id)."""
    columns = read.matrix()[:, np.asarray(concept_ids, dtype=np.int64)].tocsc()
    strongest: dict[int, list[tuple[float, str]]] = {}
    for place, concept_id in enumerate(concept_ids):
        span = slice(columns.indptr[place], columns.indptr[place + 1])
        rows, values = columns.indices[span], columns.data[span]
        order = np.lexsort((rows, -values))[:n]
        strongest[concept_id] = [(float(values[i]), read.example_ids[rows[i]]) for i in order]
    return strongest


def _excerpt(saliency: float, example: Example, completion: Completion, score: Score) -> Excerpt:
    return Excerpt(
        benchmark=example.benchmark,
        saliency=saliency,
        prompt=example.prompt,
        answer=score.answer or completion.text,
        target=example.targets[0],
        value=score.value,
        reason=score.reason,
    )
