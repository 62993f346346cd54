"""Where the program is in a completion, and what it is joined to."""

import time

import pytest

from cg_pipeline.answers.programs import is_finished, joined_program
from tests.scoring.cases import BOMBS

STUB = 'from typing import List\n\n\ndef double(x: int) -> int:\n    """Twice x."""\n'


def doubled(text: str) -> int:
    names: dict[str, object] = {}
    exec(joined_program(STUB, text, "double"), names)
    return names["double"](4)  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    [
        "    return 2 * x\n",
        "\n    return 2 * x",
        "    return 2 * x\n\ndef other():\n    return 1 +",  # goes on, and is cut
        "    return 2 * x\n\nprint(double(",
        "    return 2 * x\n\n\nThis function doubles its argument.",
        "    return 2 * x\n\n\ndef double(x):\n    return 0\n\n\ndef",  # once more, and wrong
        "    return 2 * x\n```\n\nUsage:\n```python\nprint(double(",
        "return 2 * x\n\ndef double(x):\n    return",
        "def double(x):\n    return helper(x)\n\ndef helper(x):\n    return 2 * x\n\nprint(double(",
        "Sure:\n\nimport math\n\ndef double(x):\n    return 2 * x\n\nThis is it.",
        "def double(x):\n    return 2 * x\n\n\ndef double(x):\n    retu",
        "return 2 * x",
        "y = x\nreturn 2 * y",
        "if x:\n        return 2 * x\n    return 0",  # only the first line lost its indentation
        "def double(x):\n    return 2 * x\n",
        "```python\ndef double(x):\n    return 2 * x\n```",
        "Sure!\n```python\nfrom math import prod\n\ndef double(x):\n    return prod([2, x])\n```\nIt works.",
        "```\n    return 2 * x\n```",
        "```py\nreturn 2 * x\n```",
        "```python\ndef double(x: int):\n    return 2 * x",  # the block is not closed
        "Use it so:\n```bash\npython x.py\n```\n```python\ndef double(x):\n    return 2 * x\n```",
        "```python\ndef double(x):\n    return 2 * x\n```\nTry:\n```python\nassert double(2) == 4\n```",
        "<think>```python\ndef double(x): return 0\n```</think>\n```python\ndef double(x): return 2 * x\n```",
    ],
)
def test_a_right_completion_runs(text: str) -> None:
    assert doubled(text) == 8


def test_imports_and_helpers_of_the_stub_stay():
    stub = "import math\n\ndef helper():\n    return 2\n\ndef double(x):\n"
    program = joined_program(stub, "def double(x):\n    return helper() * x\n", "double")
    assert program.count("def double") == 1
    assert program.startswith("import math")


WHOLE = "def double(x):\n    return 2 * x\n"


def block(code: str, language: str = "python", fence: str = "```") -> str:
    return f"{fence}{language}\n{code}{fence}\n"


