"""What flows between the stages that ask whether an SAE and its concepts can be trusted.

Each record but `FitArrays` is also a table, as in `records`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

Place = Literal["content", "first", "template", "bos"]
PLACES: tuple[Place, ...] = ("content", "first", "template", "bos")
"""Kinds of tokens, each token being of one.

content: the example's own text after its first token; first: that first token; template: the chat
template's and special tokens; bos: BOS tokens that a prompt begins with.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderFit:
    """How well an SAE fits the model that reads with it, on a sample of a study's examples.

    A figure that cannot be computed is NaN: stored as NULL, and no gate passes it.
    """

    model: str
    """Name of the model whose study it is."""
    sae: str
    """The SAE."""
    reader: str
    """The model that reads: the SAE's own."""
    identity: str
    """Hash of the SAE, its weights and its model: which reader was measured."""
    hookpoint: str
    """Where it reads."""
    d_sae: int
    """Width of the dictionary."""
    n_examples: int
    """Examples in the sample, those without a token among them."""
    n_tokens: int
    """Tokens that count (`Sae.token_mask`) in the sample."""
    n_not_finite: int
    """Tokens with a hidden state, activation or reconstruction that is no finite number; left out below."""
    n_negative: int
    """Tokens with an activation below 0; left out below."""
    n_bos: int
    """BOS tokens at the start of a prompt, at most; more than one is a template's mistake."""
    explained_variance: float
    """1 - Σ‖x - x̂‖² / Σ‖x - mean‖² over the tokens that count, at most 1; below 0 is worse than the mean."""
    content_explained_variance: float
    """The same over the tokens of the examples' own text, whichever count."""
    l0: float
    """Latents that fire per token that counts."""
    n_predicted: int
    """Content tokens, each after another one, whose loss is below."""
    loss: float
    """Cross-entropy of the model on them, in nats per token."""
    spliced_loss: float
    """The same with the SAE's reconstruction in place of the states of all tokens that count."""
    mean_loss: float
    """The same with the sample's mean state there instead (mean ablation)."""
    zero_loss: float
    """The same with zeros there instead (zero ablation)."""
    loss_recovered: float
    """(mean_loss - spliced_loss) / (mean_loss - loss): 1 costs nothing, 0 is as bad as the mean state."""
    zero_loss_recovered: float
    """The same against zero ablation, as sae-lens and most papers report it: easier, so higher."""
    n_probed_tokens: int
    """Tokens that count in the few examples that the figures below are from."""
    hookpoints: tuple[str, ...]
    """Places of the same kind in every layer, its own among them."""
    hookpoint_explained_variance: tuple[float, ...]
    """Explained variance of the SAE at each of them."""
    scales: tuple[float, ...]
    """Factors, 1 among them."""
    scale_explained_variance: tuple[float, ...]
    """Explained variance of the SAE on its own states times each factor."""
    has_bos: bool
    """Whether prompts begin with a BOS token."""
    other_bos_explained_variance: float
    """With one BOS put before them where they have none, or theirs taken away; NULL if there is none."""
    path: str
    """Directory of the shard with what is counted by latent, relative to the data directory."""

    @property
    def probed_explained_variance(self) -> float:
        """Explained variance at its own place, on the few examples of the probes."""
        return self.hookpoint_explained_variance[self.hookpoints.index(self.hookpoint)]


@dataclass(frozen=True, kw_only=True)
class FitArrays:
    """What is counted by latent in the same sample, and how close the latents' directions are."""

    firings: Int[np.ndarray, "n_places n_concepts"]
    """Tokens of each place (`PLACES`) on which each latent fires."""
    n_tokens: Int[np.ndarray, " n_places"]
    """Tokens of each place."""
    counted_firings: Int[np.ndarray, "n_places n_concepts"]
    """The same of the tokens that count (`Sae.token_mask`)."""
    counted_tokens: Int[np.ndarray, " n_places"]
    """Tokens of each place that count."""
    nearest: Int[np.ndarray, " n_concepts"]
    """The other latent whose decoder direction is closest; -1 for a dictionary of one."""
    cosine: Float[np.ndarray, " n_concepts"]
    """Cosine of that angle, float32, in [-1, 1]; 0 for a latent without direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding:
    """One thing that an SAE must show on a model, and whether it does."""

    model: str
    """Name of the model whose study it is."""
    sae: str
    """The SAE."""
    identity: str
    """Hash of the SAE, its weights and its model: which reader was judged."""
    figure: str
    """What was measured."""
    value: float
    """What was found; NULL where it could not be computed."""
    bound: float
    """What it is compared with."""
    passed: bool
    """Whether it holds."""
    sentence: str
    """What was found, and what was expected."""
    cause: str
    """What is likely wrong; empty where it holds."""


ConceptVerdict = Literal["fine", "quarantined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptHealth:
    """Whether a concept can be trusted in one study: how it fires there, and what speaks against it."""

    model: str
    """Name of the model whose study it is."""
    concept_id: int
    """The concept, as in table concepts."""
    verdict: ConceptVerdict
    """fine, or quarantined: left out of gaps, in every scope."""
    reasons: tuple[str, ...]
    """dead, dense, positional, duplicate, badly_labelled; empty when fine."""
    broad_rate: float
    """Share of the tokens of broad text on which it fires, in [0, 1]."""
    token_rate: float
    """Share of the counted tokens of the sampled examples on which it fires, in [0, 1]."""
    example_rate: float
    """Share of all examples of the study in which it fires, in [0, 1]."""
    mean_saliency: float
    """Mean saliency of the examples in which it fires; NULL if it fires in none."""
    max_saliency: float
    """Highest saliency of an example; 0 if it fires in none."""
    n_firings: int
    """Tokens of the sample on which it fires, of every kind."""
    bos_share: float
    """Share of them that are BOS tokens at the start of a prompt; NULL without firings."""
    template_share: float
    """Share of them that are template or special tokens."""
    first_share: float
    """Share of them that are the first token of an example's text."""
    nearest_concept_id: int
    """The concept of the closest decoder direction; -1 if there is no other."""
    cosine: float
    """Cosine of that angle, in [-1, 1]."""
    label_score: float | None
    """Score of the label that is shown, the lowest of its tests; NULL if nobody has tested it."""


REASONS: tuple[str, ...] = ("dead", "dense", "positional", "duplicate", "badly_labelled")
"""Why concepts are quarantined, in the order in which they are told."""
