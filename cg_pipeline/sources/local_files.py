"""Benchmark rows from JSON-lines files, checked line by line.

A file is taken whole or not at all: every faulty line is named with what was found and
what to do, and nothing of the file is used until it is mended. Other files are not
affected. Line ends may be LF, CRLF or CR, mixed as they come; a byte-order mark is skipped.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from cg_pipeline.ink import has_ink
from cg_pipeline.pipeline import collect_examples
from cg_pipeline.records import Example
from cg_pipeline.sources.json_lines import parse_line, show
from cg_pipeline.specs import Benchmark

_SHOWN_FAULTS = 10
_LONGEST_FAULT = 500
_INNER_BLANKS = re.compile(r"(?<=\S)\s+")
_NEWLINE = re.compile(rb"\r\n|\n|\r")


def read_examples(benchmark: Benchmark, data_dir: Path) -> list[Example]:
    """The benchmark's examples, in the order of its file.

    Raises:
        FileNotFoundError: the file is not there.
        ValueError: the file is empty or has faulty lines; one sentence each, the first ten shown.
    """
    path = data_dir / benchmark.source.path
    validate = _validator(benchmark.row)
    examples: dict[int, Example] = {}
    faults: dict[int, list[str]] = {}
    asked: dict[object, int] = {}
    for number, line in _lines(path):
        try:
            example = next(iter(collect_examples(benchmark, [validate(parse_line(line))])))
            question = _as_read(example.prompt), frozenset(map(_as_read, example.choices))
            earlier = asked.setdefault(question, number)
            if earlier != number:
                raise ValueError(_repetition(example, examples[earlier], earlier))
            examples[number] = example
        except ValidationError as error:
            faults[number] = [
                _explain(fault, list(benchmark.row.__annotations__)) for fault in error.errors()
            ]
        except ValueError as error:
            faults[number] = [str(error)]
    if faults:
        raise ValueError(_summary(benchmark, path, faults))
    if not examples:
        raise ValueError(
            f"{path} holds no row; expected one JSON object per line. Add rows or remove the benchmark."
        )
    return list(examples.values())


def content_hash(benchmark: Benchmark, data_dir: Path) -> str:
    """SHA-256 of the benchmark's file: what a rerun depends on."""
    return hashlib.sha256(_read_bytes(data_dir / benchmark.source.path)).hexdigest()


def _validator(row: Any) -> Callable[[Any], Any]:
    """Checks rows against a type: "3" is no number, unknown fields are refused.

    The type is made anew by `typing_extensions`, for pydantic reads no other on Python 3.11.
    """
    fields = get_type_hints(row, include_extras=True)
    again: Any = TypedDict(row.__name__, fields, total=row.__total__)  # pyright: ignore[reportArgumentType]
    return partial(TypeAdapter(again).validate_python, strict=True, extra="forbid")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Every line that is not blank, with its number from 1."""
    lines = _NEWLINE.split(_read_bytes(path).removeprefix(b"\xef\xbb\xbf"))
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise FileNotFoundError(
            f"{path} is not a file; expected JSON lines. Put them there or correct the benchmark's source."
        ) from None


def _explain(fault: Any, fields: list[str]) -> str:
    """One sentence out of pydantic's description of a fault."""
    field = show(".".join(str(part) for part in fault["loc"]))
    if fault["type"] == "missing":
        return f"field {field} is missing; expected all of {', '.join(fields)}. Add it."
    if fault["type"] == "extra_forbidden":
        return (
            f"field {field}, with {show(fault['input'])}, is unknown; expected only {', '.join(fields)}. "
            "Remove it, or correct its name."
        )
    expected = fault["msg"].removeprefix("Input should be ")
    return f"field {field} is {show(fault['input'])}; expected {expected}. Correct it."


def _as_read(text: str) -> str:
    """A text without what no reader sees: the invisible, wider blanks, ways to write an accent.

    Lines and their indentation stay: in a program they are what is asked.
    """
    seen = unicodedata.normalize("NFC", "".join(char for char in text if char.isspace() or has_ink(char)))
    lines = (_INNER_BLANKS.sub(" ", line).rstrip() for line in seen.splitlines())
    return "\n".join(lines).rstrip()


def _repetition(example: Example, twin: Example, line: int) -> str:
    kind = "repeats" if example.targets == twin.targets else f"contradicts (answer {show(twin.targets[0])})"
    return (
        f"example {show(example.prompt)}, answer {show(example.targets[0])}, {kind} line {line}; "
        "expected each question once. Remove one of the two."
    )


def _summary(benchmark: Benchmark, path: Path, faults: dict[int, list[str]]) -> str:
    sentences = [f"{path}:{number}: {_cut(fault)}" for number, found in faults.items() for fault in found]
    more = [f"… and {len(sentences) - _SHOWN_FAULTS:,} more."] if len(sentences) > _SHOWN_FAULTS else []
    heading = f"Benchmark {benchmark.name!r} has {len(faults):,} faulty line{'s' if len(faults) > 1 else ''}:"
    return "\n".join([heading, *sentences[:_SHOWN_FAULTS], *more])


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST_FAULT else f"{sentence[:_LONGEST_FAULT]} …"
