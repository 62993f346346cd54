"""What a table is: named, typed, described columns, and the columns that tell its partitions apart.

Most tables are derived from a record, so that a field, its type and its description are
written once; a table whose columns come from a catalogue is declared column by column.
"""

import dataclasses
import types
import typing
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import docstring_parser
import pyarrow as pa

SCALARS: dict[str, pa.DataType] = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us"),
}
_PYTHON = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", datetime: "TIMESTAMP"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table."""

    name: str
    type: str
    """VARCHAR, BIGINT, DOUBLE, BOOLEAN or TIMESTAMP (UTC), or one of them with `[]`."""
    description: str
    nullable: bool = False
    """Whether a value may be absent. NaN may always stand in a DOUBLE; it is stored as NULL."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("A column's name is empty; expected a name.")
        if self.item_type not in SCALARS:
            raise ValueError(
                f"Column {self.name!r} has type {self.type!r}; expected one of "
                f"{', '.join(SCALARS)}, or a list of it."
            )

    @property
    def is_list(self) -> bool:
        """Whether a value is a list."""
        return self.type.endswith("[]")

    @property
    def item_type(self) -> str:
        """The type of a value, or of a list's items."""
        return self.type.removesuffix("[]")

    @property
    def arrow(self) -> pa.DataType:
        """The same type in Arrow."""
        item = SCALARS[self.item_type]
        return pa.list_(item) if self.is_list else item


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the warehouse: what its rows look like and how they are partitioned."""

    name: str
    columns: tuple[Column, ...]
    keys: tuple[str, ...] = ()
    """The columns whose values name a partition; none for a table replaced as a whole."""
    record: type | None = None
    """The dataclass a row becomes when read; None for a data frame."""
    description: str = ""

    def __post_init__(self) -> None:
        names = [column.name.casefold() for column in self.columns]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated or not names:
            raise ValueError(
                f"Table {self.name!r} repeats {repeated} in its columns {names}; expected distinct names."
            )
        text = [column.name for column in self.columns if column.type == "VARCHAR"]
        if strangers := sorted(set(self.keys) - set(text)):
            raise ValueError(
                f"Table {self.name!r} is keyed by {strangers}; expected VARCHAR columns, of {text}."
            )

    @property
    def schema(self) -> pa.Schema:
        """The same columns in Arrow."""
        return pa.schema([(column.name, column.arrow) for column in self.columns])


def table_of(record: type, *, name: str, keys: tuple[str, ...] = ()) -> Table:
    """The table of a record: its fields are the columns, the line under a field is its description.

    Raises:
        TypeError: a field's type has no column type, or a field has no description.
    """
    documented = docstring_parser.parse_from_object(record)
    described = {item.arg_name: item.description or "" for item in documented.params}
    hints = typing.get_type_hints(record)
    fields = [field.name for field in dataclasses.fields(record)]
    columns = tuple(_column(record, field, hints[field], described.get(field, "")) for field in fields)
    return Table(
        name=name, columns=columns, keys=keys, record=record, description=documented.short_description or ""
    )


def _column(record: type, name: str, hint: Any, description: str) -> Column:
    inner, nullable = _without_none(hint)
    column_type = _column_type(inner)
    if column_type is None:
        raise TypeError(
            f"{record.__name__}.{name} is a {hint}; expected str, int, float, bool, datetime, a Literal of "
            "texts, a tuple[…, ...] of one of them, or such a type | None."
        )
    if not description:
        raise TypeError(
            f"{record.__name__}.{name} has no description; write one line of docstring under the field."
        )
    return Column(name=name, type=column_type, description=" ".join(description.split()), nullable=nullable)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if typing.get_origin(hint) not in (types.UnionType, typing.Union):
        return hint, False
    rest = [member for member in typing.get_args(hint) if member is not types.NoneType]
    return (rest[0], True) if len(rest) == 1 else (hint, False)


def _column_type(hint: Any) -> str | None:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is Literal:
        return "VARCHAR" if all(isinstance(argument, str) for argument in arguments) else None
    if typing.get_origin(hint) is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        item = _column_type(arguments[0])
        return f"{item}[]" if item in SCALARS else None
    return _PYTHON.get(hint)
