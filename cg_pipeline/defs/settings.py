"""What a deployment sets once, for the command line, the UI and schedules alike: `settings.toml`.

A file in the data directory with a table for each resource that has settings, all of them optional:

    [gpu]
    engine = "vllm"

    [servers]
    concurrency = 16
    prices = { my_api_model = [0.5, 1.5] }

*Why not run configuration:* it belongs to one run, and what one run set another would find stale.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pydantic

from cg_pipeline.catalog import lookup
from cg_pipeline.defs.labelling import Labeller
from cg_pipeline.defs.resources import CodeSandbox, Gpu, Judging, Servers, Store

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
        ValueError: the file is no TOML, or names or holds what there is not; every fault is in the message.
    """
    path = store.layout.data_dir / SETTINGS
    tables = _read(path) if path.exists() else {}
    faults = [*_unknown("table", tables, _SETTABLE)]
    found = {}
    for name, kind in _SETTABLE.items():
        given = tables.get(name, {})
        if not isinstance(given, dict):
            faults.append(f"{name} is {given!r}; expected a table [{name}]. Correct it.")
            continue
        faults += _unknown(f"setting {name}", given, set(kind.model_fields) - {_STORE})
        try:
            found[name] = kind(**{**given, **({_STORE: store} if _STORE in kind.model_fields else {})})
        except pydantic.ValidationError as error:
            faults += [_sentence(name, each) for each in error.errors()]
    if faults:
        raise ValueError("\n".join(f"{path}: {fault}" for fault in faults))
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ValueError(f"{path}: {error}; expected TOML, such as [gpu]. Correct it.") from None


def _unknown(noun: str, given: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    for name in given:
        try:
            lookup(noun, name, dict.fromkeys(sorted(known)))
        except KeyError as error:
            yield f"{error.args[0]} Remove it, or correct its name."


def _sentence(table: str, error: Any) -> str:
    key = ".".join(map(str, (table, *error["loc"])))
    wanted = error["msg"].removeprefix("Input should be ")
    return f"{key} is {error['input']!r}; expected {wanted}. Correct it."
