"""IFEval: instructions a program can check, such as "no commas" or "at least 300 words".

Zhou et al. (2023), Instruction-Following Evaluation for Large Language Models, arXiv
2311.07911. Apache-2.0. 541 prompts, all in the split called train.

A raw row:
    {"key": 1, "prompt": "Describe rain in at least 20 words. Use no commas.",
     "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
     "kwargs": [{"num_words": 20, "relation": "at least", "num_highlights": null}, {"num_words": null}]}

Quirks: in Parquet every instruction carries the arguments of all of them, null where they are
not its own; nulls are dropped. The category is the family of the first instruction.

Prompt as in lm-evaluation-harness (`ifeval`): the instruction alone, up to 1,280 tokens. There
is no answer key: details hold the instructions and their arguments for the checkers. The score is
the strict one by prompt; the strict and loose shares by instruction and prompt are reported with it.
"""

from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's file."""

    key: int
    prompt: str
    instruction_id_list: list[str]
    kwargs: list[dict[str, Any]]


def to_item(row: Row) -> Item:
    """Instructions and their own arguments are the details."""
    names = row["instruction_id_list"]
    if not names or len(names) != len(row["kwargs"]):
        raise ValueError(
            f"instruction_id_list is {names!r} with {len(row['kwargs'])} kwargs; "
            "expected one or more instructions with one set of arguments each. Correct them."
        )
    return Item(
        question=row["prompt"],
        category=names[0].partition(":")[0],
        details={
            "key": row["key"],
            "instruction_id_list": names,
            "kwargs": [_own(arguments) for arguments in row["kwargs"]],
        },
    )


def _own(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


BENCHMARK = Benchmark(
    name="ifeval",
    title="IFEval",
    scope="Following formal instructions on length, format, words, language and punctuation.",
    licence="Apache-2.0",
    source=HubRows(
        repo="google/IFEval",
        split="train",
        revision="966cd89545d6b6acfd7638bc708b98261ca58e84",
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="instructions",
    max_new_tokens=1280,
)
