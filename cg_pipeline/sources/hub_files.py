"""Rows of one file of a data set on the hub: JSON lines, or one JSON value that holds them.

For data sets whose configurations need their script, or that have none: the benchmark names
the files, and with `HubRows.rows_in` how a value of them falls into rows.
"""

import json
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from cg_pipeline.sources.json_lines import show
from cg_pipeline.specs import HubRows


def file_name(file: str) -> str:
    """The name of a file without folders and ending: what a row's field `config` is told."""
    return PurePosixPath(file).stem


def rows_of_file(pin: HubRows, file: str, payload: bytes) -> Iterator[dict[str, Any]]:
    """The rows of a file, in order, given its content.

    Raises:
        ValueError: it is not JSON, or what it holds is not what the benchmark describes.
    """
    where = f"Data set {pin.repo!r}, file {file!r}"
    texts = payload.split(b"\n") if file.endswith(".jsonl") else [payload]
    for number, text in enumerate(texts, start=1):
        if text.strip():
            yield from _rows(pin, where, _value(where, number, text))


def _value(where: str, number: int, text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{where}: line {number} starts a value that is not JSON ({error}); expected JSON. "
            "Name another file, or another commit."
        ) from error


def _rows(pin: HubRows, where: str, value: Any) -> list[dict[str, Any]]:
    try:
        rows = pin.rows_in(value) if pin.rows_in else [value]
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{where} holds {show(value)}, which is not what its benchmark's rows_in reads ({error!r}); "
            "expected its shape. Correct rows_in."
        ) from None
    if wrong := [row for row in rows if not isinstance(row, dict)]:
        raise ValueError(f"{where} holds {show(wrong[0])} as a row; expected an object. Correct rows_in.")
    return rows
