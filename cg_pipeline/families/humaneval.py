"""HumanEval: its rows, whichever way and how often they are answered."""

from typing_extensions import TypedDict

from cg_pipeline.items import Item
from cg_pipeline.specs import HubRows

SOURCE = HubRows(
    repo="openai/openai_humaneval",
    configs=("openai_humaneval",),
    split="test",
    revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
)
MAX_NEW_TOKENS = 1024


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    task_id: str
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str


def to_item(row: Row) -> Item:
    """The tests are the details."""
    return Item(
        question=row["prompt"],
        category="python",
        answers=(row["canonical_solution"],),
        details={name: row[name] for name in ("task_id", "entry_point", "test")},
    )
