"""What a training will take, measured on a few of its own batches before it starts."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from sae_lens import SAETrainer

from cg_pipeline.inference.harvest import iter_states
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.reading_plan import TokenSequence
from cg_pipeline.inference.sae_settings import n_steps, new_sae, trainer_settings
from cg_pipeline.specs import Sae
from cg_pipeline.training_specs import SaeTraining

_PROBED_TOKENS = 2048


@dataclass(frozen=True, kw_only=True)
class TrainingEstimate:
    """Time, memory and disk of a run from its beginning to its last step."""

    n_read: int
    """Tokens that the model reads."""
    read_per_s: float
    """Tokens that it reads per second."""
    n_steps: int
    step_s: float
    """Seconds of one training step."""
    device_bytes: int
    """Weights of the model and, for the SAE, weights, gradients and the optimiser's moments; activations
    come on top."""
    buffer_bytes: int
    """States in main memory at a time, with the copy that a checkpoint takes of those that are kept."""
    disk_bytes: int
    """States on disk, or two checkpoints."""

    @property
    def seconds(self) -> float:
        """Reading and training one after another, which is how they run."""
        return self.n_read / self.read_per_s + self.n_steps * self.step_s

    def __str__(self) -> str:
        """One sentence for who is to wait."""
        return (
            f"About {_duration(self.seconds)}: {self.n_read:,} tokens to read at {self.read_per_s:,.0f} "
            f"tokens/s, {self.n_steps:,} steps to train at {1 / self.step_s:,.2f} steps/s; "
            f"{_size(self.device_bytes)} on the device, {_size(self.buffer_bytes)} of states in memory, "
            f"{_size(self.disk_bytes)} on disk"
        )


def estimate(
    sae: Sae,
    training: SaeTraining,
    loaded: LoadedModel,
    sequences: Sequence[TokenSequence],
    *,
    n_read: int,
    batch_tokens: int,
) -> TrainingEstimate:
    """Measure the reading of a batch and a training step, each once after a first that warms up.

    Args:
        sae: what is trained.
        training: its settings.
        loaded: the model that reads.
        sequences: some of what is read.
        n_read: counted tokens that will be read.
        batch_tokens: padded tokens that are read at once.
    """
    d_model = loaded.d_model
    probe = _first(sequences, min(batch_tokens, _PROBED_TOKENS))
    read_s = _timed(lambda: list(iter_states(loaded, sae.hookpoint, probe, batch_tokens=batch_tokens)))
    weights = sum(each.nbytes for each in loaded.module.parameters())
    n_weights = sae.d_sae * (2 * d_model + 1) + d_model
    state_bytes = 2 * d_model
    if training.buffer_tokens:
        kept = round(training.buffer_tokens * training.kept_share) * state_bytes
        buffer, disk = training.buffer_tokens * state_bytes + kept, 2 * (12 * n_weights + kept)
    else:
        buffer, disk = min(300_000, n_read) * state_bytes, n_read * state_bytes + 2 * 12 * n_weights
    return TrainingEstimate(
        n_read=n_read,
        read_per_s=sum(each.n_counted for each in probe) / read_s,
        n_steps=n_steps(training),
        step_s=_step_seconds(sae, training, d_model, str(loaded.device)),
        device_bytes=weights + 16 * n_weights,
        buffer_bytes=buffer,
        disk_bytes=disk,
    )


def _first(sequences: Sequence[TokenSequence], n_tokens: int) -> list[TokenSequence]:
    chosen: list[TokenSequence] = []
    for sequence in sequences:
        chosen.append(sequence)
        if sum(each.n_counted for each in chosen) >= n_tokens:
            break
    return chosen


def _step_seconds(sae: Sae, training: SaeTraining, d_model: int, device: str) -> float:
    """Of a scratch SAE on random states, so that the one to be trained is untouched."""
    trainer: SAETrainer[Any, Any] = SAETrainer(
        trainer_settings(training, device), new_sae(sae, training, d_model, device), iter(())
    )
    states = torch.randn(training.batch_tokens, d_model)
    return _timed(lambda: trainer.step(states))


def _timed(work: Callable[[], object]) -> float:
    """Seconds of the second of two runs."""
    work()
    _wait()
    start = time.perf_counter()
    work()
    _wait()
    return max(time.perf_counter() - start, 1e-9)


def _wait() -> None:
    """Until the device has done what it was given."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e8 else f"{n_bytes / 1e6:.0f} MB"
