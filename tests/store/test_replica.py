import os
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from cg_pipeline.store import connections
from cg_pipeline.store.replica import is_current, wal
from cg_pipeline.store.warehouse import Warehouse
from tests.store.toys import MADE, METRICS, cell, frame

COUNT = "SELECT count(*) AS n FROM metrics"


def put(warehouse: Warehouse, model: str) -> None:
    warehouse.replace(METRICS, cell(model, "b"), frame(model, "b"), MADE)


def count(warehouse: Warehouse) -> int:
    return warehouse.read_published(COUNT)["n"][0].as_py()


def test_every_write_is_published(warehouse: Warehouse) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"warehouse\.duckdb does not exist; expected a published warehouse"
    ):
        warehouse.read_published("SELECT 1")
    put(warehouse, "m")
    assert count(warehouse) == 2
    assert is_current(warehouse.layout)
    assert warehouse.publish() is False


def test_a_replica_that_rots_is_replaced(warehouse: Warehouse) -> None:
    put(warehouse, "m")
    published = warehouse.layout.published
    good, times = published.read_bytes(), published.stat()
    content = bytearray(good)
    content[len(content) // 2] ^= 1
    published.chmod(0o644)
    published.write_bytes(content)
    os.utime(published, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert warehouse.publish() is True
    assert published.read_bytes() == good


def test_a_live_file_that_is_gone_is_named(warehouse: Warehouse) -> None:
    put(warehouse, "m")
    warehouse.layout.live.unlink()
    with pytest.raises(ValueError, match=r"live\.duckdb is missing, but there is .*; expected both"):
        warehouse.publish()


def test_one_who_keeps_the_replica_open_hinders_nobody_and_keeps_his_version(warehouse: Warehouse) -> None:
    put(warehouse, "m1")
    with duckdb.connect(warehouse.layout.published, read_only=True) as outside:
        put(warehouse, "m2")
        assert outside.execute(COUNT).fetchall() == [(2,)]
        assert count(warehouse) == 4  # in this process, where the old version is open
    with duckdb.connect(warehouse.layout.published, read_only=True) as outside:
        assert outside.execute(COUNT).fetchall() == [(4,)]


def test_a_crash_between_commit_and_publication_is_made_good(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(warehouse, "m1")

    def crash(_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(connections.replica, "copy_live", crash)
        with pytest.raises(OSError, match="no space left"):
            put(warehouse, "m2")
    assert count(warehouse) == 2
    assert not is_current(warehouse.layout)
    assert warehouse.publish() is True
    assert count(warehouse) == 4
    assert warehouse.publish() is False


def test_a_log_left_by_a_crash_is_published_too(warehouse: Warehouse) -> None:
    put(warehouse, "m1")
    live = warehouse.layout.live
    with duckdb.connect(live) as crashing:
        crashing.execute("SET wal_autocheckpoint = '1GB'; INSERT INTO metrics BY NAME SELECT 'x' AS model")
        log, data = wal(warehouse.layout).read_bytes(), live.read_bytes()
    live.write_bytes(data)  # as the disk was before the connection was closed in good order
    wal(warehouse.layout).write_bytes(log)
    assert not is_current(warehouse.layout)
    assert warehouse.publish() is True
    assert count(warehouse) == 3
    assert not wal(warehouse.layout).exists()


def test_there_is_nothing_to_publish_before_the_first_write(warehouse: Warehouse) -> None:
    assert warehouse.publish() is False


def test_a_log_beside_the_replica_is_not_replayed_into_the_next_one(warehouse: Warehouse) -> None:
    put(warehouse, "m1")
    stray = warehouse.layout.published.with_name("warehouse.duckdb.wal")
    stray.write_bytes(b"somebody opened the replica for writing")
    put(warehouse, "m2")
    assert not stray.exists()
    assert count(warehouse) == 4


def test_the_replica_is_read_only_by_its_mode(warehouse: Warehouse) -> None:
    put(warehouse, "m1")
    put(warehouse, "m2")
    assert warehouse.layout.published.stat().st_mode & 0o222 == 0


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO metrics BY NAME SELECT 'x' AS model",
        "DROP TABLE metrics",
        "SELECT * FROM read_csv('/etc/passwd')",
        "COPY metrics TO '/tmp/leak.csv'",
        "ATTACH '/tmp/other.duckdb'",
        "SET enable_external_access = true",
        "SELECT * FROM secret",
    ],
)
def test_a_query_reads_the_replica_and_nothing_else(warehouse: Warehouse, sql: str) -> None:
    secret = frame("m", "b")  # a Python variable is no table
    put(warehouse, "m")
    with pytest.raises(duckdb.Error):
        warehouse.read_published(sql)
    assert count(warehouse) == len(secret)


def test_parameters_are_values(warehouse: Warehouse) -> None:
    put(warehouse, "o'brien")
    by_place = warehouse.read_published(f"{COUNT} WHERE model = ?", ["o'brien"])
    by_name = warehouse.read_published(f"{COUNT} WHERE model = $model", {"model": "x' OR 1=1 --"})
    assert (by_place["n"][0].as_py(), by_name["n"][0].as_py()) == (2, 0)


def test_threads_may_read_and_write_at_once(warehouse: Warehouse) -> None:
    put(warehouse, "m0")

    def work(number: int) -> int:
        if number % 2:
            put(warehouse, f"m{number}")
        return len(warehouse.load(METRICS, [cell("m0", "b")])) + count(warehouse)

    with ThreadPoolExecutor(4) as pool:
        assert min(pool.map(work, range(8))) >= 4
    assert count(warehouse) == 10
