"""Files that are either the old one or the new one, never half of one, whenever the process dies."""

import os
import shutil
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, payload: bytes) -> None:
    """Write a file at once: a temporary neighbour, flushed to disk, then renamed over the target."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".tmp-{uuid4().hex}")
    try:
        with temporary.open("xb") as handle:
            handle.write(payload)
            handle.flush()
            os.fsync(handle.fileno())
        rename_durably(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def copy_whole(source: Path, target: Path, *, mode: int) -> None:
    """Copy a file at once, keeping its modification time; who has the old target open keeps it.

    The caller holds a lock: the temporary name is fixed, so that a killed copy leaves at
    most one file behind, which the next copy overwrites.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".tmp-{target.name}")
    temporary.unlink(missing_ok=True)
    try:
        shutil.copyfile(source, temporary)
        with temporary.open("rb+") as handle:
            os.fsync(handle.fileno())
        modified = source.stat().st_mtime_ns
        os.utime(temporary, ns=(modified, modified))
        temporary.chmod(mode)
        rename_durably(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def rename_durably(source: Path, target: Path) -> None:
    """Rename over the target and flush the directory, so that the rename outlives a power cut."""
    source.replace(target)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
