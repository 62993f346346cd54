"""Benchmark rows from our own files below the data directory, checked line by line."""

from pathlib import Path

from cg_pipeline.records import Example
from cg_pipeline.sources.lines import read_bytes, read_lines
from cg_pipeline.sources.row_checks import own_shape, read_rows
from cg_pipeline.specs import Benchmark, LocalRows


def read_examples(benchmark: Benchmark, data_dir: Path) -> list[Example]:
    """The benchmark's examples, in the order of its file: all of them, without worked ones before.

    Raises:
        FileNotFoundError: the file is not there.
        ValueError: the benchmark has no local file, or it is empty or has faulty lines.
    """
    if not isinstance(benchmark.source, LocalRows):
        raise ValueError(
            f"Benchmark {benchmark.name!r} comes from {benchmark.source.repo!r}; expected a local file. "
            "Materialise benchmark_rows and examples instead."
        )
    path = data_dir / benchmark.source.path
    return read_rows(
        benchmark, str(path), read_lines(str(path), read_bytes(path)), own_shape(benchmark)
    ).examples
