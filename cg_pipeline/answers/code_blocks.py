"""The fenced code blocks of a Markdown text, as a chat model writes them.

Fences are three or more backticks or tildes, at the margin, indented or after a list's mark; a block
loses the indentation that its fence has. A block that is never closed goes as far as the text, or to
where the next one opens with a language; a fence inside a triple-quoted string is part of the program.
"""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(
    r"(?P<margin>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<fence>`{3,}+|~{3,}+)[ \t]*+"
    r"\{?\.?(?P<language>[\w+-]{0,20}+)(?P<more>[^`]*+)"
)
_QUOTES = ('"""', "'''")


class Block(NamedTuple):
    """A code block."""

    language: str
    """What its fence says, in small letters; empty for nothing."""
    code: str
    closed: bool


def code_blocks(text: str) -> list[Block]:
    """Every code block, in order."""
    return [part for part in _parts(text) if isinstance(part, Block)]


def outside_blocks(text: str) -> str:
    """What is said outside of the code blocks."""
    return "\n".join(part for part in _parts(text) if isinstance(part, str))


def _parts(text: str) -> Iterator[Block | str]:
    """The lines outside of blocks and the blocks, in order."""
    opened: re.Match[str] | None = None
    held: list[str] = []
    quoted: set[str] = set()
    for line in text.split("\n"):
        mark = _FENCE.fullmatch(line.rstrip())
        if opened is None:
            if mark is None:
                yield line
            opened, held, quoted = mark, [], set()
            continue
        if quoted or not _ends(line, opened["fence"], mark):
            held.append(line)
            quoted ^= {quotes for quotes in _QUOTES if line.count(quotes) % 2}
            continue
        if mark is None:  # the fence closes a line of code
            held.append(line.rstrip().removesuffix(opened["fence"]))
        yield _block(opened, held, closed=True)
        opened, held = (mark if mark and mark["language"] else None), []
    if opened is not None:
        yield _block(opened, held, closed=False)


def _ends(line: str, fence: str, mark: re.Match[str] | None) -> bool:
    """Whether a line ends the block that this fence opened."""
    if mark is not None:
        return mark["fence"].startswith(fence)
    return fence[0] == "`" and line.count(fence) == 1 and line.rstrip().endswith(fence)


def _block(opened: re.Match[str], lines: list[str], *, closed: bool) -> Block:
    margin = len(opened["margin"])
    inner = [line[min(margin, len(line) - len(line.lstrip(" \t"))) :] for line in lines]
    return Block(opened["language"].lower(), _at_margin("\n".join(inner)), closed)


def _at_margin(code: str) -> str:
    """Code without the indentation that all its lines share, where it defines something there."""
    dedented = textwrap.dedent(code)
    return dedented if re.search(r"^(?:async )?def |^class ", dedented, re.MULTILINE) else code
