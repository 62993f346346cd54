"""What an SAE and its concepts must show before anything is built on them: `Sae.gate`, `Study.health`.

Two kinds of bounds. The gate is about a whole SAE on a model, and stops a study. Health is about a
single concept, and leaves that concept out of gaps, counted and with its reason. Neither is part of
what activations depend on: a changed bound is judged anew from figures that are stored.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PublishedFigures:
    """What an SAE's authors, or whoever lists it, say of it; None where they say nothing."""

    source: str
    """Where the figures stand."""
    explained_variance: float | None = None
    """Share of the variance of hidden states that it explains, at most 1."""
    l0: float | None = None
    """Latents that fire per token."""

    def __post_init__(self) -> None:
        if self.explained_variance is not None and not 0.0 < self.explained_variance <= 1.0:
            raise ValueError(
                f"Published explained variance is {self.explained_variance}; expected a share above 0 and at "
                "most 1. Correct it."
            )
        if self.l0 is not None and not self.l0 > 0:
            raise ValueError(f"Published l0 is {self.l0}; expected latents per token above 0. Correct it.")


@dataclass(frozen=True, kw_only=True)
class ReaderGate:
    """What an SAE must reach on a study's own examples, read by its model with its template.

    Why these defaults: they are to catch an SAE that does not belong to what it reads, not to grade
    good ones; `cg_pipeline.health.gate` says what each was chosen from.
    """

    min_explained_variance: float = 0.5
    """Of the states of counted tokens. Below a half, what concepts do not see outweighs what they do."""
    min_loss_recovered: float = 0.8
    """Of the model's loss, against replacing every state by the mean one."""
    max_l0_share: float = 0.1
    """Largest share of the dictionary that fires on a token, on average: above, nothing is sparse."""
    max_shortfall: float = 0.1
    """How far explained variance may fall short of the published figure: examples are not training text."""
    max_l0_ratio: float = 2.0
    """How many times more, or fewer, latents may fire per token than published."""
    max_advantage: float = 0.02
    """How much more variance the SAE may explain elsewhere: at another layer, or with BOS as it is not read.

    More, and it is from there.
    """


@dataclass(frozen=True, kw_only=True)
class HealthRules:
    """Which concepts are quarantined: left out of gaps, with their reason.

    Dead ones (silent in broad text) and dense ones (`Sae.dense_threshold`) always are.
    """

    max_token_rate: float = 0.5
    """Dense also: firing on more than this share of the counted tokens of the study's own examples.

    Higher than for broad text, for examples are about something: in sums, digits are everywhere.
    """
    max_place_share: float = 0.9
    """Positional: a larger share of its firings is on a BOS, template or first content token."""
    min_firings: int = 10
    """Firings that there must be in the sample for a share of them to be judged."""
    max_cosine: float = 0.95
    """Duplicate: its decoder direction is closer than this to that of a concept that fires more."""
    min_label_score: float | None = None
    """Badly labelled: its shown label scored less. None for a mark at the label and no quarantine."""


USUAL_GATE = ReaderGate()
"""For an SAE whose spec says nothing else."""

USUAL_HEALTH = HealthRules()
"""For a study whose spec says nothing else."""
