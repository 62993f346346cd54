"""What flows between the stages that label concepts; each record is also a table, as in `records`.

Kept apart from `records` because labels are words about concepts and never enter a number:
nothing that measures a concept reads what is here.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from cg_pipeline.label_specs import LabelKind

ContextRole = Literal["shown", "held_out", "kindred", "same_words", "random"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLabels:
    """Where one source's labels of an SAE came from, and the file they are read from."""

    sae: str
    """Name of the SAE."""
    source: str
    """Kind and name of the source, for example `own:mine.csv`."""
    kind: LabelKind
    """own: a file of the user's; hub: Hugging Face; neuronpedia: its public exports."""
    place: str
    """Where exactly: the file, or repository, commit and files, or address of the export."""
    revision: str
    """Commit on the hub; for an export the day as of which it was wanted; empty for the user's file."""
    dated: str
    """Day of its newest label; where labels have none, of the last change of file, commit or export."""
    fingerprint: str
    """Hash of the file's content, or of the pin."""
    path: str
    """The file that is read, relative to the data directory."""
    sha256: str
    """SHA-256 of that file."""
    n_rows: int
    """Rows in it, those without a text among them."""
    n_labels: int
    """Labels in it."""
    n_concepts: int
    """Concepts with a label; the SAE's others have none from here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """One label as its source gives it."""

    concept_id: int
    label: str
    """On one line; never empty."""
    explainer: str = ""
    """Who or what wrote it; empty where the source does not say."""
    made: str = ""
    """Day it was written, YYYY-MM-DD; empty where the source does not say."""
    scores: tuple[float, ...] = ()
    """As the source has them, in its own scale."""
    score_kinds: tuple[str, ...] = ()
    """What each score is of."""
    score_ns: tuple[int, ...] = ()
    """Judgements behind each score; 0 where the source does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptLabel:
    """One label of one concept by one source."""

    sae: str
    """Name of the SAE."""
    concept_id: int
    """The concept, as in table concepts."""
    source: str
    """Kind and name of the source: own:…, llm:…, neuronpedia:…, hub:…, or `automatic`."""
    label: str
    """The label; never empty. A concept to which a source gives none has no row of that source."""
    chosen: bool
    """Whether it is the one that reports show: true for exactly one row of each concept."""
    explainer: str
    """Who or what wrote it; empty where the source does not say."""
    made: str
    """Day it was written, or else the day of its source, YYYY-MM-DD; empty for automatic labels."""
    score: float | None
    """The lowest of its scores; NULL for a label nobody has tested."""
    low_score: bool
    """Whether a score of detection, fuzzing or the user's own is below the bound that the SAE's spec sets."""
    scores: tuple[float, ...]
    """All scores of its source; balanced accuracy in [0, 1], 0.5 being chance, where we gave them."""
    score_kinds: tuple[str, ...]
    """What each score is of: detection, fuzzing, or as its source calls it, with the scorer."""
    score_ns: tuple[int, ...]
    """Judgements behind each score; 0 where the source does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptContext:
    """An excerpt that says something about a concept: one where it fires, or one where it might have."""

    sae: str
    """Name of the SAE."""
    concept_id: int
    """The concept that it is about."""
    role: ContextRole
    """shown: it fires, for whoever explains; held_out: it fires, in other texts, to test the label with.

    It is silent in the others: kindred: a concept of similar direction fires; same_words: a word is there
    on which it fires elsewhere; random: any excerpt.
    """
    text: str
    """The excerpt, as it stands in the text."""
    starts: tuple[int, ...]
    """First character of each of its tokens."""
    ends: tuple[int, ...]
    """One past the last character of each token."""
    activations: tuple[float, ...]
    """Activation of the concept on each token, in the SAE's own unit; 0 where it is silent."""
    marked: tuple[int, ...]
    """Tokens to mark, from 0: where it fires clearly, or what makes the excerpt tempting; may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmLabel:
    """What a language model calls a concept, and how well that foretells where it fires."""

    sae: str
    """Name of the SAE."""
    concept_id: int
    """The concept."""
    explainer: str
    """The model that wrote the label, `llm:` and its name."""
    label: str
    """The label; never empty."""
    made: str
    """Day it was written, YYYY-MM-DD."""
    n_shown: int
    """Excerpts that it was shown, firing tokens marked."""
    scorer: str
    """The model that was asked to find the concept by its label."""
    detection: float | None
    """Balanced accuracy of saying in which excerpts the concept fires; NULL when untested. 0.5 is chance."""
    n_detection: int
    """Excerpts judged for it."""
    fuzzing: float | None
    """Balanced accuracy of saying whether the right tokens are marked; NULL when untested. 0.5 is chance."""
    n_fuzzing: int
    """Excerpts judged for it."""
    near_misses_told: float | None
    """Share of the near-miss excerpts (kindred concept, same words) rightly refused; NULL without any."""
    n_near_misses: int
    """Near-miss excerpts judged, in both tests together."""
    reader: str
    """Hash of the SAE and what it reads: labels of another reader's concepts are dropped."""
    asked: str
    """Hash of the excerpts and of the way of asking."""


@dataclass(frozen=True, kw_only=True)
class TokenFirings:
    """Where some concepts fire in a stream of texts: every token that counts, and the concepts sparsely."""

    text_of: Int[np.ndarray, " n_tokens"]
    """Number of the text that each token stands in, ascending."""
    starts: Int[np.ndarray, " n_tokens"]
    """Its first character in that text; 0, as its end, of a token that is not of the text itself."""
    ends: Int[np.ndarray, " n_tokens"]
    """One past its last."""
    concept_ids: tuple[int, ...]
    """The concepts looked at, ascending: the columns of `activations`."""
    activations: sparse.csc_array
    """Activation of each concept on each token, shape (n_tokens, n_looked_at), float32, ≥ 0."""
