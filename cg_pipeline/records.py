"""What flows between the stages: one record per noun of the method.

A stage that holds text (examples, completions, scores, concepts, gaps, clusters) passes
lists of the records below; a stage that holds numbers by concept passes arrays
(`ConceptActivations`) or a table with one row per concept (`ConceptMetrics`,
`SuiteMetrics`). Each record is also a table of the warehouse: its fields are the columns
and the line under a field is the column's description, so neither is written twice.

Why plain dataclasses: a record is immutable data. What can be wrong with it is checked
where it is made, in `__post_init__`, so that a record that exists is a valid one.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd  # pyright: ignore[reportMissingTypeStubs]
from jaxtyping import Float, Int
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from cg_pipeline.ink import is_blank

ScoreOutcome = Literal["right", "wrong", "partial", "unscored"]
GapKind = Literal["missing", "under_represented", "over_represented", "model_gap"]

ConceptMetrics = pd.DataFrame
"""One benchmark read by one model: a row per concept, a column per metric of the catalogue."""

SuiteMetrics = pd.DataFrame
"""The same metrics over a whole suite: a row per concept, `coverage`, `performance` and support."""


def content_id(*parts: object) -> str:
    """Identity made of content: 16 hex digits, equal for equal parts, whatever their place in a file."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def outcome_of(value: float | None) -> ScoreOutcome:
    """What a score in [0, 1], or its absence, is called."""
    if value is None:
        return "unscored"
    return "right" if value == 1 else "wrong" if value == 0 else "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """Where one benchmark's rows came from, and the file they are read from by later stages."""

    benchmark: str
    """Name of the benchmark."""
    role: Literal["asked", "shots"]
    """Rows that are asked, or rows shown as worked examples."""
    origin: Literal["local", "directory", "hub"]
    """A file below the data directory, a directory of benchmark files, or the Hugging Face hub."""
    place: str
    """Where exactly: the file (a local one's `path`), or data set, configurations, split and commit."""
    fingerprint: str
    """Hash of the file's content, or of the pin on the hub."""
    path: str
    """The file that is read, relative to the data directory."""
    sha256: str
    """SHA-256 of that file."""
    n_rows: int
    """Rows in it."""
    revision: str
    """Commit on the hub or in the repository a file was taken from; empty where none is stated."""
    licence: str
    """Licence of the rows as their origin states it; the benchmark's own where it states none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicate:
    """Two examples of different benchmarks that ask nearly the same."""

    benchmark: str
    """Name of the one benchmark, the first by alphabet."""
    example_id: str
    """Its example."""
    other_benchmark: str
    """Name of the other benchmark."""
    other_example_id: str
    """Its example."""
    overlap: float
    """Share of the shorter one's eight-word sequences that the other one has, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One benchmark item: what is asked, and what would be right."""

    benchmark: str
    """Name of the benchmark it belongs to."""
    example_id: str = field(init=False)
    """Hash of what is asked and what is right: survives shuffling, limits and splits."""
    category: str
    """What the benchmark's author says it is about; a stratum."""
    cluster: str
    """Examples that share it are not independent (twins, one passage); its own id when alone."""
    prompt: str
    """The text put to the model, without chat template."""
    choices: tuple[str, ...] = ()
    """Texts to choose from, empty for an open answer."""
    targets: tuple[str, ...]
    """Right answers: exactly one of the choices, or every accepted text, first the canonical one.

    Empty where a judge or a checker decides.
    """
    continuations: tuple[str, ...] = ()
    """For each choice the text whose likelihood counts; empty: the choice itself."""
    stems: tuple[str, ...] = ()
    """For each choice the text it follows instead of the prompt, without template; empty: all follow it."""
    shots: tuple[str, ...] = ()
    """Worked examples put before the prompt: question, answer, question, answer, and so on."""
    details: str = ""
    """What scoring needs besides, as a JSON object; empty for nothing."""

    def __post_init__(self) -> None:
        if is_blank(self.prompt):
            raise ValueError(f"prompt is {self.prompt!r}; expected text. Write the question.")
        if is_blank(self.category):
            raise ValueError(f"category is {self.category!r}; expected a name. Write what it is about.")
        if self.choices and not self.targets:
            raise ValueError("targets is empty; expected the right one of the choices. Add it.")
        if any(is_blank(text) for text in (*self.choices, *self.targets)):
            raise ValueError(
                f"choices {self.choices!r} or targets {self.targets!r} hold a blank text; expected words. "
                "Write them."
            )
        if self.choices and len(set(self.choices)) < 2:
            raise ValueError(f"choices are {self.choices!r}; expected two different ones or more. Add one.")
        for name in ("continuations", "stems"):
            if len(texts := getattr(self, name)) not in (0, len(self.choices)):
                raise ValueError(f"{name} are {texts!r}; expected none, or one for each of {self.choices!r}.")
        if self.choices and (len(self.targets) != 1 or self.targets[0] not in self.choices):
            raise ValueError(
                f"targets are {self.targets!r}; expected exactly one of the choices {self.choices!r}. "
                "Correct one of them."
            )
        more = (self.continuations, self.stems, self.shots, self.details)
        identity = content_id(self.prompt, self.choices, self.targets, *(more if any(more) else ()))
        object.__setattr__(self, "example_id", identity)
        if not self.cluster:
            object.__setattr__(self, "cluster", identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What one model did with one example."""

    model: str
    """Name of the model that answered."""
    benchmark: str
    """Name of the benchmark."""
    example_id: str
    """The example answered."""
    sample: int = 0
    """Which of several answers to the example this is, from 0."""
    text: str
    """Generated text, or the choice with the highest log-likelihood."""
    choice_logprobs: tuple[float, ...] = ()
    """Sum of token log-probabilities of each choice, in nats; empty for generated text."""
    unconditional_logprobs: tuple[float, ...] = ()
    """The same after the benchmark's neutral prompt; empty unless it has one."""
    choice_tokens: tuple[int, ...] = ()
    """Number of tokens of each choice; empty for generated text."""
    stop: Literal["end", "length", "choice", "overflow", "refused", "timed_out", "failed"]
    """Why it stopped: end of turn or stop text, token limit, a choice was scored; or why it has no answer."""
    n_prompt_tokens: int
    """Tokens of the rendered prompt, chat template included."""
    n_completion_tokens: int
    """Tokens generated, or scored over all choices."""
    rendered_prompt: str = ""
    """What the model was given before its answer, chat template and special tokens included."""
    prompt_token_ids: tuple[int, ...] = ()
    """The same in tokens; empty when a server keeps them to itself."""
    n_cut_tokens: int = 0
    """Tokens that an over-long prompt lost: worked examples first, then its start; 0 when it fitted.

    Of a model behind a server, whose tokenizer is not here, the words lost: at least so many tokens.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How good one completion is. Unscored is a third state, never 0."""

    model: str
    """Name of the model that answered."""
    benchmark: str
    """Name of the benchmark."""
    example_id: str
    """The example scored."""
    sample: int = 0
    """Which of several answers to the example, from 0."""
    outcome: ScoreOutcome
    """right (score 1), wrong (0), partial (between), or unscored."""
    value: float | None
    """Score in [0, 1]; NULL when unscored."""
    reason: str = ""
    """Why it is unscored (unparsed, truncated, overflow …); empty otherwise."""
    answer: str = ""
    """The answer read out of the completion; empty when none was found."""

    def __post_init__(self) -> None:
        if self.value is not None and not 0.0 <= self.value <= 1.0:
            raise ValueError(f"score is {self.value!r}; expected a number from 0 to 1, or None for unscored.")
        if self.outcome != outcome_of(self.value) or bool(self.reason) != (self.value is None):
            raise ValueError(
                f"outcome {self.outcome!r} does not fit value {self.value!r} and reason {self.reason!r}; "
                f"expected {outcome_of(self.value)!r}, and a reason exactly when unscored."
            )


def answer_id(answer: Completion | Score) -> str:
    """Identity of one answer: its example's id, with its number after the first one: `id#1`."""
    return f"{answer.example_id}#{answer.sample}" if answer.sample else answer.example_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """One latent of an SAE that the dictionary keeps, with a label a person can read."""

    sae: str
    """Name of the SAE."""
    concept_id: int
    """Index of the latent, from 0 to d_sae - 1."""
    label: str
    """Short description; never empty."""
    label_source: str
    """Where the label comes from; `automatic` when no person or LLM wrote it."""
    firing_rate: float
    """Share of content tokens of the broad sample on which it fires, in [0, 1]."""
    status: Literal["alive", "dead", "dense", "quarantined"]
    """dead: never fired on the broad sample; dense: fired on more than the SAE's dense threshold.

    Never quarantined in the table: that is a study's verdict, in concept_health.
    """
    top_tokens: tuple[str, ...]
    """Tokens it fires on most strongly and most typically, strongest first; empty when dead."""
    contexts: tuple[str, ...]
    """Short excerpts around its strongest firings, the firing token between ⟦ and ⟧."""
    promoted_tokens: tuple[str, ...]
    """Vocabulary its decoder direction raises most (logit lens); set even when dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptActivations:
    """Pooled SAE activations of a benchmark's examples: a sparse examples × concepts matrix of saliency.

    saliency a_c(x) = (1/|x|) Σ_t z_c(x_t) over the content tokens of one example's prompt, or of one
    answer to it, in the units of the SAE's activations, ≥ 0; a pair that is not stored is 0.
    """

    example_ids: tuple[str, ...]
    """One per row; where answers were read, `answer_id` of each."""
    n_concepts: int
    """Width of the dictionary: d_sae of the SAE."""
    indptr: Int[np.ndarray, " n_examples_plus_1"]
    """CSR row pointers."""
    concept_ids: Int[np.ndarray, " nnz"]
    """CSR column indices, ascending within a row."""
    saliency: Float[np.ndarray, " nnz"]
    """CSR values, float32, > 0."""
    n_tokens: Int[np.ndarray, " n_examples"]
    """Content tokens |x| of each example; 0 means that none was left after masking."""

    def matrix(self) -> sparse.csr_array:
        """The saliency as a float64 `scipy.sparse` array of shape (n_examples, n_concepts)."""
        shape = (len(self.example_ids), self.n_concepts)
        values = self.saliency.astype(np.float64)
        return sparse.csr_array((values, self.concept_ids, self.indptr), shape=shape)

    @staticmethod
    def concatenate(parts: Iterable["ConceptActivations"]) -> "ConceptActivations":
        """Rows of all parts in order; the parts share one dictionary width."""
        parts = list(parts)
        widths = {part.n_concepts for part in parts}
        if len(widths) != 1:
            raise ValueError(
                f"Activations of widths {sorted(widths)} cannot be joined; expected one dictionary. "
                "Read them all with one SAE."
            )
        starts = np.cumsum([0, *(len(part.concept_ids) for part in parts)])
        pointers = [part.indptr[1:] + start for part, start in zip(parts, starts, strict=False)]
        return ConceptActivations(
            example_ids=tuple(name for part in parts for name in part.example_ids),
            n_concepts=widths.pop(),
            indptr=np.concatenate([np.zeros(1, np.int64), *pointers]).astype(np.int64),
            concept_ids=np.concatenate([part.concept_ids for part in parts]),
            saliency=np.concatenate([part.saliency for part in parts]),
            n_tokens=np.concatenate([part.n_tokens for part in parts]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A concept that a suite leaves out, or that a model is bad at."""

    model: str
    """Name of the model whose study found it."""
    scope: str
    """`suite`, or the benchmark in which it is a gap."""
    kind: GapKind
    """missing, under_represented, over_represented (benchmark gaps) or model_gap."""
    concept_id: int
    """The concept."""
    rank: int
    """1 is the strongest gap of its kind and scope."""
    value: float | None
    """The quantity ranked: coverage for benchmark gaps, performance for model gaps."""
    lift: float | None
    """Performance minus the mean score where the concept could be measured; NULL if it never fires."""
    n_examples: int
    """Examples in which the concept fires, within the scope."""
    n_eff: float
    """Kish effective number of those examples, (Σa)² / Σa²; 0 when it never fires."""
    n_quarantined: int = 0
    """Concepts that could not be a gap of any kind or scope, as they are quarantined in concept_health."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapCluster:
    """Gaps of one kind that belong together."""

    model: str
    """Name of the model whose study found it."""
    kind: GapKind
    """Kind of the gaps grouped."""
    cluster_id: int
    """From 0, largest cluster first."""
    name: str
    """Short name; never empty."""
    name_source: str
    """`automatic`, or the LLM that named it."""
    explanation: str
    """One or two sentences by the LLM; empty for automatic names."""
    note: str
    """Why an LLM's name is missing although one was asked for; empty otherwise."""
    concept_ids: tuple[int, ...]
    """Members, strongest gap first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredActivations:
    """Where one cell's activations are kept, and how much there is; the arrays themselves are shards."""

    model: str
    """Name of the model whose cell it is."""
    benchmark: str
    """Name of the benchmark read."""
    sae: str
    """The SAE that read it."""
    fingerprint: str
    """Hash of texts and reader; cells with the same one share their shards."""
    n_examples: int
    """Examples read."""
    n_tokens: int
    """Content tokens read, over all examples."""
    n_pairs: int
    """Stored (example, concept) pairs: the others are 0."""
    n_active_concepts: int
    """Concepts that fire in at least one example."""
    path: str
    """Directory of the shards, relative to the data directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """Where one model's gap report is."""

    model: str
    """Name of the model."""
    study: str
    """Name of the study."""
    html_path: str
    """The report as one self-contained HTML file, relative to the data directory."""
    markdown_path: str
    """The same in Markdown, relative to the data directory."""
    n_gaps: int
    """Gaps of the suite, of all kinds."""
    headline: tuple[str, ...]
    """The report in plain lines, as the command line prints it."""
