"""What the processes of the tests do; they are forked from a server that has imported it all.

Every write is a generation: all rows of a partition carry its number, and so does the
fingerprint, so that a mixture of two writes shows.
"""

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import duckdb
import numpy as np
import pandas as pd

from cg_pipeline.store.layout import Layout
from cg_pipeline.store.locks import hold
from cg_pipeline.store.materialisations import Provenance
from cg_pipeline.store.shards import ShardStore
from cg_pipeline.store.tables import Column, Table
from cg_pipeline.store.warehouse import Warehouse

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["pytest", __name__])

LEDGER = Table(
    name="ledger",
    columns=(
        Column(name="benchmark", type="VARCHAR", description="Partition."),
        Column(name="generation", type="BIGINT", description="Number of the write."),
        Column(name="text", type="VARCHAR", description="Ballast."),
    ),
    keys=("benchmark",),
)
N_ROWS = 400


def write_generation(directory: Path, benchmark: str, generation: int) -> None:
    rows = pd.DataFrame(
        {"benchmark": benchmark, "generation": generation, "text": [f"row {i}" for i in range(N_ROWS)]}
    )
    made = Provenance(fingerprint=str(generation))
    assert Warehouse(Layout(directory), 60.0).replace(LEDGER, {"benchmark": benchmark}, rows, made) == N_ROWS


def write_partitions(directory: Path, writer: int, rounds: int) -> None:
    for generation in range(rounds):
        for benchmark in ("b0", "b1", "b2"):
            write_generation(directory, benchmark, 100 * writer + generation)


def write_for_ever(directory: Path, first: int) -> None:
    for generation in range(first, first + 10_000):
        write_generation(directory, "b0", generation)
        (directory / "written").touch()


def whole(generations: list[tuple[str, int, int, int]]) -> bool:
    """Whether each partition is one whole write: (benchmark, lowest and highest generation, rows)."""
    return all(low == high and n == N_ROWS for _, low, high, n in generations)


SUMMARY = "SELECT benchmark, min(generation), max(generation), count(*) FROM ledger GROUP BY 1 ORDER BY 1"


def read_live(directory: Path) -> int:
    """Load partitions until told to stop; returns how often."""
    warehouse = Warehouse(Layout(directory), 60.0)
    n_reads = 0
    for n_reads in _until_stopped(directory):  # noqa: B007
        rows = pd.DataFrame(warehouse.load(LEDGER, [{"benchmark": "b0"}, {"benchmark": "b2"}]))
        parts = rows.groupby("benchmark")["generation"].agg(["min", "max", "count"]).reset_index()
        assert whole(list(parts.itertuples(index=False, name=None))), parts
        assert len(parts) == 2
    return n_reads


def read_replica(directory: Path) -> int:
    """Open the published file as an outsider would, again and again; returns how often."""
    n_reads = 0
    for n_reads in _until_stopped(directory):  # noqa: B007
        with duckdb.connect(Layout(directory).published, read_only=True) as outside:
            assert whole(outside.execute(SUMMARY).fetchall())
    return n_reads


def _until_stopped(directory: Path) -> Iterator[int]:
    n = 0
    while not (directory / "stop").exists():
        n += 1
        yield n
        sleep(0.02)


def hold_lock(path: Path, exclusive: bool, seconds: float) -> None:
    with hold(path, exclusive=exclusive, timeout_s=10.0):
        path.with_suffix(f".{os.getpid()}").touch()
        sleep(seconds)


def share_lock_again_and_again(path: Path, seconds: float) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        with hold(path, exclusive=False, timeout_s=10.0):
            path.with_suffix(f".{os.getpid()}").touch()
            sleep(0.02)


def open_outside(path: Path, seconds: float) -> None:
    with duckdb.connect(path):
        path.with_suffix(f".{os.getpid()}").touch()
        sleep(seconds)


def compute_shards(root: Path, log: Path) -> None:
    """Compute what is missing of a set, one line in the log for each shard computed."""
    shards = ShardStore(root).shard_set("toy", fingerprint="f", n_shards=4)
    with shards.lock(timeout_s=30.0):
        for index in shards.missing():
            sleep(0.05)
            shards.write(index, {"x": np.full(3, index)}, n_rows=3)
            with log.open("a") as lines:
                lines.write(f"{index}\n")
        if not shards.is_complete():
            shards.commit({})


def write_shards_for_ever(root: Path) -> None:
    shards = ShardStore(root).shard_set("toy", fingerprint="f", n_shards=4)
    generation = 0
    while True:
        generation += 1
        for index in range(4):
            shards.write(index, {"x": np.full(200_000, generation)})
            (root / "written").touch()
        shards.commit({"generation": generation})


def wait_for(path: Path, timeout_s: float = 20.0) -> None:
    end = monotonic() + timeout_s
    while not path.exists():
        assert monotonic() < end, f"{path} did not appear"
        sleep(0.005)
