"""Hidden states of many sequences on disk, in shards that survive an interruption.

A shard is a float16 safetensors file with a JSON note beside it, written last: the hash of
the file, and the identity of what was read (model, hookpoint, token ids). A shard whose
note fits is skipped when the harvest is run again; any other is read anew.

Why float16: the hidden states of middle layers stay within its range, and its rounding is
a thousand times smaller than what an SAE leaves unexplained.
"""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from safetensors.torch import load_file, save_file
from torch import Tensor

from cg_pipeline.inference.hooks import read_hidden_states
from cg_pipeline.inference.models import LoadedModel
from cg_pipeline.inference.reading_plan import TokenSequence
from cg_pipeline.progress import Advance, unwatched

_log = logging.getLogger(__name__)


def harvest(
    loaded: LoadedModel,
    hookpoint: str,
    sequences: Sequence[TokenSequence],
    folder: Path,
    *,
    shard_tokens: int = 50_000,
    batch_tokens: int = 2048,
    advance: Advance = unwatched,
) -> list[Path]:
    """Shard files with the hidden states of every counted token, in the order of the sequences' shards.

    `advance` is told of each shard's counted tokens, once as things done and once as tokens read; of a
    shard that was there before as things done only.

    Raises:
        ValueError: a hidden state is not a finite float16 number.
    """
    folder.mkdir(parents=True, exist_ok=True)
    groups = list(group_sequences(sequences, shard_tokens))
    paths = []
    for index, group in enumerate(groups):
        path = folder / f"shard_{index:04d}.safetensors"
        identity = _identity(loaded, hookpoint, group)
        n_tokens, known = sum(each.n_counted for each in group), is_valid_shard(path, identity)
        if not known:
            _write_shard(path, identity, read_states(loaded, hookpoint, group, batch_tokens=batch_tokens))
            _log.info("harvested shard %d of %d", index + 1, len(groups))
        advance(n_tokens, 0 if known else n_tokens)
        paths.append(path)
    return paths


def read_states(
    loaded: LoadedModel, hookpoint: str, sequences: Sequence[TokenSequence], *, batch_tokens: int = 2048
) -> Float[Tensor, "n_tokens d_model"]:
    """Hidden states of the counted tokens in float16, sequences of like length read together."""
    return torch.cat(list(iter_states(loaded, hookpoint, sequences, batch_tokens=batch_tokens)))


def iter_states(
    loaded: LoadedModel,
    hookpoint: str,
    sequences: Sequence[TokenSequence],
    *,
    batch_tokens: int = 2048,
    dtype: torch.dtype = torch.float16,
) -> Iterator[Float[Tensor, "n_tokens d_model"]]:
    """The same batch by batch, in main memory: only one batch's states are held at a time."""
    order = sorted(sequences, key=lambda sequence: len(sequence.input_ids))
    for batch in length_batches(order, batch_tokens):
        yield _read_batch(loaded, hookpoint, batch).to("cpu", dtype)


def load_shard(path: Path) -> Float[Tensor, "n_tokens d_model"]:
    """The states of one shard.

    Raises:
        ValueError: the file does not match its note.
    """
    note = _read_note(path)
    if note is None or note["sha256"] != _file_hash(path):
        note_name = _note_path(path).name
        raise ValueError(f"Shard {path} does not match its note {note_name}; delete both and harvest again.")
    return load_file(path)["states"]


def is_valid_shard(path: Path, identity: str) -> bool:
    """Whether the file is whole and holds what `identity` names."""
    note = _read_note(path)
    return note is not None and note["identity"] == identity and note["sha256"] == _file_hash(path)


def group_sequences(sequences: Sequence[TokenSequence], shard_tokens: int) -> Iterator[list[TokenSequence]]:
    """Runs of sequences with at least `shard_tokens` counted tokens; the last may have fewer."""
    group: list[TokenSequence] = []
    total = 0
    for sequence in sequences:
        group.append(sequence)
        total += sequence.n_counted
        if total >= shard_tokens:
            yield group
            group, total = [], 0
    if total:
        yield group


def length_batches(order: Sequence[TokenSequence], batch_tokens: int) -> Iterator[list[TokenSequence]]:
    """Runs of sequences, given by growing length, of at most `batch_tokens` padded tokens, or of one."""
    batch: list[TokenSequence] = []
    for sequence in order:
        if batch and (len(batch) + 1) * len(sequence.input_ids) > batch_tokens:
            yield batch
            batch = []
        batch.append(sequence)
    if batch:
        yield batch


def _read_batch(
    loaded: LoadedModel, hookpoint: str, batch: Sequence[TokenSequence]
) -> Float[Tensor, "n_tokens d_model"]:
    ids, mask, counts = (each.to(loaded.device) for each in padded(batch))
    return read_hidden_states(loaded.module, hookpoint, ids, mask)[counts]


def padded(
    batch: Sequence[TokenSequence],
) -> tuple[Int[Tensor, "batch seq"], Int[Tensor, "batch seq"], Bool[Tensor, "batch seq"]]:
    """Token ids, which of them are no padding, and which of them count."""
    width = max(len(sequence.input_ids) for sequence in batch)
    ids, mask, counts = (np.zeros((len(batch), width), kind) for kind in (np.int64, np.int64, bool))
    for row, sequence in enumerate(batch):
        length = len(sequence.input_ids)
        ids[row, :length], mask[row, :length], counts[row, :length] = sequence.input_ids, 1, sequence.counts
    return torch.from_numpy(ids), torch.from_numpy(mask), torch.from_numpy(counts)


def _write_shard(path: Path, identity: str, states: Float[Tensor, "n_tokens d_model"]) -> None:
    if not torch.isfinite(states).all():
        raise ValueError(
            f"{path.name}: a hidden state is not a finite float16 number; choose another hookpoint."
        )
    _note_path(path).unlink(missing_ok=True)
    partial = path.with_suffix(".partial")
    save_file({"states": states.contiguous()}, partial)
    note = {"identity": identity, "sha256": _file_hash(partial), "n_tokens": len(states)}
    partial.replace(path)
    partial.write_text(json.dumps(note), encoding="utf-8")
    partial.replace(_note_path(path))


def _identity(loaded: LoadedModel, hookpoint: str, group: Sequence[TokenSequence]) -> str:
    digest = hashlib.sha256(f"{loaded.spec.weights!r} {hookpoint} {loaded.module.dtype}".encode())
    for sequence in group:
        digest.update(sequence.input_ids.tobytes())
        digest.update(sequence.counts.tobytes())
    return digest.hexdigest()


def _note_path(path: Path) -> Path:
    return path.with_suffix(".json")


def _read_note(path: Path) -> dict[str, str] | None:
    """What is beside a shard; None where there is nothing, or nothing that could be a note of it."""
    try:
        note = json.loads(_note_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    sound = isinstance(note, dict) and note.keys() >= {"identity", "sha256"} and path.is_file()
    return note if sound else None


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
