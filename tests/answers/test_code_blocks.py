"""Code blocks: where they begin and end, what they are called, and what stands outside of them."""

import pytest

from cg_pipeline.answers.code_blocks import Block, code_blocks, outside_blocks


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("no block, `x = 1` only", []),
        ("```\nx\n```", [Block("", "x", True)]),
        ("```JSON\n{}\n```\nand\n~~~py\nx\n~~~", [Block("json", "{}", True), Block("py", "x", True)]),
        ("````\n```\nx\n```\n````", [Block("", "```\nx\n```", True)]),
        ("~~~\n```\nx\n~~~", [Block("", "```\nx", True)]),
        ("```\nx", [Block("", "x", False)]),
        ("```a\nx\n```b\ny\n```", [Block("a", "x", True), Block("b", "y", True)]),
        ("  ```\n  x\n    y\n z\n  ```", [Block("", "x\n  y\nz", True)]),
        ("3) ```\n   x\n   ```", [Block("", "x", True)]),
        ("```\n    x = 1\n```", [Block("", "    x = 1", True)]),
        ("```\n    def f(): 1\n```", [Block("", "def f(): 1", True)]),
        ("```\nx```", [Block("", "x", True)]),
    ],
)
def test_blocks(text: str, blocks: list[Block]) -> None:
    assert code_blocks(text) == blocks


def test_what_is_said_outside():
    assert outside_blocks("One\n```\nx\n```\ntwo\n```py\ny") == "One\ntwo"
