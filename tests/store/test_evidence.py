from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cg_pipeline.evidence_records import ConceptEvidence
from cg_pipeline.store import evidence as module
from cg_pipeline.store.evidence import StoredShelf, n_evidence_shards, save_evidence
from cg_pipeline.store.shards import ShardStore
from tests.evidence.cases import small_evidence


def same(one: ConceptEvidence, other: ConceptEvidence) -> bool:
    names = ConceptEvidence.__dataclass_fields__
    return all(np.array_equal(getattr(one, n), getattr(other, n), equal_nan=n == "scores") for n in names)


@pytest.fixture(params=[4096, 4, 2])
def shelf(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredShelf:
    monkeypatch.setattr(module, "CONCEPTS_PER_SHARD", request.param)
    directory = save_evidence(ShardStore(tmp_path), "m", "b", "f", small_evidence())
    monkeypatch.undo()
    return StoredShelf(directory)


def test_it_comes_back_whole(shelf: StoredShelf):
    assert same(shelf.whole(), small_evidence())


@pytest.mark.parametrize("wanted", [[0], [7], [0, 7], [3], [], [7, 0, 8, 100]])
def test_a_few_concepts_come_back_as_they_were(shelf: StoredShelf, wanted: list[int]):
    assert same(shelf.of(wanted), small_evidence().of(wanted))


def test_looking_one_up_reads_its_shard_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "CONCEPTS_PER_SHARD", 4)
    directory = save_evidence(ShardStore(tmp_path), "m", "b", "f", small_evidence())
    for path in directory.glob("shard-00001-*"):
        path.write_bytes(b"damaged")
    assert [row.example_id for row in StoredShelf(directory).of([0]).rows()] == ["a", "b"]
    with pytest.raises(
        ValueError, match=r"was damaged .*; expected whole shards\. What was damaged is removed: run again"
    ):
        StoredShelf(directory).of([7])


def test_written_again_it_is_replaced(tmp_path: Path):
    store = ShardStore(tmp_path)
    save_evidence(store, "m", "b", "f", small_evidence())
    other = replace(small_evidence(), saliency=np.ones(4, np.float32))
    assert same(StoredShelf(save_evidence(store, "m", "b", "f", other)).whole(), other)


def test_a_set_that_is_not_complete_is_not_read(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="expected a complete set of shards"):
        StoredShelf(tmp_path).of([0])


def test_shards_cover_the_dictionary():
    assert [n_evidence_shards(n) for n in (0, 1, 4096, 4097, 65536)] == [1, 1, 1, 2, 16]
