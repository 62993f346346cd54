"""From a spec to what sae-lens trains: the SAE of the architecture chosen, and its trainer's settings."""

import math
from collections.abc import Callable
from typing import Any

from sae_lens import LoggingConfig
from sae_lens.config import SAETrainerConfig
from sae_lens.registry import get_sae_training_class
from sae_lens.saes.sae import TrainingSAE

from cg_pipeline.inference.sae_fit import model_name_in_metadata
from cg_pipeline.specs import Sae
from cg_pipeline.training_specs import SaeTraining


def n_steps(training: SaeTraining) -> int:
    """Training steps of a run that is not stopped early."""
    return training.n_tokens * training.n_epochs // training.batch_tokens


def new_sae(sae: Sae, training: SaeTraining, d_model: int, device: str) -> TrainingSAE[Any]:
    """A starting SAE; its weights are drawn from torch's generator."""
    kind, settings = get_sae_training_class(training.architecture)
    config = settings(
        d_in=d_model,
        d_sae=sae.d_sae,
        device=device,
        apply_b_dec_to_input=True,
        normalize_activations="expected_average_only_in",
        **_ARCHITECTURES[training.architecture](sae, training),
    )
    config.metadata.model_name = model_name_in_metadata(sae.model)
    config.metadata.hook_name = sae.hookpoint
    config.metadata.context_size = training.context_tokens
    return kind(config)


def trainer_settings(training: SaeTraining, device: str) -> SAETrainerConfig:
    """What sae-lens's trainer is told; it writes no checkpoints and reports to nobody."""
    steps = n_steps(training)
    return SAETrainerConfig(
        total_training_samples=steps * training.batch_tokens,
        train_batch_size_samples=training.batch_tokens,
        lr=training.learning_rate,
        lr_end=training.learning_rate,
        lr_warm_up_steps=round(steps * training.warm_up_share),
        lr_decay_steps=round(steps * training.decay_share),
        dead_feature_window=math.ceil(training.dead_after_tokens / training.batch_tokens),
        autocast=training.mixed_precision,
        device=device,
        logger=LoggingConfig(log_to_wandb=False),
    )


def _topk(_: Sae, training: SaeTraining) -> dict[str, Any]:
    return {"k": training.k, "aux_loss_coefficient": training.aux_coefficient}


def _matryoshka(sae: Sae, training: SaeTraining) -> dict[str, Any]:
    if training.inner_widths[-1] >= sae.d_sae:
        raise ValueError(
            f"SAE {sae.name!r} has inner_widths {training.inner_widths}; expected all below its d_sae, "
            f"{sae.d_sae}. Correct one of them."
        )
    return {**_topk(sae, training), "matryoshka_widths": [*training.inner_widths, sae.d_sae]}


def _jumprelu(_: Sae, training: SaeTraining) -> dict[str, Any]:
    return {
        "jumprelu_sparsity_loss_mode": "quadratic",
        "target_l0": float(training.k),
        "l0_coefficient": training.sparsity_coefficient,
        "l0_warm_up_steps": _warm_up(training),
    }


def _l1(_: Sae, training: SaeTraining) -> dict[str, Any]:
    return {"l1_coefficient": training.sparsity_coefficient, "l1_warm_up_steps": _warm_up(training)}


def _warm_up(training: SaeTraining) -> int:
    return round(n_steps(training) * training.sparsity_warm_up_share)


_ARCHITECTURES: dict[str, Callable[[Sae, SaeTraining], dict[str, Any]]] = {
    "topk": _topk,
    "batchtopk": _topk,
    "matryoshka_batchtopk": _matryoshka,
    "jumprelu": _jumprelu,
    "standard": _l1,
    "gated": _l1,
}
"""What each architecture is told besides its widths."""
