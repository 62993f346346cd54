"""Training is sae-lens's; killed and gone on with it ends with the same weights; it stops when it stalls."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sae_lens import SAE, SAETrainer

from cg_pipeline.inference import training_loop
from cg_pipeline.inference.batch_sources import ShardBatches
from cg_pipeline.inference.checkpoints import Checkpoints
from cg_pipeline.inference.mixing_buffer import MixingBuffer
from cg_pipeline.inference.publishing import save_half
from cg_pipeline.inference.sae_settings import new_sae, trainer_settings
from cg_pipeline.inference.training import FittedSae, fit_sae
from cg_pipeline.inference.training_input import TrainingText, prepare_text
from cg_pipeline.inference.training_loop import has_stalled
from cg_pipeline.training_records import CurvePoint
from cg_pipeline.training_specs import SaeTraining
from tests.fakes import tiny_loaded_model
from tests.inference.test_training import PROMPTS, TRAINING, documents, tiny_sae_spec

TINY = tiny_loaded_model()
DISK = replace(TRAINING, n_epochs=3, measure_every_tokens=1024)
STREAMED = replace(DISK, buffer_tokens=1024)
ARCHITECTURES = {
    "topk": {},
    "batchtopk": {},
    "matryoshka_batchtopk": {"inner_widths": (8, 16)},
    "jumprelu": {},
    "standard": {"k": 0, "sparsity_coefficient": 0.1},
    "gated": {"k": 0, "sparsity_coefficient": 0.1},
}


def of(architecture: str, training: SaeTraining = STREAMED) -> SaeTraining:
    return replace(training, architecture=architecture, **ARCHITECTURES[architecture])


def read(training: SaeTraining, work_dir: Path) -> TrainingText:
    return prepare_text(
        tiny_sae_spec(training),
        training,
        TINY,
        documents,
        PROMPTS,
        text_id="passages",
        work_dir=work_dir,
        report=lambda _: None,
    )


def fit(training: SaeTraining, work_dir: Path, *, every_s: float = 1e9) -> FittedSae:
    text, spec = read(training, work_dir), tiny_sae_spec(training)
    kept = Checkpoints(work_dir / "checkpoints", text.identity)
    return fit_sae(spec, text, kept, report=lambda _: None, every_s=every_s)


def weights(fitted: FittedSae) -> dict[str, torch.Tensor]:
    return {name: each.clone() for name, each in fitted.module.state_dict().items()}


def assert_same(first: FittedSae, second: FittedSae) -> None:
    ours, theirs = weights(first), weights(second)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert first.curve == second.curve
    assert first.module.cfg.metadata.l0 == second.module.cfg.metadata.l0


def killed_at(step: int, training: SaeTraining, work_dir: Path) -> None:
    """A process that died at a training step, with nothing to tidy up after it."""
    whole = SAETrainer.step
    n_steps = 0

    def stepped(self: SAETrainer[Any, Any], batch: torch.Tensor) -> Any:
        nonlocal n_steps
        n_steps += 1
        if n_steps == step:
            raise KeyboardInterrupt
        return whole(self, batch)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(SAETrainer, "step", stepped)
        with pytest.raises(KeyboardInterrupt):
            fit(training, work_dir, every_s=0.0)


def test_it_trains_to_the_last_bit_as_sae_lens_fits(tmp_path: Path) -> None:
    found = fit(DISK, tmp_path)
    text = read(DISK, tmp_path)
    assert isinstance(text.source, ShardBatches)

    def batches():
        while True:
            yield from text.source.next_pool()

    torch.manual_seed(DISK.seed)
    module = new_sae(tiny_sae_spec(DISK), DISK, 16, "cpu")
    states = text.source.sample()
    scale = 16**0.5 / float((states - states.mean(0)).norm(dim=-1).mean())
    module.b_dec.data = states.mean(0) * scale
    trainer = SAETrainer(trainer_settings(DISK, "cpu"), module, batches())
    trainer.activation_scaler.scaling_factor = scale
    expected = trainer.fit().state_dict()
    assert all(torch.equal(each, expected[name]) for name, each in found.module.state_dict().items())


@pytest.mark.parametrize("training", [DISK, STREAMED], ids=["disk", "streamed"])
@pytest.mark.parametrize("step", [1, 4, 11, 23, 34])
def test_killed_at_a_step_it_goes_on_and_ends_the_same(
    training: SaeTraining, step: int, tmp_path: Path
) -> None:
    undisturbed = fit(training, tmp_path / "whole")
    killed_at(step, training, tmp_path / "killed")
    torch.manual_seed(99)  # another process has another random state
    assert_same(fit(training, tmp_path / "killed", every_s=0.0), undisturbed)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_is_trained_goes_on_and_is_published(architecture: str, tmp_path: Path) -> None:
    training = of(architecture)
    undisturbed = fit(training, tmp_path / "whole")
    killed_at(15, training, tmp_path / "killed")
    again = fit(training, tmp_path / "killed", every_s=0.0)
    assert_same(again, undisturbed)
    loaded = SAE.load_from_disk(save_half(again.module, tmp_path / "sae"), dtype="float32")
    states = read(training, tmp_path / "whole").held_out.states.float()
    error = (loaded(states) - states).square().sum() / (states - states.mean(0)).square().sum()
    assert 0 < error < 1
    assert training.architecture == loaded.cfg.metadata.training_architecture


def test_mixed_precision_goes_on_too(tmp_path: Path) -> None:
    training = replace(STREAMED, mixed_precision=True)
    undisturbed = fit(training, tmp_path / "whole")
    killed_at(20, training, tmp_path / "killed")
    assert_same(fit(training, tmp_path / "killed"), undisturbed)


def test_it_does_go_on_and_does_not_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_at(30, STREAMED, tmp_path)
    n_steps, whole = [], SAETrainer.step

    def counted(self: SAETrainer[Any, Any], batch: torch.Tensor) -> Any:
        n_steps.append(1)
        return whole(self, batch)

    monkeypatch.setattr(SAETrainer, "step", counted)
    fit(STREAMED, tmp_path)
    assert 35 - 30 <= len(n_steps) - 2 < 10  # two steps are the estimate's


def test_a_finished_training_is_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fit(STREAMED, tmp_path)
    monkeypatch.setattr(MixingBuffer, "put", lambda *_: pytest.fail("nothing is to be read"))
    assert_same(fit(STREAMED, tmp_path), first)


def test_another_training_does_not_go_on_with_it(tmp_path: Path) -> None:
    first = fit(STREAMED, tmp_path)
    text = read(STREAMED, tmp_path)
    other = Checkpoints(tmp_path / "checkpoints", "another run")
    again = fit_sae(tiny_sae_spec(STREAMED), text, other, report=lambda _: None)
    assert_same(again, first)  # for it was trained anew, from the same seed
    kept = {path.name for path in (tmp_path / "checkpoints").iterdir()}
    assert kept == {"another run", text.identity}


def test_the_curve_holds_what_is_found_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[torch.Tensor, float]] = []
    whole = training_loop.sae_quality

    def looked_at(module: Any, states: torch.Tensor) -> dict[str, float]:
        with torch.no_grad():
            latents = module.encode(states)
            unexplained = (states - module.decode(latents)).double().square().sum()
        variance = (states.double() - states.double().mean(0)).square().sum()
        seen.append(((latents > 0).sum(-1).double().mean(), float(1 - unexplained / variance)))
        return whole(module, states)

    monkeypatch.setattr(training_loop, "sae_quality", looked_at)
    curve = fit(STREAMED, tmp_path).curve
    assert [point.n_tokens for point in curve] == [*range(1024, 8961, 1024), 8960][: len(curve)]
    assert [point.l0 for point in curve] == pytest.approx([float(l0) for l0, _ in seen])
    assert [point.explained_variance for point in curve] == pytest.approx([ev for _, ev in seen], abs=1e-6)
    assert curve[-1].explained_variance > curve[0].explained_variance
    assert curve[-1].learning_rate < curve[0].learning_rate == STREAMED.learning_rate


def points(*values: float) -> list[CurvePoint]:
    return [
        CurvePoint(
            n_tokens=100 * n, loss=1.0, explained_variance=value, l0=8.0, dead_share=0.0, learning_rate=1e-3
        )
        for n, value in enumerate(values, start=1)
    ]


def test_a_curve_has_stalled_when_it_has_not_risen_for_long_enough() -> None:
    training = replace(TRAINING, patience_tokens=200, least_gain=0.01)
    stalled: Callable[..., bool] = lambda *values: has_stalled(points(*values), training)  # noqa: E731
    assert not stalled()
    assert not stalled(0.5, 0.5)
    assert stalled(0.5, 0.5, 0.5)
    assert stalled(0.5, 0.505, 0.509)
    assert not stalled(0.5, 0.505, 0.51)
    assert not stalled(0.5, 0.4, 0.6, 0.6)
    assert stalled(0.5, 0.4, 0.6, 0.6, 0.3)
    assert not has_stalled(points(0.5, 0.5, 0.5, 0.5), replace(training, patience_tokens=0))


def test_it_stops_early_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A learning rate of next to nothing gains nothing; it stops after its patience and not before."""
    training = replace(STREAMED, learning_rate=1e-9, patience_tokens=2048)
    text, told = read(training, tmp_path), list[str]()
    kept = Checkpoints(tmp_path / "checkpoints", "run")
    stopped = fit_sae(tiny_sae_spec(training), text, kept, report=told.append, every_s=0.0)
    assert stopped.stopped_early
    assert stopped.curve[-1].n_tokens == 1024 + 2048
    assert told[-1] == "stopped early after 3,072 tokens: no more gain on held-out text"
    monkeypatch.setattr(SAETrainer, "step", lambda *_: pytest.fail("it is done"))
    again = fit_sae(tiny_sae_spec(training), text, kept, report=told.append)
    assert_same(again, stopped)
    assert again.stopped_early
