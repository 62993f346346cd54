"""Training of a reader SAE, from text to a published directory.

What is trained here is an SAE of sae-lens with its own trainer, of the architecture that the spec
chooses. Inputs are centred by the starting decoder bias and scaled to unit variance; both are folded into
the weights at the end, so that the published SAE takes raw hidden states. Nothing is published that misses
the gate of its spec.

Source: Gao et al., arXiv 2406.04093 (TopK, auxiliary loss for dead latents) [given]; Bussmann et al.,
2412.06410 and 2503.17547 (BatchTopK, Matryoshka), Rajamanoharan et al., 2404.16014 and 2407.14435 (gated,
JumpReLU), all as implemented by sae-lens.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from sae_lens import SAE, SAETrainer
from sae_lens.saes.sae import TrainingSAE

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.inference.checkpoints import Checkpoints
from cg_pipeline.inference.devices import resolve_device
from cg_pipeline.inference.harvest import read_states
from cg_pipeline.inference.loss_recovered import loss_recovered
from cg_pipeline.inference.models import LoadedModel, load_model
from cg_pipeline.inference.publishing import check_gate, publish, save_half, write_curve, write_figures
from cg_pipeline.inference.reading_plan import prompt_sequence
from cg_pipeline.inference.sae_quality import QualityFigures, sae_quality
from cg_pipeline.inference.sae_settings import new_sae, trainer_settings
from cg_pipeline.inference.token_stream import Documents
from cg_pipeline.inference.training_input import HeldOut, Report, TrainingText, prepare_text, read_tokens
from cg_pipeline.inference.training_loop import TrainingLoop
from cg_pipeline.records import content_id
from cg_pipeline.specs import Sae, SaeTraining
from cg_pipeline.training_records import CurvePoint
from cg_pipeline.training_specs import of_training_only

_log = logging.getLogger(__name__)

_SPLICED_SEQUENCES = 64
"""Held-out sequences on which the model's loss is measured: it reads them to the end, four times."""


@dataclass(frozen=True)
class TrainedReader:
    """A published SAE, in figures."""

    figures: dict[str, QualityFigures]
    """By what they were measured on: `held_out`, and `check_texts` if there were any."""
    curve: list[CurvePoint]
    stopped_early: bool
    """Whether training ended because it had stalled."""


def train_sae(
    sae: Sae,
    documents: Documents,
    prompts: Sequence[str],
    *,
    text_id: str,
    out_dir: Path,
    work_dir: Path,
    cache_dir: Path,
    data_dir: Path,
    check_texts: Sequence[str] = (),
    device: str = "auto",
    threads: int | None = None,
    report: Report = _log.info,
    checkpoint_every_s: float = 300.0,
) -> TrainedReader:
    """Train, judge and publish.

    Started again after an interruption with the same `work_dir`, it goes on from the last whole shard, and
    from the last whole checkpoint.

    Args:
        sae: what to train; everything that changes the result is in `sae.training`.
        documents: text to read, in order.
        prompts: chat prompts to which the model samples answers; both are read.
        text_id: what tells the text from others: a run that read another one is not gone on with.
        out_dir: where the SAE is published, replacing what is there.
        work_dir: transcripts, shards and checkpoints.
        cache_dir: where a packaged model is converted once.
        data_dir: what relative model paths are relative to.
        check_texts: texts never trained on whose explained variance must pass the gate too.
        device: where the model reads and the SAE trains.
        threads: CPU threads; None leaves torch's choice.
        report: told what it will take, how far it is, and what was found.
        checkpoint_every_s: least seconds between two checkpoints.

    Raises:
        ValueError: the spec has no training, the text is too short, or the gate is missed.
    """
    training, device = _training_of(sae), str(resolve_device(device))
    if threads:
        torch.set_num_threads(threads)
    where = {"cache_dir": cache_dir, "data_dir": data_dir, "device": device}
    loaded = _load_reader(sae, training.reading_dtype, **where)
    text = prepare_text(
        sae, training, loaded, documents, prompts, text_id=text_id, work_dir=work_dir, report=report
    )
    checkpoints = Checkpoints(work_dir / "checkpoints", _run_id(sae, training, text))
    fitted = fit_sae(sae, text, checkpoints, device=device, report=report, every_s=checkpoint_every_s)
    candidate = save_half(fitted.module, work_dir / "candidate")
    held_out = text.held_out
    if sae.model.dtype != training.reading_dtype:
        del loaded, text  # one copy of the model on the device at a time
        loaded = _load_reader(sae, sae.model.dtype, **where)
    module = SAE.load_from_disk(candidate, device=device, dtype="float32")
    figures = _judge(sae, module, loaded, held_out, check_texts)
    write_figures(candidate, figures)
    write_curve(candidate, fitted.curve)
    check_gate(sae.name, training, figures)
    publish(candidate, out_dir)
    checkpoints.clear()
    return TrainedReader(figures, fitted.curve, fitted.stopped_early)


