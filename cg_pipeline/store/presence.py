"""Whether what a row points to is still there: shards, labels, files of a report."""

from typing import Any

from cg_pipeline.store.materialisations import Partition
from cg_pipeline.store.schema import TABLES
from cg_pipeline.store.shards import ShardSet
from cg_pipeline.store.warehouse import Warehouse


def files_are_there(warehouse: Warehouse, asset: str, partition: Partition) -> bool:
    """Whether every file that an asset's partition keeps beside its rows exists, shards with their size."""
    if asset not in _FILES:
        return True
    rows: Any = warehouse.load(TABLES[asset], [partition])
    return all(_FILES[asset](warehouse, row) for row in rows)


def _shards_are_there(warehouse: Warehouse, row: Any) -> bool:
    try:
        return ShardSet.open(warehouse.layout.declared(row.path)).is_complete()
    except FileNotFoundError:
        return False


def _report_is_there(warehouse: Warehouse, row: Any) -> bool:
    paths = [warehouse.layout.declared(path) for path in (row.html_path, row.markdown_path)]
    return all(path.is_file() and path.stat().st_size for path in paths)


def _labels_are_there(warehouse: Warehouse, row: Any) -> bool:
    path = warehouse.layout.declared(row.path)
    return path.is_file() and path.stat().st_size > 0


_FILES = {
    "activations": _shards_are_there,
    "completion_activations": _shards_are_there,
    "evidence": _shards_are_there,
    "reader_fit": _shards_are_there,
    "gap_report": _report_is_there,
    "label_files": _labels_are_there,
}
