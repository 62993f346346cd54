"""JSON lines that other programs wrote: any valid object per line, NaN allowed.

*Why not `json_lines`:* that one is strict about benchmark rows, whose author can mend them; a log
is taken as its tool wrote it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def objects_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The object of each line that is not blank, with its place as `file:line`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line holds something else.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; expected JSON lines. Correct the path.")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield f"{path.name}:{number}", _object(f"{path.name}:{number}", line)


def _object(place: str, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ValueError(f"{place} is not JSON; expected one object per line. Is the file whole?") from None
    if not isinstance(found, dict):
        raise ValueError(f"{place} holds a {type(found).__name__}; expected a JSON object.")
    return found