@dataclass(frozen=True)
class FittedSae:
    """What training gave, before it is judged."""

    module: TrainingSAE[Any]
    """Its normalisation folded in: raw hidden states go in."""
    curve: list[CurvePoint]
    stopped_early: bool


def fit_sae(
    sae: Sae,
    text: TrainingText,
    checkpoints: Checkpoints,
    *,
    device: str = "cpu",
    report: Report = _log.info,
    every_s: float = 300.0,
) -> FittedSae:
    """The trained SAE, from its newest checkpoint on if there is one."""
    training = _training_of(sae)
    torch.manual_seed(training.seed)
    module = new_sae(sae, training, text.held_out.states.shape[1], device)
    trainer: SAETrainer[Any, Any] = SAETrainer(trainer_settings(training, device), module, iter(()))
    loop = TrainingLoop(
        trainer, text.source, text.held_out.states, training, checkpoints, checkpoint_every_s=every_s
    )
    if loop.resume():
        report(f"going on from step {trainer.n_training_steps:,}")
    else:
        _centre_and_scale(trainer, text)
    loop.run(lambda at: report(_line(at, loop.curve)))
    module.fold_activation_norm_scaling_factor(trainer.activation_scaler.scaling_factor or 1.0)
    trainer.set_final_sae_metadata()
    if loop.stopped_early:
        report(f"stopped early after {trainer.n_training_samples:,} tokens: no more gain on held-out text")
    return FittedSae(module, loop.curve, loop.stopped_early)


def _centre_and_scale(trainer: SAETrainer[Any, Any], text: TrainingText) -> None:
    states = text.source.sample()
    mean = states.mean(0)
    scale = math.sqrt(states.shape[1]) / float((states - mean).norm(dim=-1).mean())
    trainer.sae.b_dec.data = (mean * scale).to(trainer.cfg.device)
    trainer.activation_scaler.scaling_factor = scale


def _line(at: object, curve: Sequence[CurvePoint]) -> str:
    if not curve:
        return str(at)
    return f"{at}; held-out explained variance {curve[-1].explained_variance:.3f}, l0 {curve[-1].l0:.1f}"


def _judge(
    sae: Sae, module: SAE[Any], loaded: LoadedModel, held_out: HeldOut, check_texts: Sequence[str]
) -> dict[str, QualityFigures]:
    figures = {"held_out": sae_quality(module, held_out.states, dense_threshold=sae.dense_threshold)}
    figures["held_out"] |= loss_recovered(
        loaded,
        module,
        sae.hookpoint,
        held_out.sequences[:_SPLICED_SEQUENCES],
        held_out.states.float().mean(0),
        batch_tokens=read_tokens(loaded),
    )
    if check_texts:
        sequences = [prompt_sequence(loaded, text) for text in check_texts]
        states = read_states(loaded, sae.hookpoint, sequences)
        figures["check_texts"] = sae_quality(module, states, dense_threshold=sae.dense_threshold)
    return figures


def _training_of(sae: Sae) -> SaeTraining:
    if sae.training is None:
        raise ValueError(
            f"SAE {sae.name!r} has training=None; expected a SaeTraining. It was trained elsewhere."
        )
    return sae.training


def _load_reader(sae: Sae, dtype: Any, *, cache_dir: Path, data_dir: Path, device: str) -> LoadedModel:
    return load_model(replace(sae.model, dtype=dtype), cache_dir=cache_dir, data_dir=data_dir, device=device)


def _run_id(sae: Sae, training: SaeTraining, text: TrainingText) -> str:
    """What a checkpoint belongs to; the gate does not count, so that it may be lowered afterwards."""
    model = (repr(sae.model.weights), sae.model.chat, sae.model.system_prompt)
    return content_id(fingerprint(of_training_only(training)), sae.d_sae, sae.hookpoint, model, text.identity)
