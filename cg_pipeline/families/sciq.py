"""SciQ: its rows and its prompt, whether an answer is written or chosen."""

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import HubRows

SOURCE = HubRows(
    repo="allenai/sciq",
    split="test",
    revision="2c94ad3e1aafab77146f384e23536f97a4849815",
)


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    distractor1: str
    distractor2: str
    distractor3: str
    correct_answer: str
    support: str


def prompt(item: Item) -> Prompt:
    """Text, `Question: …`, `Answer:`."""
    return Prompt(text=f"{item.context.lstrip()}\nQuestion: {item.question}\nAnswer:")
