"""Rows of benchmarks that were fetched once: a file per benchmark and fingerprint, and its completion mark.

The mark is written after the file and holds its checksum; a file without one, or with
another content, does not count. So a fetch that was cut short is fetched again, and rows
that are there are never asked for twice.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from cg_pipeline.store.files import write_whole
from cg_pipeline.store.layout import Layout


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A complete file of rows."""

    path: str
    """Relative to the data directory."""
    sha256: str
    n_rows: int


def keep_rows(layout: Layout, benchmark: str, fingerprint: str, payload: bytes, n_rows: int) -> Kept:
    """Store the rows of a benchmark, JSON lines, under the fingerprint of their origin."""
    path, mark = _paths(layout, benchmark, fingerprint)
    kept = Kept(
        path=str(path.relative_to(layout.data_dir)),
        sha256=hashlib.sha256(payload).hexdigest(),
        n_rows=n_rows,
    )
    mark.unlink(missing_ok=True)
    write_whole(path, payload)
    write_whole(mark, json.dumps(asdict(kept)).encode())
    return kept


def find_rows(layout: Layout, benchmark: str, fingerprint: str) -> Kept | None:
    """The rows stored under a fingerprint; None if there are none, or not all of them, or others."""
    path, mark = _paths(layout, benchmark, fingerprint)
    try:
        stated = json.loads(mark.read_bytes())
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        kept = Kept(**{**stated, "path": str(path.relative_to(layout.data_dir))})
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return kept if kept.sha256 == found else None


def _paths(layout: Layout, benchmark: str, fingerprint: str) -> tuple[Path, Path]:
    directory = layout.rows(benchmark)
    return directory / f"{fingerprint}.jsonl", directory / f"{fingerprint}.complete.json"
