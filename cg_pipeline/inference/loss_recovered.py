"""What reading a model by an SAE costs the model: its loss with the SAE's reconstruction spliced in.

An SAE may explain most of the variance of a state and miss what the model goes on with; the loss tells.

Source: arXiv 2406.04093, section 4.1, and sae-lens's `ce_loss_score` [given]. Theirs is against zero
ablation; the gate's figure is against the mean state, which is harder, for a state of zeros is so far from
any that almost everything recovers most of it. Only the tokens that count are replaced: special tokens and
attention sinks, which no SAE here is trained on, stay.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from sae_lens import SAE
from torch import Tensor

from cg_pipeline.inference.harvest import length_batches, padded
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.reading_plan import TokenSequence
from cg_pipeline.inference.splicing import changed, losses

Replacement = Callable[[Float[Tensor, "n_tokens d_model"]], Float[Tensor, "n_tokens d_model"]]


@torch.no_grad()
def loss_recovered(
    loaded: LoadedModel,
    sae_module: SAE[Any],
    hookpoint: str,
    sequences: Sequence[TokenSequence],
    mean: Float[Tensor, " d_model"],
    *,
    batch_tokens: int = 2048,
) -> dict[str, float]:
    """Mean cross-entropy of the counted tokens, in nats, with their states as they are or replaced.

    loss: as they are; spliced_loss: by the SAE's reconstruction; mean_loss: by `mean`; zero_loss: by zeros;
    loss_recovered = (mean_loss - spliced_loss) / (mean_loss - loss): 1 costs nothing, 0 is no better than
    the mean state, below 0 worse; NaN where the mean state costs nothing;
    zero_loss_recovered: the same against zero_loss.

    Args:
        loaded: the model.
        sae_module: the SAE, which takes raw states.
        hookpoint: where it reads.
        sequences: what is read; tokens that count are replaced, and predicted unless they are the first.
        mean: mean state of the tokens that count.
        batch_tokens: padded tokens of a batch.
    """

    def rebuilt(states: Tensor) -> Tensor:
        return sae_module.decode(sae_module.encode(states.to(sae_module.device, sae_module.dtype)))

    def measured(replacement: Replacement | None) -> float:
        return _mean_loss(loaded, hookpoint, sequences, replacement, batch_tokens)

    loss, spliced = measured(None), measured(rebuilt)
    at_mean = measured(lambda states: mean.to(states).expand_as(states))
    at_zero = measured(torch.zeros_like)
    return {
        "loss": loss,
        "spliced_loss": spliced,
        "mean_loss": at_mean,
        "zero_loss": at_zero,
        "loss_recovered": _share(loss, spliced, at_mean),
        "zero_loss_recovered": _share(loss, spliced, at_zero),
    }


def _share(loss: float, spliced: float, ablated: float) -> float:
    return (ablated - spliced) / (ablated - loss) if ablated != loss else float("nan")


def _mean_loss(
    loaded: LoadedModel,
    hookpoint: str,
    sequences: Sequence[TokenSequence],
    replacement: Replacement | None,
    batch_tokens: int,
) -> float:
    order = sorted(sequences, key=lambda sequence: len(sequence.input_ids))
    total, n_predicted = 0.0, 0
    for batch in length_batches(order, batch_tokens):
        ids, mask, counts = (each.to(loaded.device) for each in padded(batch))
        predicted = counts.clone()
        predicted[:, 0] = False
        if replacement is None:
            found = losses(loaded, ids, mask.bool(), predicted)
        else:
            with changed(loaded.module, hookpoint, _replacing(replacement, counts)):
                found = losses(loaded, ids, mask.bool(), predicted)
        total += float(found.float().cpu().sum(dtype=torch.float64))
        n_predicted += len(found)
    return total / n_predicted if n_predicted else float("nan")


def _replacing(replacement: Replacement, counts: Tensor) -> Callable[[Tensor], Tensor]:
    def change(states: Tensor) -> Tensor:
        replaced = states.clone()
        replaced[counts] = replacement(states[counts]).to(states)
        return replaced

    return change
