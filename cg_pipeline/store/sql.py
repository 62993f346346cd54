"""The SQL that writes and reads declared tables.

Names are quoted here; keys and texts travel as data, never as SQL.
"""

from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa

from cg_pipeline.store.tables import Table


def identifier(name: str) -> str:
    """A name quoted as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text quoted as an SQL literal, for the statements that take no parameters (COMMENT, ATTACH)."""
    return "'" + text.replace("'", "''") + "'"


def qualified(table: Table) -> str:
    """The table's name with its schema."""
    return f"main.{identifier(table.name)}"


def stored_names(connection: duckdb.DuckDBPyConnection, table: Table) -> list[str]:
    """The columns the warehouse has; empty when it has no such table.

    The catalogue's views would tell, too, but a fresh connection first fills them all (10 ms).
    """
    try:
        columns = connection.execute(f"SELECT * FROM {qualified(table)} LIMIT 0").description
    except duckdb.CatalogException:
        return []
    return [column[0] for column in columns or ()]


def _described_columns(
    connection: duckdb.DuckDBPyConnection, table: Table
) -> dict[str, tuple[str, str | None]]:
    """Type and comment of each column the warehouse has; empty when it has no such table."""
    rows = connection.execute(
        "SELECT column_name, data_type, comment FROM duckdb_columns() "
        "WHERE database_name = current_database() AND schema_name = 'main' AND table_name = ?",
        [table.name],
    ).fetchall()
    return {name: (data_type, comment) for name, data_type, comment in rows}


def ensure_table(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    """Create the table, or add the columns it lacks; keep the comments that any client can read up to date.

    Raises:
        ValueError: a column is stored with another type than it is declared with.
    """
    stored, full = _described_columns(connection, table), qualified(table)
    if not stored:
        columns = ", ".join(f"{identifier(column.name)} {column.type}" for column in table.columns)
        connection.execute(f"CREATE TABLE {full} ({columns})")
    for column in table.columns:
        name = identifier(column.name)
        data_type, comment = stored.get(column.name, (None, None))
        if stored and data_type is None:
            connection.execute(f"ALTER TABLE {full} ADD COLUMN {name} {column.type}")
        elif stored and data_type != column.type:
            raise ValueError(
                f"Column {column.name!r} of {table.name!r} is stored as {data_type}, but declared "
                f"{column.type}; expected one type for ever. Give the new column another name."
            )
        if comment != column.description:
            connection.execute(f"COMMENT ON COLUMN {full}.{name} IS {literal(column.description)}")
            connection.execute(f"COMMENT ON TABLE {full} IS {literal(table.description)}")


def read_everything(connection: duckdb.DuckDBPyConnection) -> None:
    """Read every value of every table: DuckDB compares each block's checksum as it reads it."""
    tables = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() "
        "WHERE database_name = current_database() AND NOT internal"
    ).fetchall()
    for schema, name in tables:
        connection.execute(
            f"SELECT bit_xor(hash(t)) FROM {identifier(schema)}.{identifier(name)} t"
        ).fetchall()


def put_partition(
    connection: duckdb.DuckDBPyConnection, table: Table, partition: Mapping[str, str | None], rows: pa.Table
) -> None:
    """Exchange a partition's rows for others, by column name; call it within a transaction."""
    ensure_table(connection, table)
    matches = " AND ".join(f"{identifier(key)} IS NOT DISTINCT FROM ?" for key in partition) or "TRUE"
    connection.execute(f"DELETE FROM {qualified(table)} WHERE {matches}", list(partition.values()))
    incoming = f"rows for {table.name}"  # longer than the table's name: it cannot shadow the table
    connection.register(incoming, rows)
    connection.execute(f"INSERT INTO {qualified(table)} BY NAME SELECT * FROM {identifier(incoming)}")
    connection.unregister(incoming)


def select_partitions(
    connection: duckdb.DuckDBPyConnection, table: Table, partitions: Sequence[Mapping[str, str]] | None
) -> pa.Table:
    """The rows of exactly these partitions, or of all; sorted by key, then as they were written.

    Partitions may give some of the keys only. A column declared since the table was last
    written is NULL.
    """
    stored = stored_names(connection, table)
    columns = ", ".join(
        f"t.{identifier(column.name)}"
        if column.name in stored
        else f"CAST(NULL AS {column.type}) AS {identifier(column.name)}"
        for column in table.columns
    )
    order = ", ".join([*(f"t.{identifier(key)}" for key in table.keys), "t.rowid"])
    join = _semi_join(connection, table, partitions) if partitions else ""
    sql = f"SELECT {columns} FROM {qualified(table)} t {join} ORDER BY {order}"
    return connection.execute(sql).to_arrow_table()


def _semi_join(
    connection: duckdb.DuckDBPyConnection, table: Table, partitions: Sequence[Mapping[str, str]]
) -> str:
    """A join that keeps the rows of the wanted partitions; the keys travel as a table."""
    keys = list(partitions[0])
    if not keys:
        return ""
    columns = {key: pa.array([partition[key] for partition in partitions], pa.string()) for key in keys}
    wanted = f"keys for {table.name}"
    connection.register(wanted, pa.table(columns))
    matches = " AND ".join(f"t.{identifier(key)} = w.{identifier(key)}" for key in keys)
    return f"SEMI JOIN {identifier(wanted)} w ON {matches}"
