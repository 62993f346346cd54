"""Documents of a directory: plain text, JSON lines and Parquet, however large, read piece by piece.

Files are taken in a seeded order, a few side by side, so that what is read first is not all of one file.
A document of a .txt file is a run of paragraphs, which blank lines divide; of the others a row.
"""

import hashlib
import json
import random
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from cg_pipeline.sources.json_lines import show

ENDINGS = (".txt", ".jsonl", ".parquet")

_SIDE_BY_SIDE = 16
_DOCUMENT_CHARS = 20_000


def folder_documents(folder: Path, field: str, *, seed: int, start: int = 0) -> Iterator[str]:
    """The documents from the `start`-th on, in an order that the seed gives.

    Raises:
        FileNotFoundError: the folder holds no file of text.
        ValueError: a file is not what its ending says, or a row has no such field.
    """
    files = text_files(folder)
    rng = random.Random(seed)
    rng.shuffle(files)
    return islice(_side_by_side([_opener(path, field) for path in files], rng), start, None)


def folder_identity(folder: Path) -> str:
    """What tells a folder's text from others: names, sizes and times of its files."""
    stamps = [
        (str(path.relative_to(folder)), (found := path.stat()).st_size, found.st_mtime_ns)
        for path in text_files(folder)
    ]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()


def text_files(folder: Path) -> list[Path]:
    """Its files of text at any depth, sorted.

    Raises:
        FileNotFoundError: there is none.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())
    if not files:
        raise FileNotFoundError(
            f"{folder} holds no {' or '.join(ENDINGS)} file; expected text. Put some there, or name another "
            "directory."
        )
    return files


def _side_by_side(openers: list[Callable[[], Iterator[str]]], rng: random.Random) -> Iterator[str]:
    """One document after another of files drawn at random among the few that are open."""
    waiting = list(reversed(openers))
    opened: list[Iterator[str]] = []
    while waiting or opened:
        while waiting and len(opened) < _SIDE_BY_SIDE:
            opened.append(waiting.pop()())
        chosen = rng.randrange(len(opened))
        try:
            yield next(opened[chosen])
        except StopIteration:
            del opened[chosen]


def _opener(path: Path, field: str) -> Callable[[], Iterator[str]]:
    if path.suffix == ".txt":
        return lambda: _plain(path)
    read = _json_lines if path.suffix == ".jsonl" else _parquet
    return lambda: (_text(path, field, number, row) for number, row in read(path, field))


def _plain(path: Path) -> Iterator[str]:
    """Runs of whole paragraphs of about `_DOCUMENT_CHARS`; a paragraph that is longer is cut."""
    lines: list[str] = []
    length = 0
    with path.open("rb") as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            raise ValueError(f"{path} is UTF-16; expected UTF-8. Save it as UTF-8.")
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(_DOCUMENT_CHARS):
            lines.append(line)
            length += len(line)
            if length >= _DOCUMENT_CHARS and (not line.strip() or length >= 2 * _DOCUMENT_CHARS):
                yield "".join(lines)
                lines, length = [], 0
    if lines:
        yield "".join(lines)


def _json_lines(path: Path, _: str) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield number, json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise ValueError(
                        f"{path}:{number} is not JSON ({error}); expected one object a line. Correct it."
                    ) from None


def _parquet(path: Path, field: str) -> Iterator[tuple[int, Any]]:
    from datasets import load_dataset

    read: dict[str, Any] = {"data_files": str(path), "columns": [field], "split": "train", "streaming": True}
    try:
        yield from enumerate(load_dataset("parquet", **read), start=1)
    except Exception as error:  # whatever pyarrow says of a damaged file, or of one without the column
        said = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ValueError(
            f"{path} cannot be read as Parquet with a column {field!r} ({said}); expected that. "
            "Write it anew, or name the column that holds the text."
        ) from None


def _text(path: Path, field: str, number: int, row: Any) -> str:
    """A row's text; None and texts without letters are empty documents."""
    if not isinstance(row, dict) or field not in row:
        raise ValueError(
            f"{path}:{number} holds {show(row)}; expected an object with a field {field!r}. "
            "Name the field that holds the text."
        )
    value = row[field]
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{path}:{number}: {field!r} is {show(value)}; expected text. Name another field.")
    return value or ""
