"""Where a benchmark's rows come from: one order of preference, decided without touching the network.

1. A `LocalRows` source is always its own file below the data directory.
2. Else the directory of benchmark files (CG_BENCHMARKS_DIR), if one is set and has the benchmark.
3. Else the hub, at the pinned commit.

Worked examples follow the rows they belong to: where those come from a directory that has
no `<name>_shots`, worked examples are held out of the rows themselves, for a site without
network must be able to run.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_type_hints

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.records import StoredRows, content_id
from cg_pipeline.sources.benchmark_directory import find_file
from cg_pipeline.sources.hub import fetch_rows
from cg_pipeline.sources.lines import read_bytes, read_lines
from cg_pipeline.sources.row_checks import (
    Reading,
    Shape,
    hub_shape,
    normalised_shape,
    own_shape,
    read_rows,
)
from cg_pipeline.specs import Benchmark, HubRows, LocalRows

Role = Literal["asked", "shots"]
_SHOWN_PARTS = 8

SHAPES: dict[str, Callable[[Benchmark], Shape]] = {
    "local": own_shape,
    "directory": normalised_shape,
    "hub": hub_shape,
}
"""What rows of each origin look like."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where rows are, and what tells them from others."""

    role: Role
    kind: Literal["local", "directory", "hub"]
    place: str
    """For people: the file, or data set, configurations or files, split and commit."""
    fingerprint: str
    """Hash of the file's content, or of the pin on the hub."""
    licence: str
    revision: str = ""
    sha256: str = ""
    """Of the file's content, where it is one."""
    pin: HubRows | None = None
    """What to fetch, where it is the hub."""


def origins_of(benchmark: Benchmark, data_dir: Path, directory: str) -> list[Origin]:
    """Where the rows that are asked come from, and after it, if there are any, the worked examples.

    Raises:
        FileNotFoundError: a file, or the directory's manifest, is missing.
        ValueError: the directory's manifest is malformed or its file is another one.
    """
    asked = _origin(benchmark, "asked", benchmark.source, data_dir, directory)
    if benchmark.shots is None or benchmark.n_shots == 0:
        return [asked]
    shots = _origin(benchmark, "shots", benchmark.shots, data_dir, directory)
    return [asked] if (asked.kind, shots.kind) == ("directory", "hub") else [asked, shots]


def _origin(
    benchmark: Benchmark, role: Role, source: LocalRows | HubRows, data_dir: Path, directory: str
) -> Origin:
    if isinstance(source, LocalRows):
        return _of_file(benchmark, role, data_dir / source.path)
    name = benchmark.entry or benchmark.name
    entry = name if role == "asked" else f"{name}_{role}"
    if directory and (found := find_file(Path(directory), entry)):
        return Origin(
            role=role,
            kind="directory",
            place=str(found.path),
            fingerprint=found.sha256[:16],
            licence=found.licence or benchmark.licence,
            revision=found.revision,
            sha256=found.sha256,
        )
    return _of_pin(benchmark, role, source)


def _of_file(benchmark: Benchmark, role: Role, path: Path) -> Origin:
    digest = hashlib.sha256(read_bytes(path)).hexdigest()
    return Origin(
        role=role,
        kind="local",
        place=str(path),
        fingerprint=digest[:16],
        licence=benchmark.licence,
        sha256=digest,
    )


def _of_pin(benchmark: Benchmark, role: Role, pin: HubRows) -> Origin:
    """How files fall into rows counts, and so do the columns kept: who reads others needs the rows again."""
    columns = sorted(columns_of(benchmark))
    return Origin(
        role=role,
        kind="hub",
        place=f"{pin.repo} ({_listed(pin.parts)}), {pin.split}, {pin.revision[:12]}",
        fingerprint=content_id("hub", fingerprint(replace(pin, gated="")), columns),
        licence=benchmark.licence,
        revision=pin.revision,
        pin=pin,
    )


def _listed(parts: tuple[str, ...]) -> str:
    """The first few names."""
    more = f" and {len(parts) - _SHOWN_PARTS} more" if len(parts) > _SHOWN_PARTS else ""
    return ", ".join(parts[:_SHOWN_PARTS]) + more


def bring(benchmark: Benchmark, origin: Origin, cache_dir: Path) -> bytes:
    """The rows of an origin as JSON lines: fetched from the hub, or read from the directory.

    Raises:
        ValueError: the file changed while it was looked at; and what `hub.fetch_rows` raises.
    """
    if origin.pin:
        return fetch_rows(origin.pin, columns_of(benchmark), cache_dir)
    payload = read_bytes(Path(origin.place))
    if (found := hashlib.sha256(payload).hexdigest()) != origin.sha256:
        raise ValueError(
            f"{origin.place} has SHA-256 {found}; expected {origin.sha256}. Leave it alone and retry."
        )
    return payload


def count_rows(path: str, payload: bytes) -> int:
    """Rows of a file, faulty ones among them."""
    return sum(1 for _ in read_lines(path, payload))


def columns_of(benchmark: Benchmark) -> frozenset[str]:
    """The fields of a raw row that the benchmark reads."""
    return frozenset(get_type_hints(benchmark.row))


def read_stored(benchmark: Benchmark, rows: StoredRows, payload: bytes) -> Reading:
    """The examples of stored rows, given the content of their file.

    Raises:
        ValueError: the file has changed since, or some of its rows are faulty.
    """
    found = hashlib.sha256(payload).hexdigest()
    if found != rows.sha256:
        raise ValueError(
            f"{rows.path} has SHA-256 {found}; expected {rows.sha256}, as when the rows of "
            f"{benchmark.name!r} were stored. Run again."
        )
    shape = SHAPES[rows.origin](benchmark)
    return read_rows(benchmark, rows.place, read_lines(rows.path, payload), shape)
