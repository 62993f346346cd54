"""MATH: how a competition problem is put and where an answer to it ends, for all of them or 500."""

from cg_pipeline.items import Item, Prompt

MAX_NEW_TOKENS = 1024
STOP = ("Problem:",)


def prompt(item: Item) -> Prompt:
    """`Problem:` and the problem, `Solution:`."""
    return Prompt(text=f"Problem:\n{item.question}\n\nSolution:")
