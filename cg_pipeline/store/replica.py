"""The published warehouse: a complete copy that anyone may keep open, replaced as a whole.

*Why a copy:* DuckDB lets either one writer or many readers open a file. A notebook that
keeps the live file open would stop the pipeline; one that keeps the replica open goes on
reading the version it opened, and sees the next one when it opens it again.
"""

import filecmp
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from cg_pipeline.store.files import copy_whole
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.sql import literal

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,  # partitions are small: two threads cost twice the time here, handing work over
    "memory_limit": "2GB",
    "autoinstall_known_extensions": False,  # nothing is fetched from the network
    "python_enable_replacements": False,  # a table's name never means a Python variable
}


def is_current(layout: Layout) -> bool:
    """Whether the replica is a copy of the live file as it is now."""
    if not layout.published.exists() or wal(layout).exists():
        return False
    live, published = layout.live.stat(), layout.published.stat()
    alike = (live.st_mtime_ns, live.st_size) == (published.st_mtime_ns, published.st_size)
    return alike and filecmp.cmp(layout.live, layout.published, shallow=False)


def copy_live(layout: Layout) -> None:
    """Publish the live file; the caller holds the lock, and the file is closed and checkpointed.

    The replica is read-only by its mode. A write-ahead log beside it can only stem from a
    client that opened it for writing all the same; it is removed, because DuckDB would
    replay it into the new file.
    """
    layout.published.with_name(f"{layout.published.name}.wal").unlink(missing_ok=True)
    copy_whole(layout.live, layout.published, mode=0o444)


def wal(layout: Layout) -> Path:
    """Path of the live file's write-ahead log, there only while it is open or after a crash."""
    return layout.live.with_name(f"{layout.live.name}.wal")


def query(layout: Layout, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> pa.Table:
    """The result of one query on the replica, as it is at this moment; nothing else can be reached by it.

    *Why attach:* a process that opens a path twice is given the database it has open, even
    when the file has been replaced; a database attached to a fresh memory database is read anew.

    Raises:
        FileNotFoundError: nothing has been published yet.
    """
    if not layout.published.exists():
        raise FileNotFoundError(
            f"{layout.published} does not exist; expected a published warehouse. Run `cg demo` first."
        )
    with duckdb.connect(":memory:", config=SETTINGS) as connection:
        connection.execute(f"ATTACH {literal(str(layout.published))} AS published (READ_ONLY)")
        connection.execute("USE published; SET enable_external_access = false; SET lock_configuration = true")
        return connection.execute(sql, parameters or None).to_arrow_table()
