"""MATH: how a competition problem is put and where an answer to it ends, for all of them or 500."""

from cg_pipeline.items import Item, Prompt

MAX_NEW_TOKENS = 1024
STOP = ("\n\nProblem:",)
"""Worked examples are parted by blank lines; a model that begins with the problem once more is let go on."""


def prompt(item: Item) -> Prompt:
    """`Problem:` and the problem, `Solution:`."""
    return Prompt(text=f"Problem:\n{item.question}\n\nSolution:")
