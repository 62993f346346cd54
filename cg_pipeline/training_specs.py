"""How a reader SAE of this project is trained: every number that changes the result, and its text.

What only changes speed is no part of it (device, how often a checkpoint is written): a training that was
killed and goes on gives what an undisturbed one gives.
"""

from dataclasses import dataclass, replace
from typing import Literal

Architecture = Literal["topk", "batchtopk", "matryoshka_batchtopk", "jumprelu", "standard", "gated"]

_COUNTED = ("topk", "batchtopk", "matryoshka_batchtopk", "jumprelu")
"""Architectures that are told how many latents are to fire."""


@dataclass(frozen=True, kw_only=True)
class HubText:
    """Text of a data set on the Hugging Face hub, streamed at a pinned commit: Parquet, JSON, CSV or text."""

    repo: str
    revision: str
    """Full commit hash."""
    split: str = "train"
    config: str = "default"
    field: str = "text"
    """The column that holds a document."""
    gated: str = ""
    """For a gated data set: what its page asks a reader to accept. Empty for an open one."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The configuration that is read, as `HubRows` has several."""
        return (self.config,)


@dataclass(frozen=True, kw_only=True)
class TextFolder:
    """Text of every .txt, .jsonl and .parquet file below a directory."""

    path: str
    """Absolute, or relative to the data directory."""
    field: str = "text"
    """The field or column of a row that holds a document."""


@dataclass(frozen=True, kw_only=True)
class SaeTraining:
    """How a published SAE was trained; every number that changes the result."""

    architecture: Architecture = "topk"
    """What sae-lens trains; BatchTopK and Matryoshka SAEs are published as JumpReLU ones."""
    k: int = 0
    """Latents that fire per token: TopK: exactly; BatchTopK and Matryoshka: on average over a batch;
    JumpReLU: the number that its loss aims at. 0 for standard and gated SAEs, whose number follows from
    `sparsity_coefficient`."""
    sparsity_coefficient: float = 1.0
    """Weight of the loss on how much fires: L1 for standard and gated SAEs, squared distance from `k` for
    JumpReLU. TopK, BatchTopK and Matryoshka SAEs have no such loss."""
    sparsity_warm_up_share: float = 0.1
    """Share of the steps over which that weight rises from zero."""
    inner_widths: tuple[int, ...] = ()
    """Matryoshka: widths of the dictionaries nested in the whole one, growing."""
    text: HubText | TextFolder | None = None
    """What is read; None for the Debian packages that the embedded SAE was trained on."""
    n_tokens: int
    """Content tokens read from the text, without repetition."""
    n_epochs: int
    buffer_tokens: int = 0
    """Tokens whose states are held in memory and mixed while the model reads on: for texts whose states
    fit no disk. 0: the states of the whole text are put on disk first, and 300,000 at a time are mixed."""
    kept_share: float = 0.5
    """Share of the buffer that stays when it is filled up again, to be mixed with what is new."""
    context_tokens: int
    """Length of the packed sequences read."""
    chat_share: float
    """Share of the passages that are read inside the chat template."""
    learning_rate: float
    batch_tokens: int
    seed: int
    reading_dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Precision of the model while states are read; bfloat16 costs a thousandth of the variance."""
    n_transcripts: int = 1
    """Answers that the model samples to each chat prompt, read as part of the text."""
    transcript_tokens: int = 64
    """Longest sampled answer."""
    temperature: float = 0.8
    warm_up_share: float = 0.02
    """Share of the steps over which the learning rate rises."""
    decay_share: float = 0.4
    """Share of the steps, the last ones, over which it falls to zero."""
    mixed_precision: bool = False
    """Whether matrix products of the training step run in bfloat16."""
    aux_coefficient: float = 1.0
    """Weight of the loss that revives dead latents, for TopK, BatchTopK and Matryoshka SAEs."""
    dead_after_tokens: int = 100_000
    """A latent is dead, for that loss, when it has not fired on so many tokens."""
    held_out_tokens: int = 100_000
    """Content tokens read besides, and only measured on."""
    measure_every_tokens: int = 100_000
    """Tokens trained on between two points of the training curve."""
    patience_tokens: int = 0
    """Training stops early when over so many tokens the explained variance of held-out tokens has not
    risen by `least_gain`; 0: never. The learning rate falls at the end only, and lifts it once more:
    be patient."""
    least_gain: float = 0.001
    """Least rise of the explained variance that counts as one."""
    min_explained_variance: float = 0.80
    """Gate: least explained variance, on the held-out tokens and on every text to check."""
    max_dead_share: float = 0.05
    """Gate: largest share of latents that fire on no held-out token."""
    min_loss_recovered: float | None = None
    """Gate: least share of the model's loss, in (-∞, 1], that its own states rebuilt by the SAE recover;
    None: measured, but nothing is asked."""
    max_l0: float | None = None
    """Gate: most latents that fire per held-out token; None: nothing is asked."""

    def __post_init__(self) -> None:
        self._check_sparsity()
        self._check_buffer()
        if self.held_out_tokens < 2:
            raise ValueError(
                f"held_out_tokens is {self.held_out_tokens}; expected at least 2, to have a variance. "
                "Raise it."
            )
        if self.measure_every_tokens < self.batch_tokens:
            raise ValueError(
                f"measure_every_tokens is {self.measure_every_tokens}; expected at least batch_tokens, "
                f"{self.batch_tokens}. Raise it."
            )

    def _check_sparsity(self) -> None:
        if (self.architecture in _COUNTED) != (self.k > 0):
            wanted = "a positive k" if self.architecture in _COUNTED else "k = 0"
            raise ValueError(
                f"k is {self.k} for a {self.architecture} SAE; expected {wanted}. Correct one of them."
            )
        if (self.architecture == "matryoshka_batchtopk") != bool(self.inner_widths):
            wanted = "none" if self.inner_widths else "one or more"
            raise ValueError(
                f"inner_widths are {self.inner_widths} for a {self.architecture} SAE; expected {wanted}. "
                "Correct one of them."
            )

    def _check_buffer(self) -> None:
        if not 0 <= self.kept_share < 1:
            raise ValueError(f"kept_share is {self.kept_share}; expected 0 or more, below 1. Correct it.")
        if self.buffer_tokens and self.buffer_tokens * (1 - self.kept_share) < self.batch_tokens:
            raise ValueError(
                f"buffer_tokens is {self.buffer_tokens}, of which {self.kept_share:.0%} are kept; expected "
                f"room for a batch of {self.batch_tokens} beside them. Raise it, or lower kept_share."
            )


def of_training_only(training: SaeTraining) -> SaeTraining:
    """The same without what decides only whether the result is published."""
    return replace(
        training, min_explained_variance=0.0, max_dead_share=1.0, min_loss_recovered=None, max_l0=None
    )
