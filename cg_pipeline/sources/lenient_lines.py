"""JSON lines that other programs wrote: any valid object per line, NaN allowed.

*Why not `json_lines`:* that one is strict about benchmark rows, whose author can mend them; a log
is taken as its tool wrote it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cg_pipeline.sources.json_lines import show


def objects_of(path: Path, title: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The object of each line that is not blank, with its place as `file:line`; a title stands for the name.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line holds something else.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; expected JSON lines. Correct the path.")
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                place = f"{title or path.name}:{number}"
                yield place, _object(place, line)


def _object(place: str, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ValueError(
            f"{place} is {show(line.strip())}, which is not JSON; expected one object per line. "
            "Is the file whole?"
        ) from None
    if not isinstance(found, dict):
        raise ValueError(f"{place} is {show(found)}; expected a JSON object per line.")
    return found
