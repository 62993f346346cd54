"""What a run will take is measured on its own model and SAE, and what it needs is counted."""

from dataclasses import replace

import pytest

from cg_pipeline.inference.reading_plan import prompt_sequence
from cg_pipeline.inference.training_estimate import TrainingEstimate, estimate
from tests.fakes import tiny_loaded_model
from tests.inference.test_training import TRAINING, tiny_sae_spec

TINY = tiny_loaded_model()


def found(**more: int) -> TrainingEstimate:
    training = replace(TRAINING, **more)
    sequences = [prompt_sequence(TINY, "The cat sat on the mat.") for _ in range(20)]
    return estimate(tiny_sae_spec(training), training, TINY, sequences, n_read=3500, batch_tokens=2048)


def test_what_a_run_needs_is_counted() -> None:
    n_weights = 32 * (2 * 16 + 1) + 16
    model = sum(each.nbytes for each in TINY.module.parameters())
    from_disk, streamed = found(), found(buffer_tokens=1024)
    assert from_disk.n_steps == 3000 * 20 // 256
    assert from_disk.device_bytes == streamed.device_bytes == model + 16 * n_weights
    assert from_disk.disk_bytes == 3500 * 16 * 2 + 2 * 12 * n_weights
    assert streamed.buffer_bytes == (1024 + 512) * 16 * 2
    assert streamed.disk_bytes == 2 * (12 * n_weights + 512 * 16 * 2)


def test_time_is_that_of_reading_and_of_training() -> None:
    estimated = found()
    assert estimated.read_per_s > 0
    assert estimated.step_s > 0
    assert estimated.seconds == pytest.approx(3500 / estimated.read_per_s + 234 * estimated.step_s)


@pytest.mark.parametrize(
    ("n_steps", "said"), [(10, "About 15 s: "), (1000, "About 8 min: "), (20_000, "About 2.8 h: ")]
)
def test_it_is_one_sentence(n_steps: int, said: str) -> None:
    sentence = str(replace(_ESTIMATE, n_steps=n_steps))
    assert sentence.startswith(said)
    assert sentence.endswith(
        "steps to train at 2.00 steps/s; 1.50 GB on the device, 20 MB of states in memory, 0.30 GB on disk"
    )


_ESTIMATE = TrainingEstimate(
    n_read=1000,
    read_per_s=100.0,
    n_steps=10,
    step_s=0.5,
    device_bytes=1_500_000_000,
    buffer_bytes=20_000_000,
    disk_bytes=300_000_000,
)
