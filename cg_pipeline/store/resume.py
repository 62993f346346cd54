"""Compute a set of shards, or what is left of it after an interruption, or after damage."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cg_pipeline.store.shards import ShardSet

T = TypeVar("T")


@dataclass(frozen=True)
class Filled:
    """What it took to complete a shard set."""

    n_computed: int
    """Shards computed now."""
    n_reused: int
    """Shards found whole from before."""
    seconds: float
    """Wall-clock time, waiting for another process included."""

    def rate(self, amount: int) -> float | None:
        """An amount per second; None unless the whole set was computed now."""
        return amount / self.seconds if self.seconds and not self.n_reused else None


def blocks_of(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in blocks of `size`, the last one possibly shorter; one empty block when there are none."""
    return [items[start : start + size] for start in range(0, max(len(items), 1), size)]


def fill(
    shards: ShardSet,
    blocks: Sequence[Sequence[T]],
    save: Callable[[int, Sequence[T]], object],
    metadata: Mapping[str, Any],
    expect: Callable[[int], object] = lambda _n_items: None,
) -> Filled:
    """Save every block whose shard is absent or damaged, and complete the set.

    `expect` is told of how many items there are to compute, before the first.

    A second process that wants the same set waits here and then finds nothing left to do.
    """
    started = time.monotonic()
    with shards.lock():
        shards.verify(heal=True)
        missing = shards.missing()
        expect(sum(len(blocks[index]) for index in missing))
        for index in missing:
            save(index, blocks[index])
        if not shards.is_complete():
            shards.commit(metadata)
    return Filled(len(missing), len(blocks) - len(missing), time.monotonic() - started)


def read_or_heal(directory: Path, read: Callable[[], T]) -> T:
    """What `read` gives of a complete set; of a damaged one what is damaged is removed, to be computed again.

    Raises:
        ValueError: it was damaged.
        FileNotFoundError: the set is not complete.
    """
    try:
        return read()
    except ValueError as error:
        shards = ShardSet.open(directory)
        with shards.lock():  # whoever is computing it just now mends it himself
            problems = shards.verify(heal=True)
        raise ValueError(
            f"{directory} was damaged ({'; '.join(problems) or error}); expected whole shards. "
            "What was damaged is removed: run again, and only that is computed."
        ) from error
