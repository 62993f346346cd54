"""What reading a model by an SAE costs the model: its loss with the SAE's reconstruction spliced in.

An SAE may explain most of the variance of a state and miss what the model goes on with; the loss tells.

Source: arXiv 2406.04093, section 4.1; Bricken et al., "Towards Monosemanticity" (2023); sae-lens's
`ce_loss_score` [given]. Theirs are against zero ablation; the gate's figure is against the mean state,
which is harder, for a state of zeros is so far from any that almost everything recovers most of it. Only
the tokens that count are replaced: special tokens and attention sinks, which no SAE here reads, stay.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from sae_lens import SAE
from torch import Tensor

from cg_pipeline.inference.harvest import length_batches, padded
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.reading_plan import TokenSequence
from cg_pipeline.inference.sae_passes import rebuilt
from cg_pipeline.inference.splicing import Change, changed, losses

_MEASURED = ("loss", "spliced_loss", "mean_loss", "zero_loss")


class SplicedBatch(NamedTuple):
    """Sequences to be read with other states, padded on the right."""

    input_ids: Int[Tensor, "batch seq"]
    kept: Bool[Tensor, "batch seq"]
    """Which tokens are no padding."""
    counts: Bool[Tensor, "batch seq"]
    """Which have their states replaced."""
    predicted: Bool[Tensor, "batch seq"]
    """Whose loss is measured; none is the first of its row."""


@torch.no_grad()
def spliced_losses(
    reader: LoadedModel,
    sae: SAE[Any],
    hookpoint: str,
    batches: Iterable[SplicedBatch],
    mean: Float[Tensor, " d_model"],
) -> dict[str, float]:
    """Mean cross-entropy of the predicted tokens, in nats, with states as they are or replaced.

    loss: as they are; spliced_loss: by the SAE's reconstruction; mean_loss: by `mean`; zero_loss: by zeros;
    NaN without a token to predict;
    loss_recovered = (mean_loss - spliced_loss) / (mean_loss - loss): 1 costs nothing, 0 is no better than
    the mean state, below 0 worse; NaN where the mean state costs nothing: there is nothing to recover;
    zero_loss_recovered: the same against zero_loss;
    n_predicted: tokens whose loss was measured.

    Args:
        reader: the model.
        sae: takes raw states.
        hookpoint: where it reads.
        batches: what is read.
        mean: mean state of the tokens that count.
    """
    totals, n = dict.fromkeys(_MEASURED, 0.0), 0
    for batch in batches:
        n += int(batch.predicted.sum())
        for name, change in zip(_MEASURED, _changes(sae, batch.counts, mean), strict=True):
            with changed(reader.module, hookpoint, change):
                found = losses(reader, batch.input_ids, batch.kept, batch.predicted)
            totals[name] += float(found.float().cpu().sum(dtype=torch.float64))
    means = {name: total / n if n else math.nan for name, total in totals.items()}
    return {
        **means,
        "loss_recovered": _recovered(means, "mean_loss"),
        "zero_loss_recovered": _recovered(means, "zero_loss"),
        "n_predicted": n,
    }


def loss_recovered(
    reader: LoadedModel,
    sae: SAE[Any],
    hookpoint: str,
    sequences: Sequence[TokenSequence],
    mean: Float[Tensor, " d_model"],
    *,
    batch_tokens: int = 2048,
) -> dict[str, float]:
    """`spliced_losses` of sequences whose tokens that count are replaced, and predicted unless the first."""
    return spliced_losses(reader, sae, hookpoint, _batches(reader, sequences, batch_tokens), mean)


def _batches(
    reader: LoadedModel, sequences: Sequence[TokenSequence], batch_tokens: int
) -> Iterator[SplicedBatch]:
    order = sorted(sequences, key=lambda sequence: len(sequence.input_ids))
    for batch in length_batches(order, batch_tokens):
        ids, mask, counts = (each.to(reader.device) for each in padded(batch))
        predicted = counts.clone()
        predicted[:, 0] = False
        yield SplicedBatch(ids, mask.bool(), counts, predicted)


def _changes(
    sae: SAE[Any], counts: Bool[Tensor, "batch seq"], mean: Float[Tensor, " d_model"]
) -> tuple[Change, ...]:
    def filled_with(value: Callable[[Tensor], Tensor]) -> Change:
        return lambda states: torch.where(counts[..., None], value(states), states)

    return (
        lambda states: states,
        lambda states: rebuilt(sae, states, counts),
        filled_with(lambda states: mean.to(states)),
        filled_with(torch.zeros_like),
    )


def _recovered(means: dict[str, float], ablated: str) -> float:
    costs = means[ablated] - means["loss"]
    return (means[ablated] - means["spliced_loss"]) / costs if costs > 0 else math.nan
