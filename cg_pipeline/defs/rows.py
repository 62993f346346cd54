"""The rows a benchmark is made of: found where they are stored, or fetched once.

Shared by the assets that store them and by `freshness`, which asks what is there without
fetching anything.
"""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from cg_pipeline import pipeline
from cg_pipeline.records import Example, StoredRows
from cg_pipeline.sources.lines import read_bytes
from cg_pipeline.sources.origins import Origin, bring, count_rows, origins_of, read_stored
from cg_pipeline.sources.row_checks import Reading
from cg_pipeline.specs import Benchmark, Study
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.row_files import Kept, find_rows, keep_rows


def stored_rows(benchmark: Benchmark, layout: Layout, directory: str) -> list[StoredRows] | None:
    """What is stored of the rows that the catalogue names now; None while some must still be fetched."""
    found = [_find(benchmark, origin, layout) for origin in origins_of(benchmark, layout.data_dir, directory)]
    complete = [rows for rows in found if rows is not None]
    return complete if len(complete) == len(found) else None


def bring_rows(benchmark: Benchmark, layout: Layout, directory: str) -> list[StoredRows]:
    """The same, after fetching what is not there."""
    origins = origins_of(benchmark, layout.data_dir, directory)
    return [_find(benchmark, origin, layout) or _fetch(benchmark, origin, layout) for origin in origins]


def read_benchmark(benchmark: Benchmark, rows: list[StoredRows], layout: Layout) -> dict[str, Reading]:
    """What was read of stored rows, by role: `asked` and, where the benchmark names some, `shots`."""
    return {each.role: _read(benchmark, each, layout.data_dir / each.path) for each in rows}


def examples_of(benchmark: Benchmark, readings: dict[str, Reading], study: Study) -> list[Example]:
    """The examples a study asks of what was read."""
    shown = readings.get("shots")
    return pipeline.choose_examples(benchmark, readings["asked"].posed, shown.posed if shown else None, study)


def checksums(rows: list[StoredRows], layout: Layout) -> dict[str, str]:
    """SHA-256 of the files of stored rows that are there, by path."""
    paths = [each.path for each in rows if (layout.data_dir / each.path).is_file()]
    return {path: sha256((layout.data_dir / path).read_bytes()).hexdigest() for path in paths}


def _read(benchmark: Benchmark, rows: StoredRows, file: Path) -> Reading:
    """Faults are named where they can be mended: in the local file, or in what was copied."""
    named = replace(rows, place=str(file)) if rows.origin == "local" else rows
    return read_stored(benchmark, named, read_bytes(file))


def _find(benchmark: Benchmark, origin: Origin, layout: Layout) -> StoredRows | None:
    if origin.kind == "local":
        path = Path(origin.place)
        n_rows = count_rows(origin.place, read_bytes(path))
        own = Kept(path=str(path.relative_to(layout.data_dir)), sha256=origin.sha256, n_rows=n_rows)
        return _described(benchmark, replace(origin, place=own.path), own)
    kept = find_rows(layout, benchmark.name, origin.fingerprint)
    return None if kept is None else _described(benchmark, origin, kept)


def _fetch(benchmark: Benchmark, origin: Origin, layout: Layout) -> StoredRows:
    payload = bring(benchmark, origin, layout.cache / "datasets")
    n_rows = count_rows("rows.jsonl", payload)
    return _described(
        benchmark, origin, keep_rows(layout, benchmark.name, origin.fingerprint, payload, n_rows)
    )


def _described(benchmark: Benchmark, origin: Origin, kept: Kept) -> StoredRows:
    return StoredRows(
        benchmark=benchmark.name,
        role=origin.role,
        origin=origin.kind,
        place=origin.place,
        fingerprint=origin.fingerprint,
        path=kept.path,
        sha256=kept.sha256,
        n_rows=kept.n_rows,
        revision=origin.revision,
        licence=origin.licence,
    )
