"""A label file taken apart into rows: CSV, JSON lines, JSON or Parquet, each of them gzipped or not.

A JSON file may list rows, map ids to labels, or list one label per concept in order; then the list
must be as long as the dictionary is wide, for nothing else ties a place to a concept (fault F25 of
neighbouring tools: labels paired with the wrong axis).
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from cg_pipeline.sources.json_lines import bounded_integer, checked, show, unique_fields
from cg_pipeline.sources.lines import Line, read_lines
from cg_pipeline.specs import Sae

ENDINGS = (".csv", ".jsonl", ".json", ".parquet")
"""What a label file may be called, each also with `.gz` after it."""
LARGEST_FILE = 2**28
"""Bytes of an unpacked file; the labels of a dictionary of a million concepts take less than half of it."""


def unpacked(name: str, payload: bytes) -> bytes:
    """The content of a file that may be gzipped, as its name says.

    Raises:
        ValueError: it is no gzip file, is cut short, or unpacks to more than `LARGEST_FILE`.
    """
    if not name.endswith(".gz"):
        return payload
    parts: list[bytes] = []
    rest, room = payload, LARGEST_FILE
    try:
        while rest:
            stream = zlib.decompressobj(wbits=31)
            parts.append(stream.decompress(rest, room))
            room -= len(parts[-1])
            if stream.unconsumed_tail:
                raise ValueError(
                    f"{name} unpacks to more than {LARGEST_FILE:,} bytes; expected labels. Split the file."
                )
            if not stream.eof:
                raise ValueError(f"{name} is cut short; expected a whole gzip file. Fetch it again.")
            rest = stream.unused_data
    except zlib.error as error:
        raise ValueError(
            f"{name} cannot be unpacked ({error}); expected a gzip file. Fetch it again."
        ) from None
    return b"".join(parts)


def is_label_file(name: str) -> bool:
    """Whether a file's name ends as a label file's does."""
    return PurePath(name.removesuffix(".gz")).suffix.lower() in ENDINGS


def label_lines(name: str, payload: bytes, sae: Sae) -> Iterator[Line]:
    """The rows of a file of labels of an SAE, by line or place.

    Raises:
        ValueError: the file is not what its ending says, or a list without ids has another length.
    """
    payload = unpacked(name, payload)
    plain = name.removesuffix(".gz")
    if PurePath(plain).suffix.lower() != ".json":
        return read_lines(plain, payload)
    try:
        text = payload.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=unique_fields, parse_int=bounded_integer)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name} is not JSON ({error}); expected labels. Correct or remove it.") from None
    return _checked(enumerate(_rows(name, value, sae), start=1))


def _rows(name: str, value: Any, sae: Sae) -> Sequence[dict[str, Any]]:
    """The rows of a JSON value: a list of them, a list of labels, or ids with labels or rows."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return value
    if isinstance(value, list) and all(each is None or isinstance(each, str) for each in value):
        if len(value) != sae.d_sae:
            raise ValueError(
                f"{name} lists {len(value):,} labels without ids; expected {sae.d_sae:,}, one for each "
                f"concept of {sae.name!r}, since its place is all that ties a label to one. "
                "Is it another SAE's? Give each label its id."
            )
        return [{"concept_id": place, "label": label} for place, label in enumerate(value)]
    if isinstance(value, dict) and value and all(key.isdecimal() for key in value):
        return [_keyed(name, key, each) for key, each in value.items()]
    raise ValueError(
        f"{name} holds {show(value)}; expected a list of rows, a list of labels, or an object from ids to "
        "labels. Correct it."
    )


def _keyed(name: str, key: str, value: Any) -> dict[str, Any]:
    """The row of an id: a label, or more about it; an id inside must be the same."""
    row = value if isinstance(value, dict) else {"label": value}
    if str(row.get("concept_id", key)) != key:
        raise ValueError(
            f"{name}: under id {key!r} is a row of concept_id {show(row['concept_id'])}; expected the same. "
            "Correct one of them."
        )
    return {**row, "concept_id": key}


def _checked(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Line]:
    for number, row in rows:
        try:
            yield Line(number, checked(row))
        except ValueError as error:
            yield Line(number, fault=str(error))
