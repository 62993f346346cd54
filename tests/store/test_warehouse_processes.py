"""Many processes at once, and processes that die in the middle."""

import os
import random
import signal
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import sleep

import duckdb
import pandas as pd
import pytest

from cg_pipeline.store.layout import Layout
from cg_pipeline.store.warehouse import Warehouse
from tests.store.workers import (
    LEDGER,
    N_ROWS,
    SUMMARY,
    processes,
    read_live,
    read_replica,
    wait_for,
    whole,
    write_for_ever,
    write_generation,
    write_partitions,
)

pytestmark = pytest.mark.integration


def test_writers_and_readers_at_once_fail_never_and_see_whole_partitions(tmp_path: Path) -> None:
    for benchmark in ("b0", "b1", "b2"):
        write_generation(tmp_path, benchmark, 0)
    with ProcessPoolExecutor(7, mp_context=processes) as pool:
        with duckdb.connect(Layout(tmp_path).published, read_only=True) as outside:
            readers = [pool.submit(read, tmp_path) for read in (read_live, read_live, read_replica)]
            for writer in [pool.submit(write_partitions, tmp_path, number, 1) for number in range(1, 5)]:
                writer.result()
            assert outside.execute(SUMMARY).fetchall() == [(f"b{i}", 0, 0, N_ROWS) for i in range(3)]
        (tmp_path / "stop").touch()
        assert min(reader.result() for reader in readers) >= 1
    with duckdb.connect(Layout(tmp_path).published, read_only=True) as outside:
        final = outside.execute(SUMMARY).fetchall()
    assert whole(final)
    assert {low for _, low, _, _ in final} <= {100, 200, 300, 400}


def test_a_killed_writer_leaves_the_old_rows_or_the_new_ones(tmp_path: Path) -> None:
    chance = random.Random(7)
    warehouse = Warehouse(Layout(tmp_path), lock_timeout_s=10.0)
    write_generation(tmp_path, "b0", 0)
    for attempt in range(1, 11):
        (tmp_path / "written").unlink(missing_ok=True)
        writer = processes.Process(target=write_for_ever, args=(tmp_path, 1000 * attempt), daemon=True)
        writer.start()
        wait_for(tmp_path / "written")
        sleep(chance.uniform(0, 0.1))
        os.kill(writer.pid or 0, signal.SIGKILL)
        writer.join()
        check_published(warehouse)
        rows = pd.DataFrame(warehouse.load(LEDGER, [{"benchmark": "b0"}]))
        [generation] = rows["generation"].unique()
        assert len(rows) == N_ROWS
        assert generation >= 1000 * attempt
        assert warehouse.fingerprint_of("ledger", {"benchmark": "b0"}) == str(generation)
        warehouse.publish()
        assert check_published(warehouse) == generation
    assert len(list(tmp_path.glob(".tmp-*"))) == 0


def check_published(warehouse: Warehouse) -> int:
    with duckdb.connect(warehouse.layout.published, read_only=True) as outside:
        found = outside.execute(SUMMARY).fetchall()
    assert whole(found)
    return found[0][1]