@pytest.mark.parametrize(
    "text",
    [
        block(WHOLE) + "Tests:\n" + block("def test_double():\n    assert double(1) == 2\n\ntest_double()\n"),
        block(WHOLE) + block("import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"),
        block("def double(x):\n    return twice(x)\n") + block("def twice(x):\n    return 2 * x\n"),
        block("def twice(x):\n    return 2 * x\n") + block("def double(x):\n    return twice(x)\n"),
        block("def a(x):\n    return b(x)\n") + block("def double(x):\n    return a(x)\n")
        + block("TWO = 2\ndef b(x):\n    return TWO * x\n"),
        block("from operator import mul\nimport math\n") + block("def double(x):\n    return mul(2, x)\n"),
        block("from operator import *\n") + block("def double(x):\n    return mul(2, x)\n"),
        block("TABLE = {4: 8}\n") + "Then:\n" + block("def double(x):\n    return TABLE[x]\n"),
        block("class Doubler:\n    def do(self, x):\n        return 2 * x\n")
        + block("def double(x):\n    return Doubler().do(x)\n"),
        "1. Write it:\n\n   ```python\n   def double(x):\n       return 2 * x\n   ```\n\n2. Run it.",
        "- ```python\n  def double(x):\n      return 2 * x\n  ```",
        "1. ```python\n   def double(x):\n       return 2 * x\n   ```",
        "\t```python\n\tdef double(x):\n\t\treturn 2 * x\n\t```",
        "   ```python\n   def double(x):\n       \"\"\"Twice.\n\nMore.\"\"\"\n       return 2 * x\n   ```",
        block("    def double(x):\n        return 2 * x\n"),
        "    def double(x):\n        return 2 * x\n\nThat is all.",
        block("y = 0\nfor _ in range(2):\n    y += x\nreturn y\n"),
        block("for _ in range(1):\n    if x:\n        return 2 * x\nreturn 0\n"),
        block("y = x\nz = y\nreturn y + z\n", ""),
        block("        y = x\n        return 2 * y\n"),
        block("  if x:\n    return 2 * x\n  return 0\n"),
        "for _ in range(1):\n    x += x\nreturn x",
        "for _ in range(1):\n        x += x\n    return x",  # only the first line lost its indentation
        block("    return 2 * x\n") + "It:\n" + block("def test():\n    assert double(2) == 4\n"),
        block("return 2 * x\n") + block("assert double(2) == 4\n"),
        block("def double(x):\n    return x\n") + "Wait, no:\n" + block(WHOLE),
        block("def double(x):\n    return x\n") + block("def double(x):\n    return 3 * x\n") + block(WHOLE),
        block(WHOLE) + "Or, on one line:\n```python\ndef double(x): retu(",  # cut within the second
        block(WHOLE) + "Its form is\n" + block("def double(x): ...\n"),
        block("def double(x):\n    \"\"\"Twice x.\"\"\"\n    pass\n") + block(WHOLE),
        block(WHOLE + "\nassert double(2) == 5\n"),
        block(WHOLE + "\nif __name__ == '__main__':\n    raise SystemExit(1)\n"),
        block(WHOLE + "\nx = int(input())\nprint(double(x))\n"),
        block(WHOLE + "\ndef main():\n    raise ValueError(double(1))\n\nmain()\n"),
        block(WHOLE + "\nimport unittest\nunittest.main()\n"),
        block("import sys\nsys.setrecursionlimit(9999)\n" + WHOLE),
        block("memo = {}\nfor i in range(9):\n    memo[i] = 2 * i\ndef double(x):\n    return memo[x]\n"),
        block("calls = []\ndef double(x):\n    global last\n    last = x\n    return 2 * last\n"),
        block("from functools import cache\n@cache\ndef double(x):\n    return 2 * x\n"),
        block("double = lambda x: 2 * x\n"),
        block(WHOLE) + "```\n>>> double(2)\n4\n```\n",
        WHOLE + "\n```\n>>> double(2)\n4\n```\n",
        WHOLE + "\n>>> double(2)\n4\n",
        block(WHOLE + "\n>>> double(2)\n4\n"),
        block(WHOLE) + "\nThis works because def is a keyword.\n\n" + block("pip install numpy\n", "bash"),
        block(WHOLE) + block("function double(x) { return 3 * x }\n", "javascript"),
        block(WHOLE) + block("def double(x)\n  3 * x\nend\n", "ruby"),
        block(WHOLE, "text"),
        block(WHOLE, "Python"),
        block(WHOLE, " python title=double.py"),
        block(WHOLE, "{.python}"),
        block(WHOLE, fence="~~~"),
        block(WHOLE, fence="````"),
        "````markdown\n" + block(WHOLE) + "````\n" + block(WHOLE),
        "```python\n" + WHOLE + "print(double(",  # neither closed nor finished
        "```python\n" + WHOLE + "\nThis doubles it, as",
        "```python\n" + WHOLE + "```python\nassert double(1) == 2\n```",
        "```python\ndef double(x):\n    return 2 * x```\nDone.",
        block("def double(x):\n    \"\"\"Twice.\n\n```\ndouble(2)\n```\n    \"\"\"\n    return 2 * x\n"),
        block(WHOLE).replace("\n", "\r\n"),
        block("def double(x):\n    return x if '\\d' == 1 else 2 * x\n"),  # Python warns of the escape
        block("class Solution:\n    def double(self, x):\n        return 2 * x\n\n"
              "def double(x):\n    return Solution().double(x)\n"),
    ],
)  # fmt: skip
def test_a_right_program_among_other_blocks_runs(text: str) -> None:
    assert doubled(text) == 8


@pytest.mark.parametrize(
    "text",
    [
        block("class Solution:\n    def double(self, x):\n        return 2 * x\n"),
        block(WHOLE) + "Better:\n" + block("def double(x):\n    return x\n"),
        block("def twice(x):\n    return 2 * x\n"),
        block("def double(x):\n    return thrice(x)\n") + block("def twice(x):\n    return 2 * x\n"),
        "I cannot do that.",
    ],
)
def test_a_wrong_program_stays_wrong(text: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - however it breaks down
        assert doubled(text) == 8


def test_what_the_stub_gives_is_not_taken_from_an_earlier_attempt():
    stub = "def twice(x):\n    return 2 * x\n\ndef double(x):\n"
    text = block("def twice(x):\n    return 0\n") + block("def double(x):\n    return twice(x)\n")
    assert "return 0" not in joined_program(stub, text, "double")


@pytest.mark.parametrize("bomb", BOMBS)
def test_no_text_holds_it_up(bomb: str) -> None:
    started = time.process_time()
    for text in (bomb, f"```\n{bomb}", f"```\ndef double(x):\n    return {bomb}\n```"):
        joined_program(STUB, text, "double")
        is_finished(text, "double")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("    return 2", False),
        ("    return 2\n\n\ndef other():\n    ret", True),
        ("    return 2\n\n\ndef double(x):\n    ret", True),
        ("return 2", False),
        ("return 2\n\nprint(", True),
        ("Here:\n\n```python\ndef double(x):\n    return", False),
        ("Here:\n\n```python\ndef double(x):\n    return 2\n```\nThis do", True),
        ("```python\ndef double(x):\n    return 2\n```\nOr:\n```python\ndef dou", False),
        ("Here:\n```bash\nls\n```\nTh", False),
        ("```python\ndef helper(x):\n    return 2\n```\nNow the", False),
        ("```python\nreturn 2\n```\nThis", True),
        ("~~~python\ndef double(x):\n    return 2\n~~~\nThis do", True),
        ("def double(x):\n    return 2", False),
        ("def double(x):\n    return 2\n\ndef double(x):\n    ret", True),
        ("def double(x):\n    return 2\n\nThis is", True),
    ],
)
def test_whether_a_cut_text_had_finished_its_program(text: str, finished: bool):
    assert is_finished(text, "double") == finished
