"""Catalogues: one module per thing, one constant per module, found by name.

Adding a benchmark, model, SAE, metric, scoring policy or study is adding one file to its
folder; nothing else has to be edited.
"""

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


def collect(package: str, path: Iterable[str], constant: str, spec: type[T]) -> dict[str, T]:
    """Read `constant` from every module of a package, by the module's name, in alphabetical order.

    `package` and `path` are the package's own `__name__` and `__path__`.

    Raises:
        TypeError: a module has no such constant, or it is of another type.
        ValueError: the spec's name differs from its file's name.
    """
    found: dict[str, T] = {}
    for info in sorted(pkgutil.iter_modules(path), key=lambda info: info.name):
        module = importlib.import_module(f"{package}.{info.name}")
        value = getattr(module, constant, None)
        if not isinstance(value, spec):
            got = f"no {constant}" if value is None else f"{constant} = {value!r}"
            raise TypeError(
                f"{module.__name__} defines {got}; expected `{constant} = {spec.__name__}(…)`. "
                f"Each module of {package} holds exactly one."
            )
        name = getattr(value, "name", None)
        if name != info.name:
            raise ValueError(
                f"{module.__name__} names its {spec.__name__} {name!r}; "
                f"expected {info.name!r}, the name of its file. Rename one of the two."
            )
        found[info.name] = value
    return found


def lookup(noun: str, name: str, known: Mapping[str, T]) -> T:
    """The entry called `name`, or a `KeyError` that suggests the closest known one."""
    if name in known:
        return known[name]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise KeyError(f"Unknown {noun} {name!r}.{hint} Known: {', '.join(known) or 'none'}.")
