"""Compute a set of shards, or what is left of it after an interruption."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from cg_pipeline.store.shards import ShardSet

T = TypeVar("T")


def blocks_of(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in blocks of `size`, the last one possibly shorter; one empty block when there are none."""
    return [items[start : start + size] for start in range(0, max(len(items), 1), size)]


def fill(
    shards: ShardSet,
    blocks: Sequence[Sequence[T]],
    save: Callable[[int, Sequence[T]], object],
    metadata: Mapping[str, Any],
) -> int:
    """Save every block whose shard is absent or damaged, complete the set; returns how many were saved.

    A second process that wants the same set waits here and then finds nothing left to do.
    """
    with shards.lock():
        shards.verify(heal=True)
        missing = shards.missing()
        for index in missing:
            save(index, blocks[index])
        if not shards.is_complete():
            shards.commit(metadata)
        return len(missing)
