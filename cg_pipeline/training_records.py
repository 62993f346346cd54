"""What the training of a reader tells of itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """How a training is doing."""

    n_tokens: int
    """Tokens trained on."""
    loss: float
    """Of the last batch, on scaled states: what training lowers."""
    explained_variance: float
    """On held-out tokens, at most 1; NaN if these do not vary."""
    l0: float
    """Latents that fire per held-out token."""
    dead_share: float
    """Share of latents, in [0, 1], that have not fired on the last `dead_after_tokens` trained tokens."""
    learning_rate: float
