"""Hashes of files by their content, kept on disk so that weights of many gigabytes are read once.

A kept hash is believed as long as the file has the size and the modification time (in nanoseconds)
that it was computed for: what every build tool believes too.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4


def content_hash(paths: Iterable[Path], cache_dir: Path) -> str:
    """SHA-256 over the names and contents of files, in the order of their names; where they lie is nothing.

    Args:
        paths: files, no two of the same name.
        cache_dir: where the hash of each file is kept.

    Raises:
        FileNotFoundError: a file is missing.
    """
    lines = sorted(f"{path.name} {file_hash(path, cache_dir)}" for path in paths)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def file_hash(path: Path, cache_dir: Path) -> str:
    """SHA-256 of one file's content.

    Raises:
        FileNotFoundError: it is missing.
    """
    stamp = _stamp(path)
    kept = cache_dir / "hashes" / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]}.json"
    if (found := _read(kept, stamp)) is not None:
        return found
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if _stamp(path) == stamp:  # nobody wrote to it meanwhile
        _write(kept, {**stamp, "sha256": digest})
    return digest


def _stamp(path: Path) -> dict[str, str | int]:
    found = path.stat()
    return {"path": str(path.resolve()), "size": found.st_size, "mtime_ns": found.st_mtime_ns}


def _read(kept: Path, stamp: dict[str, str | int]) -> str | None:
    try:
        found = json.loads(kept.read_bytes())
        return str(found["sha256"]) if {**stamp, "sha256": found["sha256"]} == found else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _write(kept: Path, note: dict[str, str | int]) -> None:
    """At once, so that two processes may do it; a note lost in a power cut is made again."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    draft = kept.with_name(f".{uuid4().hex}")
    draft.write_text(json.dumps(note), encoding="utf-8")
    draft.replace(kept)
