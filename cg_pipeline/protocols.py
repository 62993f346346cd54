"""What the method asks of the world: a model that answers, a reader, a shelf of shards, a namer.

The stages in `pipeline` are written against these; `inference`, `store` and `llm` fill
them in; tests fill them in with fakes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from cg_pipeline.health_records import FitArrays, ReaderFit
from cg_pipeline.label_records import TokenFirings
from cg_pipeline.records import Completion, Concept, ConceptActivations, Example

LabelTest = Literal["detection", "fuzzing"]
"""Is the concept in this excerpt? Are the marked words where it is?"""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """How answers are generated."""

    max_new_tokens: int
    opening: str = ""
    """First words of every answer, put into the model's mouth."""
    stop: tuple[str, ...] = ()
    """Texts before which an answer ends."""
    n_samples: int = 1
    """Answers to each example."""
    temperature: float = 0.0
    """0 for the most probable token every time; then there is one answer."""
    top_p: float = 1.0
    seed: int = 0


@runtime_checkable
class TextGenerator(Protocol):
    """A language model that answers examples."""

    def generate(self, examples: Sequence[Example], how: Generation) -> list[Completion]:
        """Answers in the order of the examples, samples of one example side by side.

        `stop` tells an answer cut at the limit.
        """
        ...

    def choose(self, examples: Sequence[Example], unconditional: str = "") -> list[Completion]:
        """Log-likelihood of every choice of every example, in order; ties go to the first choice.

        With `unconditional`, a neutral prompt, also the likelihoods after that prompt alone.
        """
        ...


@runtime_checkable
class ConceptEncoder(Protocol):
    """An SAE on its model: reads text, returns saliency."""

    @property
    def n_concepts(self) -> int:
        """Width of the dictionary."""
        ...

    def read(self, example_ids: Sequence[str], texts: Sequence[str]) -> ConceptActivations:
        """Saliency of each text, in order, whatever the batching."""
        ...

    def read_answers(self, answer_ids: Sequence[str], turns: Sequence[tuple[str, str]]) -> ConceptActivations:
        """Saliency of each answer after its question, over the answer's own tokens, in order."""
        ...

    def describe(self, texts: Sequence[str]) -> list[Concept]:
        """An automatic label for every concept, from where it fires in a broad sample of texts."""
        ...

    def directions(self) -> Float[np.ndarray, "n_concepts d_model"]:
        """Decoder directions, unit length."""
        ...


@runtime_checkable
class FitReader(Protocol):
    """An SAE on its model that measures how well the two fit."""

    def fit(self, texts: Sequence[str]) -> tuple[ReaderFit, FitArrays]:
        """Figures on the texts, whose `model`, `identity` and `path` are left empty, and counts by latent."""
        ...


@dataclass(frozen=True, kw_only=True)
class NamedGroup:
    """What a namer says of a group of concepts."""

    name: str
    explanation: str


@runtime_checkable
class Judge(Protocol):
    """Decides between a few verdicts; an LLM."""

    @property
    def source(self) -> str:
        """What is recorded as the source of its verdicts."""
        ...

    def decide(self, prompt: str, verdicts: Sequence[str]) -> str:
        """One of `verdicts`, as the prompt asks. Raises `JudgeFailed` when no usable answer can be had."""
        ...


@dataclass(frozen=True, kw_only=True)
class ProgramRun:
    """How a program ended."""

    outcome: Literal["passed", "failed", "timed_out", "stopped", "unusable"]
    """Ran to its end; raised an error or left; no end in time; ended by a limit or itself; never started."""
    detail: str
    """Name of the error, or what went wrong."""
    isolated: bool = False
    """Whether it is known to have had no network, no other process and no file but Python's in sight."""


@runtime_checkable
class CodeRunner(Protocol):
    """Runs programs that a model wrote; a sandbox, where the user has allowed it."""

    @property
    def source(self) -> str:
        """What is recorded as having run them."""
        ...

    def run(self, program: str) -> ProgramRun:
        """How one Python program ended; it never raises for what the program does."""
        ...


@runtime_checkable
class GroupNamer(Protocol):
    """Names groups of concepts; an LLM, when an endpoint is set."""

    @property
    def source(self) -> str:
        """What is recorded as the source of its names."""
        ...

    def name_group(self, kind: str, labels: Sequence[str]) -> NamedGroup:
        """A name for the group. Raises `NamingFailed` when no usable answer can be had."""
        ...


JUDGE_FAILED = "judge_failed"
"""Why an answer is unscored that is worth another question to the judge."""

SANDBOX_FAILED = "sandbox_failed"
"""Why an answer is unscored that is worth another run once the system allows it."""


class Unanswered(Exception):
    """A language model that was asked gave nothing usable; the message says why, for people."""

    def __init__(self, message: str = "", *, lasting: bool = False) -> None:
        """`lasting`: the same question would meet the same fate."""
        super().__init__(message)
        self.lasting = lasting


class JudgeFailed(Unanswered):
    """A judge gave no verdict."""

    @property
    def reason(self) -> str:
        """Why the answer is unscored."""
        return "no_verdict" if self.lasting else JUDGE_FAILED


class NamingFailed(Unanswered):
    """A namer could not name a group."""


@runtime_checkable
class FiringReader(Protocol):
    """An SAE on its model that tells where concepts fire, token by token."""

    def fire(self, texts: Sequence[str], concept_ids: Sequence[int]) -> TokenFirings:
        """Activations of some concepts on every content token of the texts, in order."""
        ...

    def directions(self) -> Float[np.ndarray, "n_concepts d_model"]:
        """Decoder directions, unit length."""
        ...


@runtime_checkable
class TokenReader(Protocol):
    """An SAE on its model that tells where chosen concepts of each text fire."""

    def fire_each(self, texts: Sequence[str], concept_ids: Sequence[Sequence[int]]) -> TokenFirings:
        """Activations of each text's own concepts on the tokens that saliency is the mean of, in order.

        A token that is not of the text itself covers no character: it starts and ends at 0.
        """
        ...


@runtime_checkable
class ConceptExplainer(Protocol):
    """Says what a concept is about; an LLM."""

    @property
    def source(self) -> str:
        """What is recorded as the source of its labels."""
        ...

    @property
    def way(self) -> str:
        """Fingerprint of how it is asked."""
        ...

    def explain(self, excerpts: Sequence[str]) -> str:
        """A label for what fires on the marked words. Raises `LabellingFailed` without a usable answer."""
        ...


@runtime_checkable
class LabelTester(Protocol):
    """Knows a label and nothing else of a concept, and says where it fits; an LLM."""

    @property
    def source(self) -> str:
        """What is recorded as the source of its verdicts."""
        ...

    @property
    def way(self) -> str:
        """Fingerprint of how it is asked."""
        ...

    def judge(self, test: LabelTest, label: str, excerpts: Sequence[str]) -> list[bool]:
        """For each excerpt whether the label fits. Raises `LabellingFailed` without a usable answer."""
        ...


class LabellingFailed(Unanswered):
    """A language model gave no label, or no verdict about one."""
