"""Fingerprints: what tells one spec from another, in every process and on every machine.

Data counts by value. A function or class counts by its code, together with the constants,
helpers and imports of its own file that it leans on: editing a regular expression beside
a scoring function changes the policy, editing the title of a benchmark does not change
its rows. Comments, docstrings and layout never count.

Why imports are named but not followed: otherwise every result would depend on
`records.py`, and a reworded error message there would ask for all models to be run again.
Shared code that changes results raises the version of its stage (`identity.STAGES`). The
exceptions hold nothing but what specs share, and no record: `answers` (scoring policies), `families`
(benchmarks of one source) and `stats` (metrics, and the numbers that a policy reports besides the
mean). A policy counts together with the readers it uses, so that editing one rescores, and rescores
only, its users.
"""

import ast
import dataclasses
import functools
import importlib
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from cg_pipeline.records import content_id

_FOLLOWED = ("cg_pipeline.answers.", "cg_pipeline.families.", "cg_pipeline.stats.")


def fingerprint(spec: object) -> str:
    """Identity of a spec: a hash of every field, functions and classes counted by their code.

    Raises:
        TypeError: it holds something that another process could not tell apart, such as a lambda.
    """
    return content_id(_plain(spec))


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {"entries": sorted([content_id(_plain(key)), _plain(item)] for key, item in value.items())}
    if isinstance(value, functools.partial):
        return {"partial": _plain([value.func, value.args, value.keywords])}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"spec": type(value).__name__, "fields": fields}
    return _code(value)


def _code(value: Any) -> dict[str, str]:
    module, name = inspect.getmodule(value), getattr(value, "__qualname__", "")
    if module is None or not name or _named(module, name) is not value:
        raise TypeError(
            f"{value!r} has no fingerprint; expected text, a number, a spec, or a function or class "
            "that stands at the top of a file. Give a lambda, closure or method a name there."
        )
    if module.__name__ in sys.stdlib_module_names:
        return {"code": f"{module.__name__}.{name}"}
    return {"code": name, "leans_on": _code_of(module, name.split(".")[0])}


def _named(module: ModuleType, name: str) -> Any:
    return functools.reduce(lambda scope, part: getattr(scope, part, None), name.split("."), module)


@functools.cache
def _code_of(module: ModuleType, name: str) -> str:
    """Hash of a name's statement and all that it leans on, as first read in this process."""
    try:
        statements = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError):
        raise TypeError(
            f"{module.__name__}.{name} has no source to fingerprint; expected a file. Save it as one."
        ) from None
    leaned_on = _leaned_on(statements, name)
    followed = [_code_of(importlib.import_module(source), one) for source, one in _followed(leaned_on)]
    return content_id([_shape(statement) for statement in leaned_on], *([followed] if followed else []))


def _followed(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """Module and name of each import, also within functions, whose own code counts."""
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_FOLLOWED):
            yield from ((node.module or "", alias.name) for alias in node.names)


def _leaned_on(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements of a file that decide what a name means, in the file's order."""
    needed, chosen = {name}, list[ast.stmt]()
    while found := [one for one in statements if one not in chosen and needed & set(_decides(one))]:
        chosen.extend(found)
        needed.update(node.id for one in found for node in ast.walk(one) if isinstance(node, ast.Name))
    return [one for one in statements if one in chosen]


def _decides(statement: ast.stmt) -> Iterator[str]:
    """Names whose meaning a statement decides: those it defines; for a loop or bare call, all it mentions."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    else:
        yield from (
            node.id for part in _changed(statement) for node in ast.walk(part) if isinstance(node, ast.Name)
        )


def _changed(statement: ast.stmt) -> list[ast.AST]:
    if isinstance(statement, ast.Assign):
        return [*statement.targets]
    return [statement.target if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else statement]


def _shape(node: Any) -> Any:
    """A syntax tree as plain data. Empty parts are left out, for new Python versions add some."""
    if isinstance(node, list):
        return [_shape(item) for item in node if not _is_text(item)]
    if not isinstance(node, ast.AST):
        return repr(node)
    return [
        type(node).__name__,
        {name: _shape(part) for name, part in ast.iter_fields(node) if part is not None and part != []},
    ]


def _is_text(node: Any) -> bool:
    """Whether it is a docstring of a module, function, class or field: a statement that is only a text."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
