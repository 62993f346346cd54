"""The training of an SAE step by step: measured on the way, put down now and then, stopped when it stalls.

The step is sae-lens's (`SAETrainer.step`), as is what surrounds it in its `fit`: an undisturbed run gives
to the last bit what `fit` gives. A run that goes on from a checkpoint gives the same figures too: bit by bit
on a CPU with the same number of threads; on a GPU within what its kernels differ from run to run.
"""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from jaxtyping import Float
from sae_lens import SAETrainer
from torch import Tensor

from cg_pipeline.inference.batch_sources import BatchSource, Position
from cg_pipeline.inference.checkpoints import (
    Checkpoint,
    Checkpoints,
    optimiser_state,
    part,
    parted,
    restore_optimiser,
)
from cg_pipeline.inference.sae_quality import sae_quality
from cg_pipeline.progress import Progress, ProgressMeter
from cg_pipeline.training_records import CurvePoint
from cg_pipeline.training_specs import SaeTraining

CURVE_TOKENS = 16_384
"""Held-out tokens that a point of the curve is measured on."""


def has_stalled(curve: list[CurvePoint], training: SaeTraining) -> bool:
    """Whether the explained variance has not risen by `least_gain` over the last `patience_tokens`."""
    if not training.patience_tokens or not curve:
        return False
    best = curve[0]
    for point in curve:
        if point.explained_variance >= best.explained_variance + training.least_gain:
            best = point
    return curve[-1].n_tokens - best.n_tokens >= training.patience_tokens


class TrainingLoop:
    """One training run."""

    def __init__(
        self,
        trainer: SAETrainer[Any, Any],
        source: BatchSource,
        held_out: Float[Tensor, "n_tokens d_model"],
        training: SaeTraining,
        checkpoints: Checkpoints,
        *,
        checkpoint_every_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is trained yet.

        Args:
            trainer: sae-lens's, its activation scaler set.
            source: batches.
            held_out: states that are only measured on.
            training: settings.
            checkpoints: where the run is put down.
            checkpoint_every_s: least seconds between two checkpoints, each between two pools.
            clock: seconds that only grow.
        """
        self._trainer, self._source, self._held_out, self._training = trainer, source, held_out, training
        self._checkpoints, self._every_s, self._clock = checkpoints, checkpoint_every_s, clock
        self._saved_at = clock()
        self.curve: list[CurvePoint] = []

    def run(self, report: Callable[[Progress], None]) -> None:
        """Train until the settings' end, or until it stalls."""
        known = self._trainer.n_training_samples
        with ProgressMeter(self._trainer.cfg.total_training_samples, report, unit="token") as meter:
            meter.recall(known)
            meter.advance(known, 0)
            while not self._is_done:
                before = self._trainer.n_training_steps
                self._train_pool(meter)
                if self._trainer.n_training_steps == before:
                    raise RuntimeError("The source of batches is exhausted before the training's last step.")
                if self._is_done or self._clock() - self._saved_at >= self._every_s:
                    self.save()

    @property
    def stopped_early(self) -> bool:
        """Whether it has stalled before its last step."""
        return has_stalled(self.curve, self._training) and not self._is_at_end

    @property
    def _is_at_end(self) -> bool:
        return self._trainer.n_training_samples >= self._trainer.cfg.total_training_samples

    @property
    def _is_done(self) -> bool:
        return self._is_at_end or has_stalled(self.curve, self._training)

    def _train_pool(self, meter: ProgressMeter) -> None:
        trainer = self._trainer
        for batch in self._source.next_pool():
            left = trainer.cfg.total_training_samples - trainer.n_training_samples
            trainer.maybe_reset_sparsity()
            output = trainer.step(batch)
            trainer.n_training_steps += 1
            meter.advance(min(len(batch), left), 0)
            every = max(1, self._training.measure_every_tokens // self._training.batch_tokens)
            if trainer.n_training_steps % every == 0 or self._is_at_end:
                self.curve.append(self._measure(output.loss.item()))
            if self._is_done:
                return

    def _measure(self, loss: float) -> CurvePoint:
        trainer = self._trainer
        states = self._held_out[:CURVE_TOKENS].float() * (trainer.activation_scaler.scaling_factor or 1.0)
        trainer.sae.eval()
        figures = sae_quality(trainer.sae, states)
        return CurvePoint(
            n_tokens=trainer.n_training_samples,
            loss=loss,
            explained_variance=figures["explained_variance"],
            l0=figures["l0"],
            dead_share=float(trainer.dead_neurons.float().mean()),
            learning_rate=float(trainer.optimizer.param_groups[0]["lr"]),
        )

    def save(self) -> None:
        """Put the run down; between two pools, or when it is done."""
        trainer = self._trainer
        moments, groups = optimiser_state(trainer.optimizer)
        position = Position({}) if self._is_done else self._source.position()
        state = {
            "n_training_steps": trainer.n_training_steps,
            "n_training_samples": trainer.n_training_samples,
            "n_frac_active_samples": trainer.n_frac_active_samples,
            "scaling_factor": trainer.activation_scaler.scaling_factor,
            "optimiser": groups,
            "learning_rate": trainer.lr_scheduler.state_dict(),
            "coefficients": {
                name: each.state_dict() for name, each in trainer.coefficient_schedulers.items()
            },
            "curve": [asdict(point) for point in self.curve],
            "source": position.place,
        }
        tensors = {
            **parted("sae", trainer.sae.state_dict()),
            **parted("optimiser", moments),
            **parted("source", position.tensors),
            "firing/counts": trainer.act_freq_scores,
            "firing/passes_since": trainer.n_forward_passes_since_fired,
            "random/cpu": torch.get_rng_state(),
        }
        self._checkpoints.save(trainer.n_training_steps, state, tensors)
        self._saved_at = self._clock()

    def resume(self) -> bool:
        """Go on from the newest checkpoint; whether there was one."""
        found = self._checkpoints.load()
        if found is None:
            return False
        self._restore_trainer(found)
        self.curve = [CurvePoint(**point) for point in found.state["curve"]]
        if not self._is_done:
            self._source.restore(Position(found.state["source"], part("source", found.tensors)))
        return True

    def _restore_trainer(self, found: Checkpoint) -> None:
        trainer, state, tensors = self._trainer, found.state, found.tensors
        trainer.sae.load_state_dict(part("sae", tensors))
        restore_optimiser(trainer.optimizer, part("optimiser", tensors), state["optimiser"])
        trainer.lr_scheduler.load_state_dict(state["learning_rate"])
        for name, each in trainer.coefficient_schedulers.items():
            each.load_state_dict(state["coefficients"][name])
        for name in ("n_training_steps", "n_training_samples", "n_frac_active_samples"):
            setattr(trainer, name, state[name])
        trainer.activation_scaler.scaling_factor = state["scaling_factor"]
        trainer.act_freq_scores = tensors["firing/counts"].to(trainer.cfg.device)
        trainer.n_forward_passes_since_fired = tensors["firing/passes_since"].to(trainer.cfg.device)
        torch.set_rng_state(tensors["random/cpu"])
