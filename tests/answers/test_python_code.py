"""What source binds and needs, read without running it."""

import pytest

from cg_pipeline.answers.python_code import compiles, statements_of


@pytest.mark.parametrize(
    "code", ["(" * 9_000, "-" * 90_000 + "1", "a." * 50_000 + "a", "x\0", "return 1", "\ud800", "if 1:"]
)
def test_what_python_does_not_take_is_told_and_has_no_statements(code: str) -> None:
    assert not compiles(code)
    assert statements_of(code) == ()


@pytest.mark.parametrize(
    ("code", "binds", "needs"),
    [
        ("import os.path as p", {"p"}, set()),
        ("from x import *", {"*"}, set()),
        ("def f(a, b=c):\n    d = a\n    return [g(d) for e in len(b)]", {"f"}, {"c", "g"}),
        ("@dec\nclass C(B):\n    x = y", {"C"}, {"dec", "B", "y"}),
        ("n: int = m", {"n"}, {"m"}),
        ("table[0] = w", set(), {"table", "w"}),
        ("def f():\n    global g\n    g = 1", {"f", "g"}, set()),
        ("'\\d'", set(), set()),
    ],
)
def test_names(code: str, binds: set[str], needs: set[str]) -> None:
    [statement] = statements_of(code)
    assert (statement.binds, statement.needs, statement.code) == (binds, needs, code)
