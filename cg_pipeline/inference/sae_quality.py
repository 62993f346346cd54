"""How good an SAE is on given activations: what it explains, what it wastes.

The same figures gate a training run, stand in the model card and are checked again when a
study is run.
"""

from typing import Any

import torch
from jaxtyping import Float
from sae_lens import SAE
from torch import Tensor

QualityFigures = dict[str, float]


@torch.no_grad()
def sae_quality(
    sae_module: SAE[Any],
    activations: Float[Tensor, "n_tokens d_model"],
    *,
    dense_threshold: float = 0.1,
    batch_tokens: int = 4096,
) -> QualityFigures:
    """Figures of an SAE on the hidden states of `n_tokens` tokens.

    explained_variance = 1 - Σ‖x - x̂‖² / Σ‖x - mean‖²;
    l0: latents that fire per token;
    dead_share: share of latents that fire on no token;
    n_dense: latents that fire on more than `dense_threshold` of the tokens;
    finite: 1.0 if every weight and reconstruction is a finite number, else 0.0.

    Raises:
        ValueError: there are fewer than two tokens.
    """
    if len(activations) < 2:
        raise ValueError(
            f"activations hold {len(activations)} tokens; expected at least 2 to have a variance."
        )
    activations = activations.cpu()  # not every device knows double precision
    mean = activations.double().mean(0)
    error = variance = 0.0
    fired = torch.zeros(sae_module.cfg.d_sae, dtype=torch.float64)
    for batch in activations.split(batch_tokens):
        states = batch.to(sae_module.device, torch.float32)
        latents = sae_module.encode(states)
        error += float((sae_module.decode(latents) - states).square().cpu().sum(dtype=torch.float64))
        variance += float((batch.double() - mean).square().sum())
        fired += (latents > 0).sum(0).cpu().double()
    finite = not infinite_parameters(sae_module)
    return _figures(error, variance, fired / len(activations), dense_threshold, finite)


def _figures(
    error: float, variance: float, rates: Tensor, dense_threshold: float, weights_finite: bool
) -> QualityFigures:
    explained = 1.0 - error / variance if variance > 0 else float("nan")
    return {
        "explained_variance": explained,
        "l0": float(rates.sum()),
        "dead_share": float((rates == 0).double().mean()),
        "n_dense": float((rates > dense_threshold).sum()),
        "finite": float(weights_finite and torch.isfinite(torch.tensor(error)).item()),
    }


def infinite_parameters(sae_module: SAE[Any]) -> list[str]:
    """Names of the parameters that hold infinities or NaN."""
    return [name for name, weights in sae_module.named_parameters() if not bool(weights.isfinite().all())]


def check_quality(
    name: str,
    figures: QualityFigures,
    *,
    min_explained_variance: float,
    max_dead_share: float,
    min_loss_recovered: float | None = None,
    max_l0: float | None = None,
) -> None:
    """Refuse an SAE that is not good enough to publish. A bound of None asks nothing; NaN passes none.

    Raises:
        ValueError: a figure misses its bound; the message names all that do.
    """
    faults = []
    if figures["finite"] != 1.0:
        faults.append("a weight or reconstruction is not a finite number")
    if not figures["explained_variance"] >= min_explained_variance:
        found = figures["explained_variance"]
        faults.append(f"explained variance is {found:.3f}, expected at least {min_explained_variance}")
    if not figures["dead_share"] <= max_dead_share:
        dead = figures["dead_share"]
        faults.append(f"{dead:.1%} of the latents are dead, expected at most {max_dead_share:.0%}")
    recovered = figures.get("loss_recovered", float("nan"))
    if min_loss_recovered is not None and not recovered >= min_loss_recovered:
        faults.append(
            f"spliced into the model it recovers {recovered:.3f} of the loss, expected at least "
            f"{min_loss_recovered}"
        )
    if max_l0 is not None and not figures["l0"] <= max_l0:
        faults.append(f"{figures['l0']:.1f} latents fire per token, expected at most {max_l0:g}")
    if faults:
        listed = "; ".join(faults)
        raise ValueError(f"SAE {name!r} is not published: {listed}. Train longer, raise k or lower d_sae.")
