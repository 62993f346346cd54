"""A file of rows as numbered lines: JSON lines, CSV or Parquet, told apart by the file's ending.

A line is a row or a sentence about what is wrong with it; a file that cannot be taken apart
into lines is refused as a whole. Line ends may be LF, CRLF or CR, mixed as they come; a
byte-order mark is skipped. A value of a CSV file is always a text, and an empty one is None, as in Parquet:
the column is there, the value is not.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from cg_pipeline.sources.json_lines import checked, parse_line, show
from cg_pipeline.sources.plain_files import read_plain_file

ENDINGS = (".jsonl", ".csv", ".parquet")
"""What a file of rows may be called."""

_NEWLINE = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Line:
    """One row of a file."""

    number: int
    """From 1; for Parquet and for rows of the hub the row, else the line on which the row ends."""
    row: dict[str, Any] = field(default_factory=dict[str, Any])
    fault: str = ""
    """What is wrong with it; empty when nothing is."""


def read_lines(name: str, payload: bytes) -> Iterator[Line]:
    """Every row of a file that is not blank.

    Raises:
        ValueError: the file's ending is unknown, or it is not what its ending says.
    """
    ending = Path(name).suffix.lower()
    if ending == ".jsonl":
        return _json_lines(payload)
    if ending == ".csv":
        return _csv_lines(name, payload)
    if ending == ".parquet":
        return _parquet_lines(name, payload)
    raise ValueError(f"{name} ends in {ending!r}; expected one of {', '.join(ENDINGS)}. Convert it.")


def read_bytes(path: Path) -> bytes:
    """The content of a file of rows, or what `read_plain_file` raises."""
    expected = f"rows ({', '.join(ENDINGS)}). Put them there or correct the benchmark's source."
    return read_plain_file(path, expected)


def _json_lines(payload: bytes) -> Iterator[Line]:
    for number, text in enumerate(_NEWLINE.split(payload.removeprefix(_BOM)), start=1):
        if text.strip():
            try:
                yield Line(number, parse_line(text))
            except ValueError as error:
                yield Line(number, fault=str(error))


def _csv_lines(name: str, payload: bytes) -> Iterator[Line]:
    try:
        text = payload.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        found = payload.removeprefix(_BOM)[error.start : error.end].hex(" ")
        raise ValueError(
            f"{name}: byte {error.start + 1} is {found}, not UTF-8; expected text. Save the file as UTF-8."
        ) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = _columns(name, next(reader, []))
        for values in reader:
            if values:
                yield _csv_line(reader.line_num, names, values)
    except csv.Error as error:
        raise ValueError(
            f'{name}:{reader.line_num}: {error}; expected comma-separated values, quoted by ". Correct it.'
        ) from None


def _columns(name: str, names: list[str]) -> list[str]:
    if wrong := [column for column in names if not column.strip() or names.count(column) > 1]:
        raise ValueError(
            f"{name}:1: column {wrong[0]!r} is blank or repeated; expected distinct names. Rename it."
        )
    return names


def _csv_line(number: int, names: list[str], values: list[str]) -> Line:
    if len(values) != len(names):
        return Line(
            number,
            fault=f"got {len(values)} values, {show(values)}; expected {len(names)}, one for each of "
            f"{', '.join(names)}. Quote commas, or add what is missing.",
        )
    return _checked(number, {key: value or None for key, value in zip(names, values, strict=True)})


def _parquet_lines(name: str, payload: bytes) -> Iterator[Line]:
    try:
        table = pd.read_parquet(io.BytesIO(payload), dtype_backend="pyarrow")
    except Exception as error:  # whatever pyarrow says of a damaged file
        raise ValueError(
            f"{name} cannot be read as Parquet ({error}); expected a whole file. Write it anew."
        ) from None
    for number, row in enumerate(table.to_dict("records"), start=1):
        yield _checked(number, {str(key): _plain(value) for key, value in row.items()})


def _plain(value: Any) -> Any:
    """A value of Parquet as JSON would have it; what is absent is None."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if value is pd.NA or value is pd.NaT or value != value else value


def _checked(number: int, row: dict[str, Any]) -> Line:
    try:
        return Line(number, checked(row))
    except ValueError as error:
        return Line(number, fault=str(error))
