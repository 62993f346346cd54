"""The ledger of what was read token by token: nothing is read twice, an interruption costs one shard."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cg_pipeline.evidence_records import PairFirings
from cg_pipeline.store.firings import FiringLedger
from cg_pipeline.store.shards import ShardStore
from tests.evidence.cases import pairs, plain

TEXTS = {name: [{1: 1.0, 2: 2.0}, {2: float(place + 1)}] for place, name in enumerate("abcde")}


class Reader:
    """Reads what it is asked to, remembers what that was, and breaks down at an example if told to."""

    def __init__(self, breaks_at: str = "") -> None:
        self.breaks_at = breaks_at
        self.asked: list[tuple[str, int]] = []

    def __call__(self, some: Mapping[str, Sequence[int]]) -> PairFirings:
        if self.breaks_at in some:
            raise MemoryError("out of memory")
        self.asked += [(name, concept) for name, ids in some.items() for concept in ids]
        return pairs({name: TEXTS[name] for name in some}, some)


@pytest.fixture
def ledger(tmp_path: Path) -> FiringLedger:
    return FiringLedger(ShardStore(tmp_path), "sae", "quiz/1", "f")


def test_what_was_read_is_known_and_never_read_again(ledger: FiringLedger):
    reader = Reader()
    first = ledger.complete({"a": [1], "b": [1, 2], "c": [2]}, 2, reader)
    assert (first.n_computed, first.n_reused) == (2, 0)
    assert plain(ledger.known()) == plain(
        pairs({n: TEXTS[n] for n in "abc"}, {"a": [1], "b": [1, 2], "c": [2]})
    )
    again = ledger.complete({"b": [2], "a": [1]}, 2, reader)
    assert (again.n_computed, again.n_reused) == (0, 0)
    more = ledger.complete({"a": [1, 2], "b": [1], "d": [1]}, 2, reader)
    assert more.n_computed == 1
    assert reader.asked[4:] == [("a", 2), ("d", 1)]
    assert set(plain(ledger.known())) == set(reader.asked)


def test_an_interruption_costs_one_shard(ledger: FiringLedger):
    wanted = {name: [1, 2] for name in TEXTS}
    with pytest.raises(MemoryError):
        ledger.complete(wanted, 2, Reader(breaks_at="c"))
    second = Reader()
    ledger.complete(wanted, 2, second)
    assert {name for name, _ in second.asked} == set("cde")
    assert len(plain(ledger.known())) == 10


def test_after_an_interruption_other_wishes_still_find_what_was_read(ledger: FiringLedger):
    with pytest.raises(MemoryError):
        ledger.complete({name: [1] for name in TEXTS}, 2, Reader(breaks_at="c"))
    second = Reader()
    ledger.complete({"a": [1], "b": [1], "e": [2]}, 2, second)
    assert second.asked == [("e", 2)]


def test_what_is_damaged_is_read_again(ledger: FiringLedger):
    ledger.complete({name: [1] for name in TEXTS}, 2, Reader())
    path = next(ledger.directory.glob("*/shard-00001-*"))
    path.write_bytes(path.read_bytes()[:-4] + b"\xff\xff\xff\xff")
    second = Reader()
    ledger.complete({name: [1] for name in TEXTS}, 2, second)
    assert second.asked == [("c", 1), ("d", 1)]
    assert len(plain(ledger.known())) == 5


def test_another_reader_has_another_ledger(ledger: FiringLedger):
    ledger.complete({"a": [1]}, 2, Reader())
    assert plain(FiringLedger(ledger.store, "sae", "quiz/1", "other").known()) == {}
