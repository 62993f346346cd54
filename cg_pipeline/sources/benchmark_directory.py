"""A directory of benchmark files in one normal form, so that a site without network runs a real suite.

`MANIFEST.json` names the files:
    {"benchmarks": [{"name": "boolq", "file": "boolq.jsonl", "sha256": "9f86…", "license": "CC-BY-SA-3.0"}]}
Each file holds one `items.NormalisedRow` per line:
    {"item_id": "boolq-0", "question": "is tin a metal", "choices": ["no", "yes"], "answer": "B",
     "context": "Tin is a chemical element …", "category": null, "source_fields": {}}
An entry may also state the `commit` its rows were taken from. Worked examples of a benchmark
are rows of an entry called `<name>_shots`.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cg_pipeline.sources.json_lines import show

MANIFEST = "MANIFEST.json"


@dataclass(frozen=True, kw_only=True)
class DirectoryFile:
    """One benchmark's file, whose content was found to be what the manifest says."""

    path: Path
    sha256: str
    licence: str
    """As the manifest states it; may be empty."""
    revision: str
    """Commit it was taken from; may be empty."""


def find_file(directory: Path, name: str) -> DirectoryFile | None:
    """The file of the entry called `name`; None when the manifest has no such entry.

    Raises:
        FileNotFoundError: there is no manifest, or a file it names is missing.
        ValueError: the manifest is malformed, or the file is not the one it describes.
    """
    entries = [entry for entry in _entries(directory / MANIFEST) if entry["name"] == name]
    if len(entries) > 1:
        raise ValueError(
            f"{directory / MANIFEST} has {len(entries)} entries named {name!r}; expected one. "
            "Remove the others."
        )
    return _verified(directory, entries[0]) if entries else None


def _verified(directory: Path, entry: dict[str, Any]) -> DirectoryFile:
    path, stated = directory / entry["file"], entry["sha256"]
    if not path.resolve().is_relative_to(directory.resolve()):
        raise ValueError(
            f"{directory / MANIFEST}, entry {entry['name']!r}: file is {entry['file']!r}; "
            "expected a file of the directory. Put it there."
        )
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise FileNotFoundError(
            f"{path} is missing; expected the file of {entry['name']!r} that {MANIFEST} names. Restore it, "
            "or remove the entry to take the rows from the hub."
        ) from None
    if found != stated.lower():
        raise ValueError(
            f"{path} has SHA-256 {found}; expected {stated}, as {MANIFEST} says. "
            "Restore the file, or correct the manifest if the change is meant."
        )
    return DirectoryFile(
        path=path, sha256=found, licence=entry.get("license") or "", revision=entry.get("commit") or ""
    )


def _entries(path: Path) -> list[dict[str, Any]]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"{path} is missing; expected the manifest of the directory in CG_BENCHMARKS_DIR. "
            "Correct the variable, or unset it to take rows from the hub."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); expected a manifest. Correct it.") from None
    listed = document.get("benchmarks") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError(f'{path} is {show(document)}; expected {{"benchmarks": [entries]}}. Correct it.')
    for number, entry in enumerate(listed, start=1):
        _check_entry(path, number, entry)
    return listed


def _check_entry(path: Path, number: int, entry: Any) -> None:
    given = entry if isinstance(entry, dict) else {}
    required = {key: given.get(key) for key in ("name", "file", "sha256")}
    optional = {key: given.get(key) or "" for key in ("license", "commit")}
    for key, value in {**required, **optional}.items():
        if not isinstance(value, str) or (key in required and not value):
            raise ValueError(f"{path}, entry {number}: {key} is {show(value)}; expected text. Correct it.")
