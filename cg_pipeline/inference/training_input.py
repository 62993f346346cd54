"""What a training run reads, made ready: a source of batches, and held-out tokens to measure on.

Two ways, of one spec's choosing. From disk: the states of the whole text are harvested to shards first
(`buffer_tokens=0`), which are shuffled as a whole and can be read again and again. Streamed: the model
reads on while the SAE trains, and a mixing buffer of fixed size stands between them.

Why both: where a small corpus is trained on more than once, or with several settings, it is read once;
the embedded SAE was made so and stays reproducible. Above some ten million tokens of a wide model, no disk
holds the states: 100 million of width 4,096 are 820 GB.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from cg_pipeline.inference.batch_sources import BatchSource, ShardBatches, StreamedBatches
from cg_pipeline.inference.harvest import group_sequences, harvest, iter_states, load_shard
from cg_pipeline.inference.mixing_buffer import MixingBuffer, check_finite
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.reading_plan import TokenSequence, plan_passages, transcript_sequence
from cg_pipeline.inference.token_stream import Documents, TokenStream
from cg_pipeline.inference.training_estimate import estimate
from cg_pipeline.inference.transcripts import sample_transcripts
from cg_pipeline.progress import ProgressMeter
from cg_pipeline.records import content_id
from cg_pipeline.specs import Sae, SaeTraining

_SHARD_TOKENS = 50_000
"""Of a shard, at most: no larger than what is held out, so that not everything is."""
_READ_TOKENS = {"cuda": 16_384}
_FEW_READ_TOKENS = 2048
"""Padded tokens of a forward pass on anything but a GPU of that table."""

Report = Callable[[str], None]


@dataclass(frozen=True)
class HeldOut:
    """What is only measured on."""

    sequences: list[TokenSequence]
    states: Float[Tensor, "n_tokens d_model"]


@dataclass(frozen=True)
class TrainingText:
    """What a run reads."""

    source: BatchSource
    held_out: HeldOut
    identity: str
    """Of the text as it is read: another one is another run."""


def prepare_text(
    sae: Sae,
    training: SaeTraining,
    loaded: LoadedModel,
    documents: Documents,
    prompts: Sequence[str],
    *,
    text_id: str,
    work_dir: Path,
    report: Report,
) -> TrainingText:
    """Held-out states, and the source of batches to train on; says first what the run will take.

    Args:
        sae: what is trained.
        training: its settings.
        loaded: the model that reads.
        documents: the text.
        prompts: chat prompts to which the model samples answers; both are read.
        text_id: what tells the text from others.
        work_dir: transcripts and shards.
        report: told sentences for a log or a terminal.
    """
    report(f"sampling answers to {len(prompts):,} prompts, unless that was done before")
    pairs = sample_transcripts(loaded, prompts, work_dir / "transcripts.jsonl", training, report)
    chats = [transcript_sequence(loaded, *pair, training.context_tokens) for pair in pairs]
    prepare = _streamed if training.buffer_tokens else _from_disk
    source, held_out, identity = prepare(sae, training, loaded, documents, chats, work_dir, report)
    return TrainingText(source, held_out, content_id(text_id, pairs, identity))


def read_tokens(loaded: LoadedModel) -> int:
    """Padded tokens that are read at once."""
    return _READ_TOKENS.get(loaded.device.type, _FEW_READ_TOKENS)


def _streamed(
    sae: Sae,
    training: SaeTraining,
    loaded: LoadedModel,
    documents: Documents,
    chats: Sequence[TokenSequence],
    work_dir: Path,
    report: Report,
) -> tuple[BatchSource, HeldOut, str]:
    stream = TokenStream(loaded, documents, chats, training)
    sequences = stream.hold_out(training.held_out_tokens)
    n_read = training.n_tokens * training.n_epochs + training.held_out_tokens
    at_once = read_tokens(loaded)
    report(str(estimate(sae, training, loaded, sequences, n_read=n_read, batch_tokens=at_once)))
    dtype = torch.bfloat16 if loaded.module.dtype == torch.bfloat16 else torch.float16

    def read(some: Sequence[TokenSequence]) -> Iterator[Float[Tensor, "n_tokens d_model"]]:
        return iter_states(loaded, sae.hookpoint, some, batch_tokens=at_once, dtype=dtype)

    states = torch.cat(list(read(sequences)))
    check_finite(states)
    buffer = MixingBuffer(training.buffer_tokens, loaded.d_model, dtype)
    return StreamedBatches(stream, read, buffer, training), HeldOut(sequences, states), ""


def _from_disk(
    sae: Sae,
    training: SaeTraining,
    loaded: LoadedModel,
    documents: Documents,
    chats: Sequence[TokenSequence],
    work_dir: Path,
    report: Report,
) -> tuple[BatchSource, HeldOut, str]:
    """The passages' last shards are held out; transcripts are trained on."""
    sequences = plan_passages(loaded, chain.from_iterable(documents(0)), training)
    n_read = sum(each.n_counted for each in chain(sequences, chats))
    shard_tokens = min(_SHARD_TOKENS, training.held_out_tokens)
    at_once = read_tokens(loaded)
    report(str(estimate(sae, training, loaded, sequences, n_read=n_read, batch_tokens=at_once)))

    def shards(name: str, some: Sequence[TokenSequence]) -> list[Path]:
        n_tokens = sum(each.n_counted for each in some)
        with ProgressMeter(n_tokens, lambda at: report(str(at)), unit="token") as meter:
            sizes = {"shard_tokens": shard_tokens, "batch_tokens": at_once}
            return harvest(loaded, sae.hookpoint, some, work_dir / name, advance=meter.advance, **sizes)

    read, said = shards("passages", sequences), shards("transcripts", chats)
    n_held_out = math.ceil(training.held_out_tokens / shard_tokens)
    groups = list(group_sequences(sequences, shard_tokens))[-n_held_out:]
    states = torch.cat([load_shard(path) for path in read[-n_held_out:]])
    trained_on = said + read[:-n_held_out]
    notes = [path.with_suffix(".json").read_text(encoding="utf-8") for path in trained_on]
    held_out = HeldOut(list(chain.from_iterable(groups)), states)
    return ShardBatches(trained_on, training), held_out, content_id(notes)
