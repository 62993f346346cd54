"""HellaSwag: which of four endings goes on with a short scene.

Zellers et al. (2019), HellaSwag: Can a Machine Really Finish Your Sentence?, arXiv
1905.07830. MIT. 10,042 validation scenes; the test split has no answers.

A raw row:
    {"ind": 7, "activity_label": "Baking bread", "ctx_a": "A man puts flour into a bowl.",
     "ctx_b": "he", "ctx": "A man puts flour into a bowl. he",
     "endings": ["adds water and stirs.", "flies over the bowl.", "is the flour [title] now.", "reads."],
     "source_id": "activitynet~v_x", "split": "val", "split_type": "indomain", "label": "0"}

Quirks: half of the scenes come from WikiHow and carry markers such as [header] and [title];
the second half of a scene starts in lower case. Both are mended as lm-evaluation-harness does,
and blanks around a text are dropped. The category is the activity, and the prompt opens with it.

Prompt as in lm-evaluation-harness (`hellaswag`). Scored per byte, its acc_norm; its acc is
`likelihood`. Published few-shot results use 10 examples.
"""

import re
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.families.web_pages import without_markers
from cg_pipeline.items import Item, Prompt, letter_index, pick
from cg_pipeline.specs import Benchmark, HubRows

_UNFINISHED = re.compile(r"(?:^|(?<=[.!?] ))[a-z](?=[^.!?]*$)")
"""First letter of a last sentence that starts in lower case and does not end."""


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    ind: int
    activity_label: str
    ctx_a: str
    ctx_b: str
    ctx: str
    endings: list[str]
    source_id: str
    split: str
    split_type: str
    label: str


def to_item(row: Row) -> Item:
    """Scene and endings without markers."""
    endings = [without_markers(ending) for ending in row["endings"]]
    return Item(
        category=row["activity_label"],
        question=without_markers(f"{row['ctx_a']} {row['ctx_b'].capitalize()}"),
        choices=tuple(endings),
        answers=(pick(endings, _label(row["label"])),),
    )


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Normalised scenes are clean already, but for the lower case where the second half starts."""
    return Item(
        category=fields["category"],
        question=_UNFINISHED.sub(lambda found: found.group().upper(), fields["question"]),
        choices=tuple(fields["choices"]),
        answers=(pick(fields["choices"], letter_index(fields["answer"])),),
    )


def prompt(item: Item) -> Prompt:
    """`Activity: scene`, to be gone on with."""
    return Prompt(text=f"{item.category}: {item.question}")


def _label(label: str) -> int:
    if not label.isdecimal():
        raise ValueError(f"label is {label!r}; expected '0' to '3'. Use a split that has answers.")
    return int(label)


BENCHMARK = Benchmark(
    name="hellaswag",
    title="HellaSwag",
    scope="Everyday events: which of four machine-filtered endings follows a described scene.",
    licence="MIT",
    source=HubRows(
        repo="Rowan/hellaswag",
        split="validation",
        revision="218ec52e09a7e7462a5400043bb9a69a41d06b76",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood_per_byte",
)
