from pathlib import Path

import numpy as np
import pytest

from cg_pipeline.store.resume import blocks_of, fill
from cg_pipeline.store.shards import ShardSet


class Computer:
    """Saves blocks of numbers as shards, remembers which, and breaks down at one if told to."""

    def __init__(self, shards: ShardSet, breaks_at: int = -1) -> None:
        self.shards, self.breaks_at, self.computed = shards, breaks_at, []

    def save(self, index: int, block: list[int]) -> None:
        if index == self.breaks_at:
            raise MemoryError("out of memory")
        self.shards.write(index, {"x": np.array(block)}, n_rows=len(block))
        self.computed.append(index)


def test_blocks_hold_every_item_once_and_in_order() -> None:
    assert blocks_of([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
    assert blocks_of([1, 2], 2) == [[1, 2]]
    assert blocks_of([], 2) == [[]]


def test_an_interrupted_set_is_taken_up_where_it_stopped(tmp_path: Path) -> None:
    blocks = blocks_of(list(range(10)), 3)
    shards = ShardSet(tmp_path / "f", len(blocks))
    first = Computer(shards, breaks_at=2)
    with pytest.raises(MemoryError, match="out of memory"):
        fill(shards, blocks, first.save, {})
    second, expected = Computer(shards), list[int]()
    filled = fill(shards, blocks, second.save, {"who": "second"}, expected.append)
    assert expected == [4]
    assert (filled.n_computed, filled.n_reused, filled.rate(10)) == (2, 2, None)
    assert (first.computed, second.computed) == ([0, 1], [2, 3])
    assert np.concatenate([shards.read(index)["x"] for index in range(4)]).tolist() == list(range(10))
    assert (shards.manifest() or {})["metadata"] == {"who": "second"}
    assert fill(shards, blocks, Computer(shards).save, {"who": "third"}).n_computed == 0
    assert (shards.manifest() or {})["metadata"] == {"who": "second"}


def test_a_damaged_shard_of_a_complete_set_is_computed_again(tmp_path: Path) -> None:
    blocks = blocks_of(list(range(6)), 3)
    shards = ShardSet(tmp_path / "f", 2)
    fill(shards, blocks, Computer(shards).save, {})
    [path] = shards.directory.glob("shard-00001-*")
    path.write_bytes(path.read_bytes()[:-8] + b"\xff" * 8)
    healer = Computer(shards)
    assert fill(shards, blocks, healer.save, {}).n_computed == 1
    assert healer.computed == [1]
    assert shards.verify() == []
