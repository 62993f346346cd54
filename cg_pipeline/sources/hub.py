"""Rows of a data set on the Hugging Face hub, fetched through `datasets` and handed on as JSON lines.

Only Parquet, JSON and CSV at a pinned commit: nothing that runs code, nothing that changes under
the same name. Files that a benchmark names one by one are downloaded as they are. `datasets`
is imported when rows are fetched, and not before: it takes seconds.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cg_pipeline.sources.hub_answers import looked_at
from cg_pipeline.sources.hub_errors import explain, is_unreadable, wait_asked_for
from cg_pipeline.sources.hub_files import file_name, rows_of_file
from cg_pipeline.sources.json_lines import show
from cg_pipeline.specs import HubRows

TRIES = 4
LONGEST_WAIT_S = 120.0
"""A server that asks for a longer pause is not waited for."""

_BUILDERS = ("parquet", "json", "csv")


def fetch_rows(
    pin: HubRows, columns: frozenset[str], cache_dir: Path, sleep: Callable[[float], None] = time.sleep
) -> bytes:
    """The rows of all configurations or files, one JSON object a line, with the columns asked for.

    A column `config` is the name of the configuration or file that a row is from.

    Raises:
        PermissionError: the data set is gated, and the token in HF_TOKEN has no access to it.
        LookupError: data set or commit do not exist.
        ConnectionError: the hub cannot be reached, refuses for now, broke off, or something in between
            answered in its place; worth another try.
        ValueError: the data are not what the spec says: configuration, split or file do not exist.
    """
    again = False
    for attempt in range(1, TRIES + 1):
        try:
            with looked_at(LONGEST_WAIT_S):
                return _fetch(pin, columns, cache_dir, again=again)
        except Exception as error:  # told apart by what lies beneath: `datasets` wraps most of it
            if is_unreadable(error) and not again and attempt < TRIES:
                again = True
                continue
            wait = wait_asked_for(error, attempt)
            if wait is None or wait > LONGEST_WAIT_S or attempt == TRIES:
                raise explain(error, pin, has_token=bool(_token()), twice=again) from error
            sleep(wait)
    raise AssertionError("the last try returns or raises")


def _fetch(pin: HubRows, columns: frozenset[str], cache_dir: Path, *, again: bool) -> bytes:
    """The rows; `again` downloads anew what `huggingface_hub` keeps, which may be what is damaged."""
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
    _check_files(pin, {sibling.rfilename for sibling in found.siblings or ()})
    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        lines = [line for part in pin.parts for line in _lines(pin, part, columns, scratch, again)]
    return b"".join(lines)


def _check_files(pin: HubRows, present: set[str]) -> None:
    for file in pin.files:
        if file not in present:
            raise ValueError(
                f"Data set {pin.repo!r} has no file {file!r} at commit {pin.revision}; expected all that the "
                f"benchmark names. It has {show(sorted(present))}. Correct the benchmark's source."
            )


def _lines(pin: HubRows, part: str, columns: frozenset[str], scratch: str, again: bool) -> Iterator[bytes]:
    rows = (
        _rows_of_file(pin, part, scratch)  # kept nowhere else, so always downloaded
        if pin.files
        else _rows_of_config(pin, part, columns, scratch, again)
    )
    told = {"config": file_name(part) if pin.files else part} if "config" in columns else {}
    for number, row in enumerate(rows, start=1):
        wanted = {name: value for name, value in row.items() if name in columns}
        yield _line(pin, part, number, {**wanted, **told})


def _rows_of_file(pin: HubRows, file: str, scratch: str) -> Iterator[dict[str, Any]]:
    from huggingface_hub import hf_hub_download

    path = hf_hub_download(
        pin.repo, file, repo_type="dataset", revision=pin.revision, token=_token(), cache_dir=scratch
    )
    return rows_of_file(pin, file, Path(path).read_bytes())


def _rows_of_config(
    pin: HubRows, config: str, columns: frozenset[str], scratch: str, again: bool
) -> Iterable[dict[str, Any]]:
    from datasets import DownloadMode, load_dataset

    rows: Any = load_dataset(
        pin.repo,
        config,
        split=pin.split,
        revision=pin.revision,
        token=_token(),
        cache_dir=scratch,
        download_mode=DownloadMode.FORCE_REDOWNLOAD if again else None,
    )
    if (kind := rows.info.builder_name) not in _BUILDERS:
        raise ValueError(
            f"Data set {pin.repo!r} is stored as {kind}; expected {' or '.join(_BUILDERS)}. "
            "Take another one, or convert it."
        )
    return rows.select_columns([name for name in rows.column_names if name in columns])


def _line(pin: HubRows, part: str, number: int, row: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Data set {pin.repo!r}, row {number} of {part}: {show(dict(row))} cannot be written as "
            f"JSON ({error}); expected texts, numbers and lists. Read other columns."
        ) from None


def _token() -> str | None:
    return os.environ.get("HF_TOKEN") or None
