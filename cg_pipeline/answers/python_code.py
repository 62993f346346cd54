"""What Python source says of itself, without running it: whether it compiles, what it binds and needs."""

import ast
import builtins
import symtable
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

_BUILT_IN = frozenset(dir(builtins))
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def compiles(code: str) -> bool:
    """Whether Python takes the code as a module."""
    with suppress(*_UNREADABLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(code, "<answer>", "exec", dont_inherit=True)
        return True
    return False


class Statement:
    """A statement at the top of a module."""

    def __init__(self, node: ast.stmt, lines: list[str]) -> None:
        self.node = node
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        begin = min([node.lineno, *(each.lineno for each in decorators)])
        self.code = "\n".join(lines[begin - 1 : node.end_lineno])
        symbols = list(_symbols(self.code))
        self.binds = frozenset(_bound(self.code, symbols))
        self.needs = frozenset(_needed(symbols))

    @property
    def defines(self) -> bool:
        """Whether it only gives names to functions, classes and modules."""
        return isinstance(self.node, _DEFINITIONS)


@lru_cache(maxsize=64)
def statements_of(code: str) -> tuple[Statement, ...]:
    """The statements of a module, in order; none where it does not compile."""
    if not compiles(code):
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = code.split("\n")
        return tuple(Statement(node, lines) for node in ast.parse(code).body)


_Symbols = list[tuple[symtable.SymbolTable, symtable.Symbol]]


def _bound(code: str, symbols: _Symbols) -> Iterator[str]:
    """Names that a statement gives a value in its module; `*` for an import of everything."""
    if "import *" in code:
        yield "*"
    for table, symbol in symbols:
        if (table.get_type() == "module" and (symbol.is_assigned() or symbol.is_imported())) or (
            symbol.is_declared_global() and symbol.is_assigned()
        ):
            yield symbol.get_name()


def _needed(symbols: _Symbols) -> Iterator[str]:
    """Names that a statement takes from its module."""
    for table, symbol in symbols:
        top = table.get_type() == "module"
        if symbol.is_referenced() and (top or symbol.is_global()) and symbol.get_name() not in _BUILT_IN:
            yield symbol.get_name()


def _symbols(code: str) -> Iterator[tuple[symtable.SymbolTable, symtable.Symbol]]:
    try:
        tables = [symtable.symtable(code, "<answer>", "exec")]
    except _UNREADABLE:
        return
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            yield table, symbol
