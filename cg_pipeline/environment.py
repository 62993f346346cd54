"""Where everything is: what environment variables say, made ready before anything is loaded."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cg_pipeline.store.files import write_whole
from cg_pipeline.store.locks import hold

if TYPE_CHECKING:
    from dagster import DagsterInstance

CHECKOUT = Path(__file__).parents[1]
_OPENING_S = 120.0
"""Longest wait for another process that opens Dagster's history."""


def data_directory() -> str:
    """The data directory: CG_DATA_DIR if set, else `data/` beside the package."""
    return str(Path(os.environ.get("CG_DATA_DIR") or CHECKOUT / "data").absolute())


def benchmarks_directory() -> str:
    """The directory of benchmark files: CG_BENCHMARKS_DIR if set, else none."""
    given = os.environ.get("CG_BENCHMARKS_DIR")
    return str(Path(given).absolute()) if given else ""


def prepare_environment() -> None:
    """Keep everything that libraries write below the data directory, and their progress bars out of files.

    Raises:
        ValueError: the data directory or Dagster's home cannot be used; the message says why.
    """
    data = Path(data_directory())
    if not data.is_dir():
        raise ValueError(
            f"CG_DATA_DIR is {str(data)!r}, which is not a directory; expected one with the benchmark files "
            f"in it. Copy {CHECKOUT / 'data'} there, or correct the name."
        )
    for name, place in (("CG_DATA_DIR", data), ("CG_BENCHMARKS_DIR", benchmarks_directory())):
        if os.environ.get(name):
            os.environ[name] = str(place)  # whoever is started elsewhere means the same place
    home = data / "dagster"
    defaults = {
        "DAGSTER_HOME": home,
        "CG_DAGSTER_STORAGE": home,
        "HF_HOME": data / "cache" / "huggingface",
        "MPLCONFIGDIR": data / "cache" / "matplotlib",
        "WANDB_MODE": "disabled",
        **({} if sys.stderr.isatty() else {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}),
        "TOKENIZERS_PARALLELISM": "false",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, str(value))
    _make_dagster_home(home)


def _make_dagster_home(ours: Path) -> None:
    for name in ("DAGSTER_HOME", "CG_DAGSTER_STORAGE"):
        place = Path(os.environ[name])
        remedy = "Set CG_DATA_DIR to another" if place == ours else f"Set {name} to another, or unset it"
        if not place.is_absolute() or set(str(place)) & set("?%#") or not str(place).isprintable():
            raise ValueError(
                f"{name} is {str(place)!a}; expected an absolute path without ?, %, # and control "
                f"characters, which Dagster's databases cannot be opened at. {remedy}."
            )
        try:
            place.mkdir(parents=True, exist_ok=True)
            if name == "DAGSTER_HOME" and place == ours:
                write_whole(ours / "dagster.yaml", (CHECKOUT / "dagster.yaml").read_bytes())
        except OSError as error:
            raise ValueError(
                f"{name} is {place}, which cannot be written ({error.strerror}); expected a directory that "
                f"may be changed. {remedy}, or change its permissions."
            ) from error


@contextmanager
def dagster_history() -> Iterator["DagsterInstance"]:
    """Dagster's history of runs, below DAGSTER_HOME.

    One process at a time opens it: two that make its databases at once damage them for good.
    """
    import alembic.util.exc
    import dagster as dg
    import sqlalchemy.exc

    place = Path(os.environ["CG_DAGSTER_STORAGE"])
    try:
        with hold(place / ".opening", exclusive=True, timeout_s=_OPENING_S):
            instance = dg.DagsterInstance.get()
            for storage in ("run_storage", "event_log_storage", "schedule_storage"):
                getattr(instance, storage)  # its databases are made when it is first asked for
    except (sqlalchemy.exc.DatabaseError, alembic.util.exc.CommandError) as error:
        raise _unusable(place, error) from error
    try:
        with instance:
            yield instance
    except sqlalchemy.exc.DatabaseError as error:
        raise _unusable(place, error) from error


def _unusable(place: Path, error: Exception) -> ValueError:
    return ValueError(
        f"Dagster's history in {place} cannot be used ({getattr(error, 'orig', None) or error}); "
        "expected its databases. If they are damaged and no run is using them, delete that folder: "
        "it holds no results."
    )
