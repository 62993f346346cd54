"""What a deployment sets once, for the command line, the UI and schedules alike: `settings.toml`.

A file in the data directory with a table for each resource that has settings, all of them optional:

    [gpu]
    engine = "vllm"

    [servers]
    concurrency = 16
    prices = { my_api_model = [0.5, 1.5] }

*Why not run configuration:* it belongs to one run, and what one run set another would find stale.
"""

import math
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pydantic

from cg_pipeline.catalog import lookup
from cg_pipeline.defs.labelling import Labeller
from cg_pipeline.defs.resources import CodeSandbox, Gpu, Judging, Servers, Store
from cg_pipeline.models import MODELS
from cg_pipeline.sources.json_lines import show
from cg_pipeline.sources.plain_files import read_plain_file
from cg_pipeline.specs import ServedModel

SETTINGS = "settings.toml"
_STORE = "store"
_SETTABLE: Mapping[str, type[dg.ConfigurableResource[Any]]] = {
    "gpu": Gpu,
    "servers": Servers,
    "judging": Judging,
    "code_sandbox": CodeSandbox,
    "labeller": Labeller,
}


def configured(store: Store) -> dict[str, Any]:
    """The resources that have settings, by name, as `settings.toml` of the data directory says.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no TOML, or names or holds what there is not; every fault is in the message.
    """
    path = store.layout.data_dir / SETTINGS
    tables = _read(path) if os.path.lexists(path) else {}
    faults = [*_unknown("table", tables, _SETTABLE)]
    found = {}
    for name, kind in _SETTABLE.items():
        given = tables.get(name, {})
        if not isinstance(given, dict):
            faults.append(f"{name} is {show(given)}; expected a table [{name}]. Correct it.")
            continue
        faults += _unknown(f"setting {name}", given, set(kind.model_fields) - {_STORE})
        faults += _truth_values(name, given)
        try:
            found[name] = kind(**{**given, **({_STORE: store} if _STORE in kind.model_fields else {})})
        except pydantic.ValidationError as error:
            faults += [_sentence(name, each) for each in error.errors()]
    if "servers" in found:
        faults += _wrong_prices(found["servers"].prices)
    if faults:
        raise ValueError("\n".join(f"{path}: {fault}" for fault in faults))
    return found


def _read(path: Path) -> dict[str, Any]:
    payload = read_plain_file(path, "TOML, such as [gpu]. Correct it.")
    try:
        return tomllib.loads(payload.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}; expected TOML, such as [gpu]. Correct it.") from None
    except RecursionError:
        raise ValueError(
            f"{path}: nested too deep to read; expected tables of settings. Flatten it."
        ) from None


def _unknown(noun: str, given: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    for name in given:
        try:
            lookup(noun, name, dict.fromkeys(sorted(known)))
        except KeyError as error:
            yield f"{error.args[0]} Remove it, or correct its name."


def _truth_values(table: str, given: Mapping[str, Any]) -> Iterator[str]:
    """No setting is one, and a number would take it for 1."""
    for key, value in given.items():
        if isinstance(value, bool):
            yield f"{table}.{key} is {value}; expected a number, a text or a table. Correct it."


def _wrong_prices(prices: Mapping[str, list[float]]) -> Iterator[str]:
    """Prices that no bill would ever show, or show rightly."""
    yield from _unknown("model in servers.prices", prices, MODELS)
    for name, pair in prices.items():
        if name in MODELS and not isinstance(MODELS[name].weights, ServedModel):
            yield f"servers.prices.{name} is {pair}; expected a model behind a server. Remove it."
        if len(pair) != 2 or not all(0 <= price < math.inf for price in pair):
            yield (
                f"servers.prices.{name} is {show(pair)}; expected two numbers of at least 0, per million "
                "tokens read and written. Correct it."
            )


def _sentence(table: str, error: Any) -> str:
    """A fault that pydantic found; a setting with a pattern says in its description what is expected."""
    key, wanted = ".".join(map(str, (table, *error["loc"]))), error["msg"].removeprefix("Input should be ")
    if error["type"] == "string_pattern_mismatch":
        wanted = _SETTABLE[table].model_fields[error["loc"][0]].description
    return f"{key} is {show(error['input'])}; expected {wanted}. Correct it."
