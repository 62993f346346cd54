"""Documents of a data set on the Hugging Face hub, streamed through `datasets` at a pinned commit.

Nothing is kept on disk, and nothing of a repository is run. The order is the data set's own: one whose
rows are sorted by topic is better shuffled by its authors, for a reader of the first million rows sees the
first million only.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from cg_pipeline.sources.hub_errors import TRAINING, explain, wait_asked_for
from cg_pipeline.sources.json_lines import show
from cg_pipeline.training_specs import HubText

TRIES = 4
LONGEST_WAIT_S = 120.0
"""A server that asks for a longer pause is not waited for."""

_BUILDERS = ("parquet", "json", "csv", "text")


def hub_documents(pin: HubText, start: int = 0, sleep: Callable[[float], None] = time.sleep) -> Iterator[str]:
    """The documents from the `start`-th row on; rows without text are empty documents.

    A connection that breaks off is opened again where it was, a few times between two rows.

    Raises:
        PermissionError: the data set is gated, and the token in HF_TOKEN has no access to it.
        LookupError: data set or commit do not exist.
        ConnectionError: the hub cannot be reached, refuses for now, or broke off; worth another try.
        ValueError: the data are not what the spec says: configuration, split or field do not exist.
    """
    reached, failed = start, 0
    while True:
        try:
            for row in _rows(pin, reached):
                yield _text(pin, reached, row)
                reached, failed = reached + 1, 0
            return
        except Exception as error:  # told apart by what lies beneath: `datasets` wraps most of it
            failed += 1
            wait = wait_asked_for(error, failed)
            if wait is None or wait > LONGEST_WAIT_S or failed == TRIES:
                raise explain(error, pin, has_token=bool(_token()), asker=TRAINING) from error
            sleep(wait)


def _rows(pin: HubText, start: int) -> Iterator[Any]:
    from datasets import load_dataset
    from huggingface_hub import HfApi

    hub = HfApi(token=_token())
    found = hub.dataset_info(pin.repo, revision=pin.revision)
    if found.gated:  # asked first: `datasets` drops the answer beneath its own error
        hub.auth_check(pin.repo, repo_type="dataset")
    if found.sha != pin.revision:
        raise ValueError(
            f"Data set {pin.repo!r} is at commit {found.sha}; expected {pin.revision}, which the training's "
            "text pins. Pin a full commit hash."
        )
    rows: Any = load_dataset(
        pin.repo, pin.config, split=pin.split, revision=pin.revision, token=_token(), streaming=True
    )
    if (kind := rows.info.builder_name) not in _BUILDERS:
        raise ValueError(
            f"Data set {pin.repo!r} is stored as {kind}; expected {' or '.join(_BUILDERS)}. "
            "Take another one, or convert it."
        )
    return iter(rows.skip(start))


def _text(pin: HubText, number: int, row: dict[str, Any]) -> str:
    if pin.field not in row:
        raise ValueError(
            f"Data set {pin.repo!r}, row {number} has the fields {show(sorted(row))}; expected "
            f"{pin.field!r}. Name the field that holds the text."
        )
    value = row[pin.field]
    if value is not None and not isinstance(value, str):
        raise ValueError(
            f"Data set {pin.repo!r}, row {number}: {pin.field!r} is {show(value)}; expected text. "
            "Name another field."
        )
    return value or ""


def _token() -> str | None:
    return os.environ.get("HF_TOKEN") or None
