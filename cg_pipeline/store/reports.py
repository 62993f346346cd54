"""Report files: written one by one, each whole, so that a reader never meets half a page."""

from collections.abc import Mapping
from pathlib import Path

from cg_pipeline.store.files import write_whole
from cg_pipeline.store.layout import Layout


def save_report(layout: Layout, model: str, files: Mapping[str, str]) -> dict[str, Path]:
    """Write a report's files below the model's directory; returns their paths from the data directory."""
    directory = layout.report(model)
    for name, text in files.items():
        write_whole(directory / name, text.encode("utf-8"))
    return {name: (directory / name).relative_to(layout.data_dir) for name in files}
