"""Nine multiple-choice benchmarks and an open one, for both sides of the comparison.

For lm-evaluation-harness: its own stock tasks, with nothing changed but where the rows come
from; a normalised row is turned back into the columns of the original data set. For us: the
catalogue's own benchmark of that name, as `cg demo` asks it, without worked examples. The
formats agree in all but one, BBQ: the stock task offers ten wordings of not knowing where the
catalogue offers the row's own, and is followed here.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cg_pipeline.benchmarks import BENCHMARKS
from cg_pipeline.items import Item, normalised_item
from cg_pipeline.pipeline import pose
from cg_pipeline.records import Example

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class StockTask:
    """One benchmark on both sides."""

    name: str
    """Of the file of normalised rows."""
    peer_task: Callable[[Row], str]
    """Name of lm-evaluation-harness's task for a row."""
    columns: Callable[[Row], Row]
    """The row as the original data set has it."""
    choices: Callable[[Row], list[str]] | None = None
    """What the stock task offers, where it is not what the catalogue does."""

    def example(self, row: Row) -> Example:
        """The row as the catalogue puts it to a model."""
        example = pose(BENCHMARKS[self.name], item_of(self.name, row))
        return replace(example, choices=tuple(self.choices(row))) if self.choices else example


def item_of(name: str, row: Row) -> Item:
    """The row as the catalogue's benchmark reads it."""
    return (BENCHMARKS[name].from_normalised or normalised_item)(row)


def label_of(row: Row) -> int:
    """Index of the right choice."""
    return "ABCDEFGHIJ".index(row["answer"])


UNKNOWN = (
    "Unknown", "Cannot answer", "Can't be determined", "Cannot be determined", "Can't answer",
    "Not known", "Not enough info", "Not enough information", "Not answerable", "Undetermined",
)  # fmt: skip
"""Wordings of not knowing, all of which the stock task offers as choices."""


def two_and_unknown(row: Row) -> list[str]:
    """BBQ's two groups, then every wording of not knowing."""
    return [*(choice for choice in row["choices"] if choice not in UNKNOWN), *UNKNOWN]


def bbq_columns(row: Row) -> Row:
    """The original's columns, groups and conditions included."""
    fields = row["source_fields"]
    return {
        **{f"ans{index}": choice for index, choice in enumerate(row["choices"])},
        "context": row["context"],
        "question": row["question"],
        "label": label_of(row),
        "category": row["category"],
        "context_condition": fields["context_condition"],
        "question_polarity": fields["question_polarity"],
        "answer_info": {f"ans{index}": info for index, info in enumerate(fields["answer_info"])},
        "additional_metadata": {"stereotyped_groups": fields["stereotyped_groups"]},
    }


def hellaswag_columns(row: Row) -> Row:
    """The original's columns; where its second half begins is not in a row, so both sides read our guess."""
    return {
        "activity_label": row["category"],
        "ctx_a": item_of("hellaswag", row).question,
        "ctx_b": "",
        "endings": row["choices"],
        "label": str(label_of(row)),
    }


TASKS = (
    StockTask(
        name="arc_easy",
        peer_task=lambda _: "arc_easy",
        columns=lambda row: {
            "question": row["question"],
            "choices": {"text": row["choices"], "label": list("ABCDE")[: len(row["choices"])]},
            "answerKey": row["answer"],
        },
    ),
    StockTask(
        name="piqa",
        peer_task=lambda _: "piqa",
        columns=lambda row: {
            "goal": row["question"],
            "sol1": row["choices"][0],
            "sol2": row["choices"][1],
            "label": label_of(row),
        },
    ),
    StockTask(name="hellaswag", peer_task=lambda _: "hellaswag", columns=hellaswag_columns),
    StockTask(
        name="winogrande",
        peer_task=lambda _: "winogrande",
        columns=lambda row: {
            "sentence": row["question"],
            "option1": row["choices"][0],
            "option2": row["choices"][1],
            "answer": str(label_of(row) + 1),
        },
    ),
    StockTask(
        name="boolq",
        peer_task=lambda _: "boolq",
        columns=lambda row: {
            "passage": row["context"],
            "question": row["question"].removesuffix("?"),
            "label": label_of(row),
        },
    ),
    StockTask(
        name="social_iqa",
        peer_task=lambda _: "social_iqa",
        columns=lambda row: {
            "context": row["context"],
            "question": row["question"],
            **{f"answer{letter}": text for letter, text in zip("ABC", row["choices"], strict=True)},
            "label": str(label_of(row) + 1),
        },
    ),
    StockTask(
        name="commonsense_qa",
        peer_task=lambda _: "commonsense_qa",
        columns=lambda row: {
            "question": row["question"],
            "choices": {"text": row["choices"], "label": list("ABCDE")},
            "answerKey": row["answer"],
        },
    ),
    StockTask(
        name="mmlu",
        peer_task=lambda row: f"mmlu_{row['category']}",
        columns=lambda row: {
            "question": row["question"],
            "choices": row["choices"],
            "answer": label_of(row),
        },
    ),
    StockTask(
        name="bbq",
        peer_task=lambda _: "bbq",
        columns=bbq_columns,
        choices=two_and_unknown,
    ),
)

OTHER_FORMAT = {task.name for task in TASKS if task.choices}
"""Benchmarks for which the catalogue's format is another one."""

GENERATION = StockTask(
    name="gsm8k",
    peer_task=lambda _: "gsm8k",
    columns=lambda row: {"question": row["question"], "answer": f"#### {row['answer']}"},
)
"""Its stop texts are the stock task's."""
STOP = ("Question:", "</s>", "<|im_end|>")
