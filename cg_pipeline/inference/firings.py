"""How often every concept fires over a stream of tokens, and where it fires most strongly.

One pass, and never the dense tokens × concepts matrix of the whole stream: of each chunk
only the strongest few firings per concept are kept, then merged with those before.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Firings:
    """What is known of every concept after some tokens; two of them add up."""

    n_tokens: int
    counts: Int[Tensor, " d_sae"]
    """Tokens on which each concept fired."""
    values: Float[Tensor, "n_kept d_sae"]
    """Strongest activations of each concept, strongest first; 0 where there were fewer."""
    tokens: Int[Tensor, "n_kept d_sae"]
    """The tokens of `values`, by their number in the stream; -1 where there were fewer."""

    def merged(self, other: "Firings") -> "Firings":
        """Of both together."""
        values = torch.cat([self.values, other.values])
        best = values.topk(len(self.values), dim=0)
        return Firings(
            n_tokens=self.n_tokens + other.n_tokens,
            counts=self.counts + other.counts,
            values=best.values,
            tokens=torch.cat([self.tokens, other.tokens]).gather(0, best.indices),
        )


def no_firings(d_sae: int, n_kept: int, device: torch.device) -> Firings:
    """Nothing seen yet: what all others are merged into."""
    return Firings(
        n_tokens=0,
        counts=torch.zeros(d_sae, dtype=torch.long, device=device),
        values=torch.zeros(n_kept, d_sae, device=device),
        tokens=torch.full((n_kept, d_sae), -1, device=device),
    )


def firings_of(
    activations: Float[Tensor, "n_tokens d_sae"], tokens: Int[Tensor, " n_tokens"], n_kept: int
) -> Firings:
    """Of one chunk, whose tokens carry the numbers `tokens`."""
    best = activations.topk(min(n_kept, len(activations)), dim=0)
    return Firings(
        n_tokens=len(activations),
        counts=(activations > 0).sum(0),
        values=best.values,
        tokens=torch.where(best.values > 0, tokens[best.indices], -1),
    )
