"""Arrow back to rows: records, checked as if they had just been made, or a data frame."""

import dataclasses
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cg_pipeline.store.tables import Column, Table


def from_arrow(table: Table, arrow: pa.Table) -> list[Any] | pd.DataFrame:
    """The rows again: records where the table has a record, else a data frame with NaN for NULL.

    Raises:
        ValueError: a column or value is missing, or a row is not a valid record: it was
            damaged, or written by an older version.
    """
    if missing := [column.name for column in table.columns if column.name not in arrow.column_names]:
        raise ValueError(
            f"Stored rows of {table.name!r} lack columns {missing}; expected {table.schema.names}."
        )
    arrow = arrow.select(table.schema.names).cast(table.schema)
    for column in table.columns:
        _refuse_null(table, column, arrow[column.name])
    return _frame(table, arrow) if table.record is None else _records(table, table.record, arrow)


def _refuse_null(table: Table, column: Column, values: pa.ChunkedArray) -> None:
    if values.null_count and not column.nullable and column.type != "DOUBLE":
        row = pc.index(values.is_null(), True).as_py()
        raise ValueError(
            f"Column {column.name!r} of {table.name!r} is NULL in stored row {row}; expected {column.type}. "
            "The row is older than the column: materialise its partition again."
        )


def _frame(table: Table, arrow: pa.Table) -> pd.DataFrame:
    return pd.DataFrame({column.name: _series(column, arrow[column.name]) for column in table.columns})


def _series(column: Column, values: pa.ChunkedArray) -> pd.Series:
    if column.is_list:
        return pd.Series(_python_values(column, values), dtype=object)
    extension = {"BIGINT": pd.Int64Dtype(), "BOOLEAN": pd.BooleanDtype()}.get(column.type)
    if column.nullable and extension is not None:
        return values.to_pandas(types_mapper=lambda _: extension)
    return values.to_pandas()


def _records(table: Table, record: type, arrow: pa.Table) -> list[Any]:
    columns = {column.name: _python_values(column, arrow[column.name]) for column in table.columns}
    fields = dataclasses.fields(record)
    given = [field.name for field in fields if field.init]
    derived = [field.name for field in fields if not field.init]
    rows = zip(*(columns[name] for name in given), strict=True)
    made = [
        _record(table, record, row, dict(zip(given, values, strict=True))) for row, values in enumerate(rows)
    ]
    for name in derived:
        _check_derived(table, name, made, columns[name])
    return made


def _record(table: Table, record: type, row: int, values: dict[str, Any]) -> Any:
    try:
        return record(**values)
    except ValueError as error:
        raise ValueError(
            f"Stored row {row} of {table.name!r} is no valid {record.__name__}: {error} "
            "The row is damaged or older than the record: materialise its partition again."
        ) from error


def _check_derived(table: Table, name: str, made: list[Any], stored: list[Any]) -> None:
    for row, (record, value) in enumerate(zip(made, stored, strict=True)):
        if (derived := getattr(record, name)) != value:
            raise ValueError(
                f"Stored row {row} of {table.name!r} is corrupted: {name} is {value!r}, but its content "
                f"gives {derived!r}. Materialise its partition again."
            )


def _python_values(column: Column, values: pa.ChunkedArray) -> list[Any]:
    plain = values.to_pylist()
    if column.is_list:
        nan = float("nan")
        return [v if v is None else tuple(nan if item is None else item for item in v) for v in plain]
    if column.type == "DOUBLE" and not column.nullable and values.null_count:
        return [float("nan") if value is None else value for value in plain]
    return plain
