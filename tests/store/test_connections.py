from pathlib import Path

import duckdb
import pytest

from cg_pipeline.store.layout import Layout
from cg_pipeline.store.locks import hold
from cg_pipeline.store.warehouse import Warehouse
from tests.store.toys import MADE, METRICS, cell, frame
from tests.store.workers import open_outside, processes, wait_for

pytestmark = pytest.mark.integration


def put(warehouse: Warehouse) -> None:
    warehouse.replace(METRICS, cell("m", "b"), frame("m", "b"), MADE)


@pytest.fixture
def impatient(tmp_path: Path) -> Warehouse:
    warehouse = Warehouse(Layout(tmp_path), lock_timeout_s=0.5)
    put(warehouse)
    return warehouse


def test_a_client_that_holds_the_live_file_is_named(impatient: Warehouse) -> None:
    live = impatient.layout.live
    other = processes.Process(target=open_outside, args=(live, 30.0), daemon=True)
    other.start()
    wait_for(live.with_suffix(f".{other.pid}"))
    for use in (lambda: put(impatient), lambda: impatient.load(METRICS)):
        with pytest.raises(TimeoutError) as error:
            use()
        assert f"{live}, which another client holds open" in str(error.value)
        assert f"PID {other.pid}" in str(error.value)
        assert f"to read, open {impatient.layout.published} instead." in str(error.value)
    other.kill()
    other.join()
    put(impatient)


def test_a_client_that_lets_go_in_time_is_waited_for(tmp_path: Path) -> None:
    warehouse = Warehouse(Layout(tmp_path), lock_timeout_s=10.0)
    put(warehouse)
    live = warehouse.layout.live
    other = processes.Process(target=open_outside, args=(live, 0.3), daemon=True)
    other.start()
    wait_for(live.with_suffix(f".{other.pid}"))
    put(warehouse)
    other.join()


def test_a_connection_of_this_very_process_is_waited_for_too(impatient: Warehouse) -> None:
    open_elsewhere = duckdb.connect(impatient.layout.live, read_only=True)
    with open_elsewhere, pytest.raises(TimeoutError, match="which another client holds open"):
        put(impatient)
    put(impatient)


def test_a_file_that_is_no_warehouse_is_reported_at_once(tmp_path: Path) -> None:
    warehouse = Warehouse(Layout(tmp_path), lock_timeout_s=60.0)
    warehouse.layout.live.parent.mkdir()
    warehouse.layout.live.write_bytes(b"not a database" * 1000)
    with pytest.raises(
        ValueError, match=r"cannot be read .*not a valid DuckDB database.*; expected the warehouse"
    ):
        warehouse.load(METRICS)


def test_a_damaged_file_is_not_published_over_a_good_replica(tmp_path: Path) -> None:
    warehouse = Warehouse(Layout(tmp_path))
    put(warehouse)
    live, published = warehouse.layout.live, warehouse.layout.published
    good, content = published.read_bytes(), bytearray(live.read_bytes())
    for at in range(len(content) // 2, len(content), 997):
        content[at] ^= 255
    live.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"live\.duckdb cannot be read .*; expected the warehouse\. Put a writable copy"
    ):
        warehouse.publish()
    assert published.read_bytes() == good


def test_writers_take_the_lock_for_themselves_and_readers_share_it(impatient: Warehouse) -> None:
    with hold(impatient.layout.lock, exclusive=False, timeout_s=1.0):
        assert len(impatient.load(METRICS)) == 2
        for use in (lambda: put(impatient), impatient.publish):
            with pytest.raises(TimeoutError, match="held by process"):
                use()
    with hold(impatient.layout.lock, exclusive=True, timeout_s=1.0):
        with pytest.raises(TimeoutError, match="held by process"):
            impatient.load(METRICS)
        assert impatient.read_published("SELECT count(*) AS n FROM metrics").to_pylist() == [{"n": 2}]
