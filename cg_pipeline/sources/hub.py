"""Rows of a data set on the Hugging Face hub, fetched through `datasets` and handed on as JSON lines.

Only Parquet and JSON at a pinned commit: nothing that runs code, nothing that changes under
the same name. `datasets` is imported when rows are fetched, and not before: it takes seconds.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cg_pipeline.sources.hub_errors import explain, wait_asked_for
from cg_pipeline.sources.json_lines import show
from cg_pipeline.specs import HubRows

TRIES = 4
LONGEST_WAIT_S = 120.0
"""A server that asks for a longer pause is not waited for."""

_BUILDERS = ("parquet", "json")


def fetch_rows(
    pin: HubRows, columns: frozenset[str], cache_dir: Path, sleep: Callable[[float], None] = time.sleep
) -> bytes:
    """The rows of all configurations, one JSON object a line, with the columns asked for.

    Raises:
        PermissionError: the data set is gated, and the token in HF_TOKEN has no access to it.
        LookupError: data set, configuration, split or commit do not exist.
        ConnectionError: the hub cannot be reached, refuses for now, or broke off; worth another try.
        ValueError: the data are not what the spec says.
    """
    for attempt in range(1, TRIES + 1):
        try:
            return _fetch(pin, columns, cache_dir)
        except Exception as error:  # told apart by what lies beneath: `datasets` wraps most of it
            wait = wait_asked_for(error, attempt)
            if wait is None or wait > LONGEST_WAIT_S or attempt == TRIES:
                raise explain(error, pin, has_token=bool(_token())) from error
            sleep(wait)
    raise AssertionError("the last try returns or raises")


def _fetch(pin: HubRows, columns: frozenset[str], cache_dir: Path) -> bytes:
    from huggingface_hub import HfApi

    hub = HfApi(token=_token())
    found = hub.dataset_info(pin.repo, revision=pin.revision)
    if found.gated:  # asked first: `datasets` drops the answer beneath its own error
        hub.auth_check(pin.repo, repo_type="dataset")
    if found.sha != pin.revision:
        raise ValueError(
            f"Data set {pin.repo!r} is at commit {found.sha}; expected {pin.revision}, which the benchmark "
            "pins. Pin a full commit hash, and raise the benchmark's version if the data changed."
        )
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        lines = [line for config in pin.configs for line in _lines(pin, config, columns, scratch)]
    return b"".join(lines)


def _lines(pin: HubRows, config: str, columns: frozenset[str], scratch: str) -> Iterator[bytes]:
    from datasets import load_dataset

    rows: Any = load_dataset(
        pin.repo, config, split=pin.split, revision=pin.revision, token=_token(), cache_dir=scratch
    )
    if (kind := rows.info.builder_name) not in _BUILDERS:
        raise ValueError(
            f"Data set {pin.repo!r} is stored as {kind}; expected {' or '.join(_BUILDERS)}. "
            "Take another one, or convert it."
        )
    wanted = [name for name in rows.column_names if name in columns]
    for index, row in enumerate(rows.select_columns(wanted)):
        yield _line(pin, index, row)


def _line(pin: HubRows, index: int, row: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Data set {pin.repo!r}, row {index + 1} of {pin.split}: {show(dict(row))} cannot be written as "
            f"JSON ({error}); expected texts, numbers and lists. Read other columns."
        ) from None


def _token() -> str | None:
    return os.environ.get("HF_TOKEN") or None
