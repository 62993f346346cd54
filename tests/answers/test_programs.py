"""Where the program is in a completion, and what it is joined to."""

import pytest

from cg_pipeline.answers.programs import fenced, joined_program

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
