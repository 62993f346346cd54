"""Benchmark rows from JSON-lines files, checked line by line.

A file is taken whole or not at all: every faulty line is named with what was found and
what to do, and nothing of the file is used until it is mended. Other files are not
affected. Line ends may be LF, CRLF or CR, mixed as they come; a byte-order mark is skipped.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from cg_pipeline.pipeline import collect_examples
from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark

MAX_TEXT_CHARACTERS = 100_000
"""Longest text of one field: about 25,000 tokens, more than any benchmark question needs."""

_SHOWN_FAULTS = 10
_NEWLINE = re.compile(rb"\r\n|\n|\r")


def read_examples(benchmark: Benchmark, data_dir: Path) -> list[Example]:
    """The benchmark's examples, in the order of its file.

    Raises:
        FileNotFoundError: the file is not there.
        ValueError: the file is empty or has faulty lines; one sentence each, the first ten shown.
    """
    path = data_dir / benchmark.source.path
    reader = _LineReader(path, TypeAdapter(_strict(benchmark.row)))
    examples = [
        example
        for number, row in reader.rows()
        for example in reader.attempt(number, lambda row=row: next(collect_examples(benchmark, [row])))
    ]
    reader.faults.extend(_repeats(path, reader.kept, examples))
    if reader.faults:
        raise ValueError(_sentence(benchmark.name, reader.faults))
    if not examples:
        raise ValueError(f"{path} holds no row; expected one JSON object per line. Add examples or remove the benchmark.")
    return examples


def content_hash(benchmark: Benchmark, data_dir: Path) -> str:
    """SHA-256 of the benchmark's file: what a rerun depends on."""
    return hashlib.sha256(_read_bytes(data_dir / benchmark.source.path)).hexdigest()


class _LineReader:
    """Goes through a file once, yields good rows, remembers faults and the lines kept."""

    def __init__(self, path: Path, adapter: TypeAdapter[Any]) -> None:
        self.path = path
        self.adapter = adapter
        self.faults: list[str] = []
        self.kept: list[int] = []

    def rows(self) -> Iterator[tuple[int, Any]]:
        lines = _NEWLINE.split(_read_bytes(self.path).removeprefix(b"\xef\xbb\xbf"))
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield from ((number, row) for row in self.attempt(number, lambda line=line: self._parse(line), keep=False))

    def attempt(self, number: int, make: Callable[[], Any], *, keep: bool = True) -> list[Any]:
        """What `make` returns, as a list of one; or an empty list after noting why it could not."""
        try:
            made = make()
        except ValidationError as error:
            self.faults.extend(f"{self.path}:{number}: {_explain(fault)}" for fault in error.errors())
        except (ValueError, TypeError) as error:
            self.faults.append(f"{self.path}:{number}: {error}")
        else:
            self.kept.extend([number] if keep else [])
            return [made]
        return []

    def _parse(self, line: bytes) -> Any:
        return self.adapter.validate_python(_checked(_decode(line)))


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing; expected a JSON-lines file. Put it there or correct the benchmark's source.") from None


def _decode(line: bytes) -> Any:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = line[error.start : error.end].hex(" ")
        raise ValueError(f"byte {error.start + 1} is {found}, not UTF-8; save the file as UTF-8.") from None
    if "\x00" in text:
        raise ValueError(f"character {text.index(chr(0)) + 1} is a NUL byte; expected text. Remove it.")
    try:
        return json.loads(text, object_pairs_hook=_no_repeated_field, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at column {error.colno} ({error.msg}); expected one object per line, got {_short(text)}.") from None


def _no_repeated_field(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"field {repeated[0]!r} appears {names.count(repeated[0])} times; expected once. Remove the others.")
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise ValueError(f"value {name} is not JSON; expected a number, text, list or null.")


def _checked(row: Any) -> Any:
    """The row, once none of its texts is over-long or holds what cannot be stored."""
    if not isinstance(row, dict):
        raise ValueError(f"got {_short(json.dumps(row))}; expected a JSON object with the benchmark's fields.")
    for field, value in row.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                _check_text(field, text)
    return row


def _check_text(field: str, text: str) -> None:
    if len(text) > MAX_TEXT_CHARACTERS:
        raise ValueError(
            f"field {field!r} has {len(text):,} characters ({_short(text)}); expected at most {MAX_TEXT_CHARACTERS:,}. Shorten it."
        )
    if "\x00" in text:
        raise ValueError(f"field {field!r} holds a NUL character ({_short(text)}); expected text. Remove it.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"field {field!r} holds half of a surrogate pair ({_short(text)}); expected text. Remove it.")


def _explain(fault: Any) -> str:
    """One sentence out of pydantic's description of a fault."""
    field = ".".join(str(part) for part in fault["loc"]) or "row"
    remedy = {"missing": "Add it.", "extra_forbidden": "Remove it, or correct its name."}.get(fault["type"], "Correct it.")
    expected = fault["msg"][0].lower() + fault["msg"][1:]
    got = "" if fault["type"] == "missing" else f" is {_short(repr(fault['input']))}"
    return f"field {field!r}{got}: {expected}. {remedy}"


def _repeats(path: Path, lines: list[int], examples: list[Example]) -> Iterator[str]:
    """Faults of examples that ask the same as an earlier one, with the same key or a contradictory one."""
    first: dict[tuple[str, frozenset[str]], tuple[int, Example]] = {}
    for number, example in zip(lines, examples, strict=True):
        asked = (example.prompt, frozenset(example.choices))
        earlier, twin = first.setdefault(asked, (number, example))
        if twin is not example:
            kind = "repeats" if twin.targets == example.targets else f"contradicts (answer {twin.targets[0]!r})"
            yield (
                f"{path}:{number}: example {example.example_id} ({_short(example.prompt)}, answer {example.targets[0]!r}) "
                f"{kind} line {earlier}; expected each question once. Remove one of the two."
            )


def _sentence(benchmark: str, faults: list[str]) -> str:
    more = f"\n… and {len(faults) - _SHOWN_FAULTS} more." if len(faults) > _SHOWN_FAULTS else ""
    return f"Benchmark {benchmark!r} has {len(faults)} faulty lines:\n" + "\n".join(faults[:_SHOWN_FAULTS]) + more


def _short(text: str) -> str:
    shown = text if len(text) <= 60 else text[:57] + "…"
    return shown.encode("unicode_escape").decode() if not shown.isprintable() else shown


def _strict(row: type) -> type:
    """The row type, with types taken literally ("3" is not a number) and unknown fields refused."""
    row.__pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[attr-defined]
    return row
