"""Records for tests of labels: short, and right unless a test says otherwise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from cg_pipeline.label_records import (
    ConceptContext,
    ContextRole,
    GivenLabel,
    LlmLabel,
    StoredLabels,
    TokenFirings,
)
from cg_pipeline.label_specs import Labelling
from cg_pipeline.records import Concept
from cg_pipeline.specs import LocalWeights, Model, Sae, SaeDirectory

READER = Model(
    name="base",
    title="Base",
    weights=LocalWeights(path="models/base"),
    licence="MIT",
    chat=False,
    max_tokens=99,
    reader="tiny",
)
SAE = Sae(
    name="tiny",
    title="Tiny",
    model=READER,
    hookpoint="blocks.1.hook_resid_post",
    weights=SaeDirectory(path="saes/tiny"),
    d_sae=4,
    licence="MIT",
)


def sae(d_sae: int = 4, **labelling: Any) -> Sae:
    return replace(SAE, d_sae=d_sae, labels=Labelling(**labelling))


def concept(concept_id: int, status: Any = "alive", rate: float = 0.1) -> Concept:
    return Concept(
        sae="tiny",
        concept_id=concept_id,
        label=f"“word{concept_id}”",
        label_source="automatic",
        firing_rate=0.0 if status == "dead" else rate,
        status=status,
        top_tokens=(),
        contexts=(),
        promoted_tokens=(),
    )


def concepts(n: int = 4) -> list[Concept]:
    return [concept(i) for i in range(n)]


def stored(source: str = "own:mine.csv", kind: Any = "own", dated: str = "2026-01-01") -> StoredLabels:
    return StoredLabels(
        sae="tiny",
        source=source,
        kind=kind,
        place=source,
        revision="",
        dated=dated,
        fingerprint="f",
        path="labels/tiny/mine.csv",
        sha256="s",
        n_rows=1,
        n_labels=1,
        n_concepts=1,
    )


def given(concept_id: int, label: str, *scores: float, made: str = "") -> GivenLabel:
    n = len(scores)
    return GivenLabel(
        concept_id=concept_id,
        label=label,
        made=made,
        scores=scores,
        score_kinds=("fuzzing",) * n,
        score_ns=(20,) * n,
    )


def written(concept_id: int, label: str = "dates", model: str = "m", **changes: Any) -> LlmLabel:
    values = {
        "sae": "tiny",
        "explainer": f"llm:{model}",
        "made": "2026-02-02",
        "n_shown": 16,
        "scorer": "llm:judge",
        "detection": 0.8,
        "n_detection": 22,
        "fuzzing": 0.7,
        "n_fuzzing": 28,
        "near_misses_told": 0.5,
        "n_near_misses": 16,
        "reader": "r",
        "asked": "a",
    }
    return LlmLabel(concept_id=concept_id, label=label, **{**values, **changes})


def context(
    text: str,
    *firing: str,
    role: ContextRole = "shown",
    marked: Sequence[str] | None = None,
    concept_id: int = 0,
) -> ConceptContext:
    """An excerpt whose tokens are words with the space before them; `firing` ones have activation 1."""
    starts, ends = word_spans(text)
    words = [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    marks = firing if marked is None else marked
    return ConceptContext(
        sae="tiny",
        concept_id=concept_id,
        role=role,
        text=text,
        starts=tuple(starts),
        ends=tuple(ends),
        activations=tuple(float(word in firing) for word in words),
        marked=tuple(place for place, word in enumerate(words) if word in marks),
    )


def word_spans(text: str) -> tuple[list[int], list[int]]:
    """Where words stand, each with the space before it."""
    starts, ends, place = [], [], 0
    for word in text.split(" "):
        starts.append(max(0, place - 1))
        ends.append(place + len(word))
        place += len(word) + 1
    return starts, ends


def firings(texts: Sequence[str], fires_on: dict[int, dict[str, float]]) -> TokenFirings:
    """Concepts that fire on words: `{concept: {word: activation}}`, whatever stands around them."""
    rows, text_of, starts, ends = [], [], [], []
    for number, text in enumerate(texts):
        for start, end in zip(*word_spans(text), strict=True):
            word = text[start:end].strip()
            rows.append([fires_on[concept].get(word, 0.0) for concept in sorted(fires_on)])
            text_of.append(number)
            starts.append(start)
            ends.append(end)
    return TokenFirings(
        text_of=np.array(text_of),
        starts=np.array(starts),
        ends=np.array(ends),
        concept_ids=tuple(sorted(fires_on)),
        activations=sparse.csc_array(np.array(rows, np.float32)),
    )
