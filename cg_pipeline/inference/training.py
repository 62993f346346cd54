"""Training of a reader SAE, from text to a published directory.

What is trained here is sae-lens's TopK SAE with its own trainer. Inputs are centred by the
starting decoder bias and scaled to unit variance; both are folded into the weights at the
end, so that the published SAE takes raw hidden states. Nothing is published that misses
the gate of its spec.

Source: Gao et al., arXiv 2406.04093 (TopK, auxiliary loss for dead latents) [given], as
implemented by sae-lens.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from sae_lens import SAE, LoggingConfig, SAETrainer, TopKTrainingSAE, TopKTrainingSAEConfig
from sae_lens.config import SAETrainerConfig
from torch import Tensor

from cg_pipeline.inference.devices import resolve_device
from cg_pipeline.inference.harvest import harvest, load_shard, read_states
from cg_pipeline.inference.models import LoadedModel, load_model
from cg_pipeline.inference.publishing import check_gate, publish, save_half, write_figures
from cg_pipeline.inference.reading_plan import plan_passages, prompt_sequence, transcript_sequence
from cg_pipeline.inference.sae_fit import model_name_in_metadata
from cg_pipeline.inference.sae_quality import QualityFigures, sae_quality
from cg_pipeline.inference.transcripts import sample_transcripts
from cg_pipeline.specs import Sae, SaeTraining

_SHARD_TOKENS = 50_000
_SHARDS_MIXED = 6


def train_sae(
    sae: Sae,
    passages: Iterable[str],
    prompts: Sequence[str],
    *,
    out_dir: Path,
    work_dir: Path,
    cache_dir: Path,
    data_dir: Path,
    check_texts: Sequence[str] = (),
    device: str = "auto",
    threads: int | None = None,
) -> dict[str, QualityFigures]:
    """Train, judge and publish; figures by what they were measured on (`held_out`, `check_texts`).

    Started again after an interruption with the same `work_dir`, it goes on from the last
    whole shard.

    Args:
        sae: what to train; everything that changes the result is in `sae.training`.
        passages: text to read, in order.
        prompts: chat prompts to which the model samples answers; both are read.
        out_dir: where the SAE is published, replacing what is there.
        work_dir: transcripts and shards.
        cache_dir: where a packaged model is converted once.
        data_dir: what relative model paths are relative to.
        check_texts: texts never trained on whose explained variance must pass the gate too.
        device: where the model reads and the SAE trains.
        threads: CPU threads; None leaves torch's choice.

    Raises:
        ValueError: the spec has no training, the text is too short, or the gate is missed.
    """
    training, device = _training_of(sae), str(resolve_device(device))
    if threads:
        torch.set_num_threads(threads)
    loaded = _load_reader(sae, training.reading_dtype, cache_dir=cache_dir, data_dir=data_dir, device=device)
    shards = harvest_shards(sae, loaded, passages, prompts, work_dir)
    trained = fit_sae(sae, shards.train, device=device)
    candidate = save_half(trained, work_dir / "candidate")
    module = SAE.load_from_disk(candidate, device=device, dtype="float32")
    measured = {"held_out": torch.cat([load_shard(path) for path in shards.held_out])}
    if check_texts:
        exact = _load_reader(sae, sae.model.dtype, cache_dir=cache_dir, data_dir=data_dir, device=device)
        sequences = [prompt_sequence(exact, text) for text in check_texts]
        measured["check_texts"] = read_states(exact, sae.hookpoint, sequences)
    figures = {
        name: sae_quality(module, states, dense_threshold=sae.dense_threshold)
        for name, states in measured.items()
    }
    write_figures(candidate, figures)
    check_gate(sae.name, training, figures)
    publish(candidate, out_dir)
    return figures


@dataclass(frozen=True)
class HarvestedShards:
    """Shards to train on, and shards that are only measured on."""

    train: list[Path]
    held_out: list[Path]


def harvest_shards(
    sae: Sae, loaded: LoadedModel, passages: Iterable[str], prompts: Sequence[str], work_dir: Path
) -> HarvestedShards:
    """Hidden states of the passages, the last of them held out, and of transcripts that the model samples."""
    training = _training_of(sae)
    sequences = plan_passages(loaded, passages, training)
    read = harvest(loaded, sae.hookpoint, sequences, work_dir / "passages", shard_tokens=_SHARD_TOKENS)
    n_held_out = math.ceil(training.held_out_tokens / _SHARD_TOKENS)
    transcripts = sample_transcripts(loaded, prompts, work_dir / "transcripts.jsonl", training)
    chats = [transcript_sequence(loaded, *pair, training.context_tokens) for pair in transcripts]
    said = harvest(loaded, sae.hookpoint, chats, work_dir / "transcripts", shard_tokens=_SHARD_TOKENS)
    return HarvestedShards(train=said + read[:-n_held_out], held_out=read[-n_held_out:])


def fit_sae(sae: Sae, shards: Sequence[Path], *, device: str = "cpu") -> TopKTrainingSAE:
    """The trained SAE, its normalisation folded in: raw hidden states go in."""
    training = _training_of(sae)
    states = load_shard(shards[-1]).float()
    mean = states.mean(0)
    scale = math.sqrt(states.shape[1]) / float((states - mean).norm(dim=-1).mean())
    torch.manual_seed(training.seed)
    module = TopKTrainingSAE(_sae_config(sae, states.shape[1], device))
    module.b_dec.data = (mean * scale).to(device)
    trainer = SAETrainer(_trainer_config(training, device), module, batches_of(shards, training))
    trainer.activation_scaler.scaling_factor = scale
    return trainer.fit()


def batches_of(shards: Sequence[Path], training: SaeTraining) -> Iterator[Float[Tensor, "batch d_model"]]:
    """Batches without end: each epoch takes the shards in a new order and mixes a few at a time."""
    generator = torch.Generator().manual_seed(training.seed)
    while True:
        order = torch.randperm(len(shards), generator=generator).tolist()
        for start in range(0, len(order), _SHARDS_MIXED):
            pool = torch.cat([load_shard(shards[index]) for index in order[start : start + _SHARDS_MIXED]])
            yield from _full_batches(pool, training.batch_tokens, generator)


def _training_of(sae: Sae) -> SaeTraining:
    if sae.training is None:
        raise ValueError(
            f"SAE {sae.name!r} has training=None; expected a SaeTraining. It was trained elsewhere."
        )
    return sae.training


def _load_reader(sae: Sae, dtype: Any, *, cache_dir: Path, data_dir: Path, device: str) -> LoadedModel:
    return load_model(replace(sae.model, dtype=dtype), cache_dir=cache_dir, data_dir=data_dir, device=device)


def _full_batches(pool: Tensor, batch_tokens: int, generator: torch.Generator) -> Iterator[Tensor]:
    size = min(batch_tokens, len(pool))
    order = torch.randperm(len(pool), generator=generator)
    for start in range(0, len(pool) - size + 1, size):
        yield pool[order[start : start + size]].float()


def _sae_config(sae: Sae, d_model: int, device: str) -> TopKTrainingSAEConfig:
    training = _training_of(sae)
    config = TopKTrainingSAEConfig(
        d_in=d_model,
        d_sae=sae.d_sae,
        k=training.k,
        device=device,
        apply_b_dec_to_input=True,
        normalize_activations="expected_average_only_in",
        aux_loss_coefficient=training.aux_coefficient,
    )
    config.metadata.model_name = model_name_in_metadata(sae.model)
    config.metadata.hook_name = sae.hookpoint
    config.metadata.context_size = training.context_tokens
    return config


def _trainer_config(training: SaeTraining, device: str) -> SAETrainerConfig:
    n_steps = training.n_tokens * training.n_epochs // training.batch_tokens
    return SAETrainerConfig(
        total_training_samples=n_steps * training.batch_tokens,
        train_batch_size_samples=training.batch_tokens,
        lr=training.learning_rate,
        lr_end=training.learning_rate,
        lr_warm_up_steps=round(n_steps * training.warm_up_share),
        lr_decay_steps=round(n_steps * training.decay_share),
        dead_feature_window=math.ceil(training.dead_after_tokens / training.batch_tokens),
        autocast=training.mixed_precision,
        device=device,
        logger=LoggingConfig(log_to_wandb=False),
    )
