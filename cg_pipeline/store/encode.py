"""Rows to Arrow, exactly: what cannot be stored as declared is refused with its column, row and value.

*Why by hand:* a library that guesses types stores 0.5 in a column that began with
integers as 0, gives an all-NULL column the type NULL, and pairs columns by position. Here
the table's declaration decides, and nothing is guessed, rounded or reordered.
"""

import reprlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cg_pipeline.store.tables import SCALARS, Column, Table

Rows = Sequence[Any] | pd.DataFrame

_ACCEPTED: dict[str, tuple[type, ...]] = {
    "VARCHAR": (str,),
    "BIGINT": (int, np.integer),
    "DOUBLE": (float, int, np.floating, np.integer),
    "BOOLEAN": (bool, np.bool_),
    "TIMESTAMP": (datetime,),
}
_NUMPY_KINDS = {"BIGINT": "iuf", "DOUBLE": "iuf", "BOOLEAN": "b"}
_LISTS = (tuple, list, np.ndarray)


def to_arrow(table: Table, rows: Rows) -> pa.Table:
    """The rows as an Arrow table with exactly the declared columns, matched by name.

    A float column of a data frame may fill a BIGINT when all its values are whole, because
    pandas turns integers beside a missing value into floats.

    Raises:
        ValueError: columns are missing or unknown, or a value does not fit its column.
        TypeError: a row is not the table's record, or a value has another type than its column.
    """
    values = _frame_columns(table, rows) if isinstance(rows, pd.DataFrame) else _record_columns(table, rows)
    arrays = [_encode(table, column, values[column.name]) for column in table.columns]
    return pa.Table.from_arrays(arrays, schema=table.schema)


def _record_columns(table: Table, rows: Sequence[Any]) -> dict[str, list[Any]]:
    if table.record is None:
        raise TypeError(
            f"Rows of {table.name!r} are a {type(rows).__name__}; expected a data frame with its columns."
        )
    for row in rows:
        if not isinstance(row, table.record):
            raise TypeError(
                f"A row of {table.name!r} is {reprlib.repr(row)}, a {type(row).__name__}; "
                f"expected a {table.record.__name__}."
            )
    return {column.name: [getattr(row, column.name) for row in rows] for column in table.columns}


def _frame_columns(table: Table, frame: pd.DataFrame) -> dict[str, Any]:
    declared = [column.name for column in table.columns]
    present = [str(name) for name in frame.columns]
    missing = [name for name in declared if name not in present]
    extra = [name for name in present if name not in declared]
    repeated = sorted({name for name in present if present.count(name) > 1})
    if missing or extra or repeated:
        raise ValueError(
            f"The data frame for {table.name!r} lacks columns {missing}, has unknown columns {extra} and "
            f"repeats {repeated}; expected exactly {declared}, in any order."
        )
    return {column.name: _series_values(column, frame.loc[:, column.name]) for column in table.columns}


def _series_values(column: Column, series: pd.Series) -> Any:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iufb" and not column.is_list:
        return series.to_numpy()
    absent = float("nan") if column.type == "DOUBLE" else None
    return [
        absent if gone else value for value, gone in zip(series.tolist(), _is_absent(series), strict=True)
    ]


def _is_absent(series: pd.Series) -> list[bool]:
    return [pd.api.types.is_scalar(value) and bool(pd.isna(value)) for value in series.tolist()]


def _encode(table: Table, column: Column, values: Any) -> pa.Array:
    place = f"Column {column.name!r} of {table.name!r}"
    encode = _encode_lists if column.is_list else _encode_scalars
    array = encode(place, column, values)
    if array.null_count and not column.nullable and column.type != "DOUBLE":
        row = array.is_null().index(True).as_py()
        raise ValueError(
            f"{place}, row {row}: a value is missing, and the column is not nullable; expected {column.type}."
        )
    return array


def _encode_lists(place: str, column: Column, values: list[Any]) -> pa.Array:
    for row, value in enumerate(values):
        if value is not None and not isinstance(value, _LISTS):
            raise TypeError(f"{place}, row {row}: {_shown(value)}; expected {column.type}.")
    lengths = [0 if value is None else len(value) for value in values]
    offsets = np.cumsum([0, *lengths])
    items = list(chain.from_iterable(value for value in values if value is not None))
    flat = _encode_scalars(place, column, items, row_of=lambda item: bisect_right(offsets.tolist(), item) - 1)
    if flat.null_count and column.item_type != "DOUBLE":
        raise ValueError(f"{place}: a list holds a missing item; expected {column.item_type} throughout.")
    absent = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), flat, type=column.arrow, mask=absent)


def _encode_scalars(place: str, column: Column, values: Any, row_of: Callable[[int], int] = int) -> pa.Array:
    target = SCALARS[column.item_type]
    _check_types(place, column, values, row_of)
    try:
        array = pa.array(values, type=target, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError) as error:
        index = _first_refused(values, target)
        value = _shown(values[index])
        raise ValueError(
            f"{place}, row {row_of(index)}: {value}; expected {column.item_type} ({error})."
        ) from None
    if column.item_type == "VARCHAR":
        _refuse_nul(place, array, row_of)
    return array


def _check_types(place: str, column: Column, values: Any, row_of: Callable[[int], int]) -> None:
    if isinstance(values, np.ndarray):
        wrong = values.dtype.kind not in _NUMPY_KINDS.get(column.item_type, "") and len(values) > 0
        refused = {values.dtype.type} if wrong else set()
    else:
        refused = {kind for kind in set(map(type, values)) if not _accepts(column, kind)}
    for index, value in enumerate(values if refused else ()):
        if type(value) in refused:
            raise TypeError(f"{place}, row {row_of(index)}: {_shown(value)}; expected {column.item_type}.")


def _accepts(column: Column, kind: type) -> bool:
    if kind is type(None):
        return column.nullable or column.item_type != "DOUBLE"  # the rest is told by the count of NULLs
    accepted = issubclass(kind, _ACCEPTED[column.item_type])
    return accepted and (column.item_type == "BOOLEAN" or not issubclass(kind, bool))


def _first_refused(values: Any, target: pa.DataType) -> int:
    for index in range(len(values)):
        try:
            pa.array(values[index : index + 1], type=target, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
            return index
    return 0


def _refuse_nul(place: str, array: pa.Array, row_of: Callable[[int], int]) -> None:
    found = pc.call_function("match_substring", [array], pc.MatchSubstringOptions("\0"))
    index = found.index(True).as_py()
    if index >= 0:
        raise ValueError(
            f"{place}, row {row_of(index)}: {reprlib.repr(array[index].as_py())} holds a NUL character, "
            "at which many readers cut a text; expected text without. Replace it where the text is made."
        )


def _shown(value: Any) -> str:
    return f"{reprlib.repr(value)} is a {type(value).__name__}"
