"""A training run put down on disk, and taken up again after the process was killed at any moment.

A checkpoint is a directory: `tensors.safetensors` (weights, the optimiser's moments, counts of firing,
random states, what the mixing buffer holds) and `state.json` (numbers, the text's position, the curve, the
identity of the run, and the hashes of both). It is written under another name, flushed to the disk
and renamed; one whose hash or identity does not fit is passed over. The two newest are kept, so that a
damaged one costs minutes, not the run.

Why not the trainer's own checkpoints: they are pickles, are not written in one piece, and know nothing of
where the text was or what was in the buffer.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

_log = logging.getLogger(__name__)

_TENSORS, _STATE = "tensors.safetensors", "state.json"
_KEPT = 2


@dataclass(frozen=True)
class Checkpoint:
    """What was put down."""

    state: dict[str, Any]
    tensors: dict[str, Tensor]


class Checkpoints:
    """The checkpoints of one run, in a folder of its own: another run neither reads nor drops them."""

    def __init__(self, folder: Path, identity: str) -> None:
        """`identity` tells the run from others: settings, text, model, place."""
        self._all, self._folder, self._identity = folder, folder / identity, identity

    def save(self, step: int, state: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Path:
        """Put a checkpoint down, and drop all but the two newest."""
        partial, final = self._folder / ".partial", self._folder / f"step_{step:09d}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, partial / _TENSORS)
        note = {
            "identity": self._identity,
            "sha256": _file_hash(partial / _TENSORS),
            "state_id": _state_id(state),
            "state": state,
        }
        (partial / _STATE).write_text(json.dumps(note), encoding="utf-8")
        for path in (partial / _TENSORS, partial / _STATE, partial):
            _flush(path)
        shutil.rmtree(final, ignore_errors=True)
        partial.rename(final)
        _flush(self._folder)
        for old in list(self._newest_first())[_KEPT:]:
            shutil.rmtree(old)
        return final

    def load(self) -> Checkpoint | None:
        """The newest whole checkpoint of this run, its tensors in main memory; None if there is none."""
        for path in self._newest_first():
            if found := self._read(path):
                return found
        return None

    def clear(self) -> None:
        """Remove all of them, and those of runs that were begun before and given up."""
        shutil.rmtree(self._all, ignore_errors=True)

    def _newest_first(self) -> Iterator[Path]:
        yield from sorted(self._folder.glob("step_*"), reverse=True)

    def _read(self, path: Path) -> Checkpoint | None:
        try:
            note = json.loads((path / _STATE).read_text(encoding="utf-8"))
            state = note["state"]
            whole = (note["sha256"], note["state_id"]) == (_file_hash(path / _TENSORS), _state_id(state))
            ours = note["identity"] == self._identity
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("checkpoint %s cannot be read (%s); passing over it", path.name, error)
            return None
        if not (whole and ours):
            fault = "is of another run" if whole else "is damaged"
            _log.warning("checkpoint %s %s; passing over it", path.name, fault)
            return None
        return Checkpoint(state, load_file(path / _TENSORS))


def parted(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors of one part of a checkpoint, under names of their own."""
    return {f"{prefix}/{name}": tensor for name, tensor in tensors.items()}


def part(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a part, under their first names."""
    start = f"{prefix}/"
    return {name.removeprefix(start): each for name, each in tensors.items() if name.startswith(start)}


def optimiser_state(optimiser: torch.optim.Optimizer) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Moments of the parameters by `number/name`, and the settings of their groups."""
    found = optimiser.state_dict()
    moments = {f"{at}/{name}": each for at, kept in found["state"].items() for name, each in kept.items()}
    return moments, found["param_groups"]


def restore_optimiser(
    optimiser: torch.optim.Optimizer, moments: Mapping[str, Tensor], groups: list[dict[str, Any]]
) -> None:
    """Put back what `optimiser_state` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in moments.items():
        number, _, name = key.partition("/")
        state.setdefault(int(number), {})[name] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": groups})


def _flush(path: Path) -> None:
    """Have the system write a file or directory to the disk now."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _state_id(state: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
