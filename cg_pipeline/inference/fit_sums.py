"""What an SAE makes of a stream of tokens, added up: variance explained, latents that fire, faults.

Sums are kept in double precision on the CPU, of differences from the first token's state, so that
a large common part of all states costs no digits.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from cg_pipeline.health_records import PLACES


@dataclass
class VarianceSums:
    """Of tokens and their reconstructions: what share of the variance is explained."""

    n_tokens: int = 0
    _error: float = 0.0
    _squares: float = 0.0
    _pivot: Tensor | None = None
    _total: Tensor | None = None

    def add(self, states: Float[Tensor, "n d_model"], rebuilt: Float[Tensor, "n d_model"]) -> None:
        """Count some tokens in."""
        if len(states) == 0:
            return
        states, rebuilt = states.float().cpu().double(), rebuilt.float().cpu().double()
        if self._pivot is None or self._total is None:
            self._pivot, self._total = states[0].clone(), torch.zeros_like(states[0])
        away = states - self._pivot
        self.n_tokens += len(states)
        self._total += away.sum(0)
        self._squares += float(away.square().sum())
        self._error += float((rebuilt - states).square().sum())

    def absorb(self, other: "VarianceSums") -> None:
        """Count in what another has counted."""
        if other._pivot is None or other._total is None:
            return
        if self._pivot is None or self._total is None:
            self._pivot, self._total = other._pivot, torch.zeros_like(other._total)
        between = other._pivot - self._pivot
        self._squares += other._squares + float(
            2 * (between * other._total).sum() + other.n_tokens * between.square().sum()
        )
        self._total += other._total + other.n_tokens * between
        self._error += other._error
        self.n_tokens += other.n_tokens

    @property
    def explained(self) -> float:
        """1 - Σ‖x - x̂‖² / Σ‖x - mean‖²; NaN where nothing varies."""
        if self._total is None:
            return math.nan
        variance = self._squares - float(self._total.square().sum()) / self.n_tokens
        return 1.0 - self._error / variance if variance > 0 else math.nan

    @property
    def mean(self) -> Float[Tensor, " d_model"]:
        """The mean state, in double precision.

        Raises:
            ValueError: no token was counted in.
        """
        if self._pivot is None or self._total is None:
            raise ValueError("no token was counted; expected at least one to have a mean.")
        return self._pivot + self._total / self.n_tokens


@dataclass
class FitSums:
    """Everything that one pass over a sample's tokens tells of an SAE."""

    d_sae: int
    counted: VarianceSums = field(default_factory=VarianceSums)
    content: VarianceSums = field(default_factory=VarianceSums)
    n_not_finite: int = 0
    n_negative: int = 0

    def __post_init__(self) -> None:
        self._firings = torch.zeros(len(PLACES), self.d_sae, dtype=torch.float64)
        self._counted_firings = torch.zeros_like(self._firings)
        self._n_tokens = torch.zeros(len(PLACES), dtype=torch.long)
        self._counted_tokens = torch.zeros_like(self._n_tokens)

    def add(
        self,
        states: Float[Tensor, "n d_model"],
        activations: Float[Tensor, "n d_sae"],
        rebuilt: Float[Tensor, "n d_model"],
        places: Int[Tensor, " n"],
        counts: Bool[Tensor, " n"],
    ) -> None:
        """Count some tokens in, faulty ones only as such.

        Args:
            states: hidden states.
            activations: what the SAE makes of them.
            rebuilt: its reconstructions.
            places: index in `PLACES` of each token's kind.
            counts: which tokens count.
        """
        finite = torch.stack([part.isfinite().all(-1) for part in (states, activations, rebuilt)]).all(0)
        negative = finite & (activations < 0).any(-1)
        self.n_not_finite += int((~finite).sum())
        self.n_negative += int(negative.sum())
        sound = finite & ~negative
        states, activations, rebuilt = states[sound], activations[sound], rebuilt[sound]
        places, counts = places[sound], counts[sound]
        own = places < PLACES.index("template")
        self.counted.add(states[counts], rebuilt[counts])
        self.content.add(states[own], rebuilt[own])
        fired = (activations > 0).float()
        kinds = torch.nn.functional.one_hot(places, len(PLACES)).float()
        self._firings += (kinds.T @ fired).cpu().double()
        self._counted_firings += (kinds[counts].T @ fired[counts]).cpu().double()
        self._n_tokens += torch.bincount(places, minlength=len(PLACES)).cpu()
        self._counted_tokens += torch.bincount(places[counts], minlength=len(PLACES)).cpu()

    def absorb(self, other: "FitSums") -> None:
        """Count in what another has counted: a batch counts as a whole, or not at all."""
        self.counted.absorb(other.counted)
        self.content.absorb(other.content)
        self.n_not_finite += other.n_not_finite
        self.n_negative += other.n_negative
        self._firings += other._firings
        self._counted_firings += other._counted_firings
        self._n_tokens += other._n_tokens
        self._counted_tokens += other._counted_tokens

    @property
    def firings(self) -> Int[np.ndarray, "n_places d_sae"]:
        """Tokens of each kind on which each latent fired."""
        return self._firings.long().numpy()

    @property
    def counted_firings(self) -> Int[np.ndarray, "n_places d_sae"]:
        """The same of tokens that count."""
        return self._counted_firings.long().numpy()

    @property
    def n_tokens(self) -> Int[np.ndarray, " n_places"]:
        """Tokens of each kind."""
        return self._n_tokens.numpy()

    @property
    def counted_tokens(self) -> Int[np.ndarray, " n_places"]:
        """Tokens of each kind that count."""
        return self._counted_tokens.numpy()

    @property
    def l0(self) -> float:
        """Latents that fire per token that counts; NaN without one."""
        n = self.counted.n_tokens
        return float(self._counted_firings.sum()) / n if n else math.nan
