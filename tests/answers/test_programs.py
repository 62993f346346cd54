"""Where the program is in a completion, and what it is joined to."""

import pytest

from cg_pipeline.answers.programs import fenced, is_finished, joined_program

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


def test_without_a_block():
    assert fenced("return 2") is None
    assert fenced("```json\n{}\n```") is None


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
        ("def double(x):\n    return 2", False),
        ("def double(x):\n    return 2\n\ndef double(x):\n    ret", True),
        ("def double(x):\n    return 2\n\nThis is", True),
    ],
)
def test_whether_a_cut_text_had_finished_its_program(text: str, finished: bool):
    assert is_finished(text, "double") == finished
