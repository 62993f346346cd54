"""Sequences that a generated text answers with: given words in an order of its own, or brackets."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from cg_pipeline.answers.markers import announced
from cg_pipeline.answers.own_part import own_part

_TOKEN = re.compile(r"[^\W_](?:[\w'’-]*[^\W_])?|\n[ \t]*\n|[:=→⇒>]")
_RUN = r"[\[\](){}<>](?:[\s,;`'\"]{0,4}[\[\](){}<>]){0,400}"
_BRACKETS = re.compile(rf"(?<!\w){_RUN}(?!\w)")
_BOX = re.compile(r"\\boxed\s?\{")


class Sequenced(NamedTuple):
    """A sequence, its parts joined by blanks."""

    text: str
    settled: bool
    """Whether more text followed, so that a cut at the limit cannot have changed it."""


def read_order(text: str, items: Sequence[str]) -> Sequenced | None:
    """The order in which a text gives the items, however they are listed; None when it does not list them.

    It is the last run of items with nothing but punctuation, numbering and "and" between them, half of them
    at least, after the last "answer is" where there is one.
    """
    own = own_part(text)
    runs = [run for run in _runs(announced(own) or own, items) if 2 * len(run.parts) >= len(items)]
    if not runs or len(runs[-1].parts) >= 2 * len(items):
        return None
    whole = runs[-1].ended or len(runs[-1].parts) == len(items)
    return Sequenced(" ".join(runs[-1].parts), settled=whole)


class _Run(NamedTuple):
    parts: list[str]
    ended: bool


def _runs(said: str, items: Sequence[str]) -> list[_Run]:
    """The items in their order, parted wherever anything else is said."""
    known = {item.casefold(): item for item in items}
    runs: list[list[str]] = [[]]
    for token in _TOKEN.findall(said):
        if item := known.get(token.casefold()):
            runs[-1].append(item)
        elif not token.isdigit() and token.casefold() != "and" and runs[-1]:
            runs.append([])
    return [_Run(parts, ended=place < len(runs) - 1) for place, parts in enumerate(runs) if parts]


def read_brackets(text: str) -> Sequenced | None:
    """The brackets that a text answers with: the only ones of the line that announces it, or of the last.

    None when there are several runs of them there: which one is meant, the text does not say.
    """
    own = own_part(text)
    after = announced(own)
    lines = [found for line in (after or own).split("\n") if (found := _bracket_runs(line))]
    if not lines:
        return None
    runs = lines[0] if after else lines[-1]
    return Sequenced(runs[0], settled=len(lines) > 1) if len(runs) == 1 else None


def _bracket_runs(line: str) -> list[str]:
    said = _in_box(line).replace("\\", "")
    return [spaced_brackets(run) for run in _BRACKETS.findall(said)]


def _in_box(line: str) -> str:
    """What stands in the first box of a line; all of the line where the last brace closes no box."""
    boxed = _BOX.search(line)
    inside, closed, after = line[boxed.end() :].rpartition("}") if boxed else ("", "", line)
    return inside if closed and "{" not in after else line


def spaced_brackets(text: str) -> str:
    """The brackets of a text, one blank between each two."""
    return " ".join(re.findall(r"[\[\](){}<>]", text))
