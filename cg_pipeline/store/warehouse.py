"""The warehouse: typed tables in one DuckDB file, written a partition at a time by any number of processes.

*Why not Dagster's DuckDB I/O manager:* it pairs columns by position, deletes and inserts
in two transactions, stores 0.5 as 0 in a column that began with integers, accepts rows of
another partition, returns fewer partitions than asked for, and gives up on the file's lock.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from cg_pipeline.store import replica
from cg_pipeline.store.connections import Connections
from cg_pipeline.store.decode import from_arrow
from cg_pipeline.store.encode import Rows, to_arrow
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.materialisations import (
    MATERIALISATIONS,
    Materialisation,
    Partition,
    Provenance,
    describe_partition,
    identity_of,
    materialisation_of,
)
from cg_pipeline.store.sql import put_partition, select_partitions, stored_names
from cg_pipeline.store.tables import Table


class Warehouse:
    """Reads and writes partitions of tables; safe between processes and threads."""

    def __init__(self, layout: Layout, lock_timeout_s: float = 600.0) -> None:
        self.layout = layout
        self._connections = Connections(layout, lock_timeout_s)

    def replace(self, table: Table, partition: Partition, rows: Rows, provenance: Provenance) -> int:
        """Exchange a partition's rows, note what they were made from, publish; returns the number of rows.

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
        with self._connections.writing() as connection:
            put_partition(connection, table, partition, arrow)
            _put_note(connection, note)
        return arrow.num_rows

    def note(self, asset: str, partition: Partition, n_rows: int, provenance: Provenance) -> None:
        """Record that a partition exists whose content is kept elsewhere, such as in shards."""
        note = materialisation_of(asset, partition, n_rows, provenance)
        with self._connections.writing() as connection:
            _put_note(connection, note)

    def load(self, table: Table, partitions: Sequence[Partition] | None = None) -> list[Any] | pd.DataFrame:
        """The rows of exactly the listed partitions, or of all; sorted by key, then as they were written.

        Raises:
            LookupError: a listed partition, or for None the whole table, was never materialised.
            ValueError: stored rows are damaged or older than the table's declaration.
        """
        for partition in partitions or ():
            _check_keys(table, partition)
        with self._connections.reading() as connection:
            _check_materialised(table, partitions, _notes(connection, table.name))
            if partitions is not None and not partitions:
                return from_arrow(table, table.schema.empty_table())
            arrow = select_partitions(connection, table, partitions)
        return from_arrow(table, arrow)

    def materialisations(self, asset: str | None = None) -> list[Materialisation]:
        """What exists: one record per partition, of one asset or of all."""
        with self._connections.reading() as connection:
            return _notes(connection, asset)

    def materialisation(self, asset: str, partition: Partition) -> Materialisation | None:
        """When and from what a partition was made; None if it never was."""
        wanted = identity_of(asset, partition)
        return next((note for note in self.materialisations(asset) if note.identity == wanted), None)

    def fingerprint_of(self, asset: str, partition: Partition) -> str:
        """The fingerprint a partition was made from.

        Raises:
            LookupError: it was never materialised.
        """
        if note := self.materialisation(asset, partition):
            return note.fingerprint
        raise _unmaterialised(asset, [partition])

    def publish(self) -> bool:
        """Bring the replica up to date where a crash has left it behind; returns whether there was need."""
        return self._connections.publish()

    def read_published(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> pa.Table:
        """The result of one query on the published replica; takes no lock.

        Raises:
            FileNotFoundError: nothing has been published yet.
        """
        return replica.query(self.layout, sql, parameters)


def _check_keys(table: Table, partition: Partition) -> None:
    if set(partition) != set(table.keys):
        raise ValueError(
            f"A partition of {table.name!r} is given by {sorted(partition)}; expected {sorted(table.keys)}."
        )


def _check_members(table: Table, partition: Partition, rows: pa.Table) -> None:
    for key, value in partition.items():
        if strangers := sorted(set(rows[key].unique().to_pylist()) - {value}):
            raise ValueError(
                f"Rows for partition {describe_partition(partition)} of {table.name!r} have {key} "
                f"{strangers}; expected {value!r} in every row."
            )


def _check_materialised(
    table: Table, partitions: Sequence[Partition] | None, notes: Sequence[Materialisation]
) -> None:
    known = {note.identity for note in notes}
    wanted = [{}] if partitions is None and not known else partitions or []
    missing = [each for each in wanted if identity_of(table.name, each) not in known]
    if missing:
        raise _unmaterialised(table.name, missing)


def _unmaterialised(asset: str, missing: Sequence[Partition]) -> LookupError:
    named = "; ".join(describe_partition(partition) for partition in missing[:5])
    more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
    return LookupError(
        f"Table {asset!r} was never materialised for {named}{more}; expected every partition that "
        "is read to be there. Run `cg demo`, or materialise it, first."
    )


def _put_note(connection: duckdb.DuckDBPyConnection, note: Materialisation) -> None:
    put_partition(connection, MATERIALISATIONS, _keys_of(note), to_arrow(MATERIALISATIONS, [note]))


def _keys_of(note: Materialisation) -> dict[str, Any]:
    return {key: getattr(note, key) for key in MATERIALISATIONS.keys}


def _notes(connection: duckdb.DuckDBPyConnection, asset: str | None) -> list[Materialisation]:
    if not stored_names(connection, MATERIALISATIONS):
        return []
    wanted = None if asset is None else [{"asset": asset}]
    notes: Any = from_arrow(MATERIALISATIONS, select_partitions(connection, MATERIALISATIONS, wanted))
    return notes
