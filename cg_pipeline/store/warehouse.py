"""The warehouse: typed tables in one DuckDB file, written a partition at a time by any number of processes.

*Why not Dagster's DuckDB I/O manager:* it pairs columns by position, deletes and inserts
in two transactions, stores 0.5 as 0 in a column that began with integers, accepts rows of
another partition, returns fewer partitions than asked for, and gives up on the file's lock.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cg_pipeline.store import replica
from cg_pipeline.store.decode import from_arrow
from cg_pipeline.store.encode import Rows, to_arrow
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.locks import Deadline, hold
from cg_pipeline.store.materialisations import (
    MATERIALISATIONS,
    Materialisation,
    Provenance,
    describe_partition,
    dimensions_of,
    materialisation_of,
)
from cg_pipeline.store.sql import put_partition, select_partitions, stored_columns
from cg_pipeline.store.tables import Table

Partition = Mapping[str, str]


class Warehouse:
    """Reads and writes partitions of tables; safe between processes and threads."""

    def __init__(self, layout: Layout, lock_timeout_s: float = 600.0) -> None:
        self.layout = layout
        self.lock_timeout_s = lock_timeout_s

    def replace(self, table: Table, partition: Partition, rows: Rows, provenance: Provenance) -> int:
        """Exchange a partition's rows, note what they were made from, publish; returns how many rows there are.

        Rows and note change in one transaction: after any failure the old rows are there.

        Raises:
            ValueError: the rows do not fit the table, or do not belong to the partition.
            TypeError: a value or row has another type than declared.
            TimeoutError: the warehouse was busy for longer than the lock timeout.
        """
        arrow = to_arrow(table, rows)
        _check_keys(table, partition)
        _check_members(table, partition, arrow)
        note = materialisation_of(table.name, partition, arrow.num_rows, provenance)
        with self._writing() as connection:
            put_partition(connection, table, partition, arrow)
            _put_note(connection, note)
        return arrow.num_rows

    def note(self, asset: str, partition: Partition, n_rows: int, provenance: Provenance) -> None:
        """Record that a partition exists whose content is kept elsewhere, such as in shards."""
        note = materialisation_of(asset, partition, n_rows, provenance)
        with self._writing() as connection:
            _put_note(connection, note)

    def load(self, table: Table, partitions: Sequence[Partition] | None = None) -> list[Any] | pd.DataFrame:
        """The rows of exactly the listed partitions, or of all; sorted by key, then as they were written.

        Raises:
            LookupError: a listed partition, or for None the whole table, was never materialised.
            ValueError: stored rows are damaged or older than the table's declaration.
        """
        for partition in partitions or ():
            _check_keys(table, partition)
        with self._reading() as connection:
            notes = _notes(connection, table.name)
            _check_materialised(table, partitions, notes)
            if partitions is not None and not partitions:
                return from_arrow(table, table.schema.empty_table())
            arrow = select_partitions(connection, table, partitions)
        return from_arrow(table, arrow)

    def materialisations(self, asset: str | None = None) -> list[Materialisation]:
        """What exists: one record per partition, of one asset or of all."""
        with self._reading() as connection:
            return _notes(connection, asset)

    def materialisation(self, asset: str, partition: Partition) -> Materialisation | None:
        """When and from what a partition was made; None if it never was."""
        wanted = dimensions_of(asset, partition)
        found = (note for note in self.materialisations(asset) if _dimensions(note) == wanted)
        return next(found, None)

    def fingerprint_of(self, asset: str, partition: Partition) -> str | None:
        """The fingerprint a partition was made from; None if it never was."""
        note = self.materialisation(asset, partition)
        return note and note.fingerprint

    def publish(self) -> bool:
        """Bring the replica up to date, where a crash has left it behind; returns whether there was need."""
        with self._locked(exclusive=True):
            if not self.layout.live.exists() or replica.is_current(self.layout):
                return False
            with self._connect(read_only=False) as connection:
                connection.execute("CHECKPOINT")
            replica.copy_live(self.layout)
            return True

    def read_published(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> pa.Table:
        """The result of one query on the published replica; takes no lock."""
        return replica.query(self.layout, sql, parameters)

    def _locked(self, *, exclusive: bool) -> contextlib.AbstractContextManager[None]:
        return hold(self.layout.lock, exclusive=exclusive, timeout_s=self.lock_timeout_s)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection inside a transaction; what it wrote is committed and published at the end, or undone."""
        with self._locked(exclusive=True):
            with self._connect(read_only=False) as connection:
                connection.begin()
                yield connection  # an exception closes the connection, which rolls back
                connection.commit()
                connection.execute("CHECKPOINT")
            replica.copy_live(self.layout)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._locked(exclusive=False):
            if not self.layout.live.exists():
                with duckdb.connect(":memory:", config=replica.SETTINGS) as empty:
                    yield empty
                return
            with self._connect(read_only=True) as connection:
                yield connection

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        """Open the live file; wait for clients that opened it without our lock, and name them in the end."""
        deadline = Deadline(self.lock_timeout_s)
        while True:
            try:
                return duckdb.connect(self.layout.live, read_only=read_only, config=replica.SETTINGS)
            except (duckdb.IOException, duckdb.ConnectionException) as error:
                if "lock" not in str(error) and "different configuration" not in str(error):
                    raise
                if deadline.passed():
                    raise TimeoutError(
                        f"Waited {deadline.waited_s:.1f} s for {self.layout.live}, which another client holds open: "
                        f"{error} Close it there; to read, open {self.layout.published} instead."
                    ) from error
                deadline.pause(str(self.layout.live), "a client outside the pipeline")


def _check_keys(table: Table, partition: Partition) -> None:
    if set(partition) != set(table.keys):
        raise ValueError(
            f"A partition of {table.name!r} is given by {sorted(partition)}; expected {sorted(table.keys)}."
        )


def _check_members(table: Table, partition: Partition, rows: pa.Table) -> None:
    for key, value in partition.items():
        if strangers := sorted(set(pc.unique(rows[key]).to_pylist()) - {value}):
            raise ValueError(
                f"Rows for partition {describe_partition(partition)} of {table.name!r} have {key} {strangers}; "
                f"expected {value!r} in every row."
            )


def _check_materialised(
    table: Table, partitions: Sequence[Partition] | None, notes: Sequence[Materialisation]
) -> None:
    if partitions is None:
        missing = [] if notes else [{}]
    else:
        known = {tuple(getattr(note, key) for key in table.keys) for note in notes}
        missing = [partition for partition in partitions if tuple(partition[key] for key in table.keys) not in known]
    if missing:
        named = "; ".join(describe_partition(partition) for partition in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise LookupError(
            f"Table {table.name!r} was never materialised for {named}{more}; expected all partitions that are read "
            "to be there. Materialise them first."
        )


def _put_note(connection: duckdb.DuckDBPyConnection, note: Materialisation) -> None:
    put_partition(connection, MATERIALISATIONS, _dimensions(note), to_arrow(MATERIALISATIONS, [note]))


def _notes(connection: duckdb.DuckDBPyConnection, asset: str | None) -> list[Materialisation]:
    if not stored_columns(connection, MATERIALISATIONS):
        return []
    notes: Any = from_arrow(MATERIALISATIONS, select_partitions(connection, MATERIALISATIONS, None))
    return [note for note in notes if asset in (None, note.asset)]


def _dimensions(note: Materialisation) -> dict[str, str | None]:
    return {key: getattr(note, key) for key in MATERIALISATIONS.keys}
