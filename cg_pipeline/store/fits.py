"""How well a reader fits, as a shard: the figures, and what was counted by latent."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from cg_pipeline.health_records import FitArrays, ReaderFit
from cg_pipeline.store.shards import ShardSet

_FIGURES = "figures"


def save_fit(shards: ShardSet, fit: ReaderFit, arrays: FitArrays) -> Path:
    """Keep what one sample of texts gave; models with the same reader and sample share it."""
    text = json.dumps(asdict(fit)).encode("utf-8")
    counted = {field.name: getattr(arrays, field.name) for field in fields(FitArrays)}
    return shards.write(0, {_FIGURES: np.frombuffer(text, dtype=np.uint8), **counted}, n_rows=fit.n_examples)


def load_fit(directory: Path) -> tuple[ReaderFit, FitArrays]:
    """Figures and counts of a complete set, checked.

    Raises:
        FileNotFoundError: the set is not complete.
        ValueError: the shard is damaged.
    """
    arrays = ShardSet.open(directory).read(0)
    figures = json.loads(arrays.pop(_FIGURES).tobytes())
    lists: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in figures.items()
    }
    return ReaderFit(**lists), FitArrays(**arrays)
