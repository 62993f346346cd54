"""Nine multiple-choice benchmarks and one open one, for both sides of the comparison.

For lm-evaluation-harness: its own stock tasks, with nothing changed but where the rows come
from; a normalised row is turned back into the columns of the original data set. For us: an
`Example` in the same prompt format, written here from the format's description.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cg_pipeline.formats import around_blank, lettered, question_answer
from cg_pipeline.items import Item, Prompt
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
    prompt: Callable[[Item], Prompt]
    choices: Callable[[Row], list[str]] = lambda row: row["choices"]

    def example(self, row: Row, index: int) -> Example:
        """The row as we put it to a model."""
        texts = self.choices(row) if row["choices"] else []
        item = Item(
            question=row["question"],
            context=row["context"] or "",
            choices=tuple(texts),
            category=row["category"],
        )
        prompt = self.prompt(item)
        return Example(
            benchmark=self.name,
            category="all",
            cluster=str(index),
            prompt=prompt.text,
            choices=item.choices,
            targets=(texts[0],) if texts else (str(row["answer"]),),  # nothing is scored here
            continuations=prompt.continuations,
            stems=prompt.stems,
        )


def label_of(row: Row) -> int:
    """Index of the right choice."""
    return "ABCDEFGHIJ".index(row["answer"])


def lettered_question(item: Item) -> Prompt:
    """CommonsenseQA: the question named as such, and lettered choices."""
    found = lettered(item)
    return Prompt(text=f"Question: {found.text}", continuations=found.continuations)


def with_subject(item: Item) -> Prompt:
    """MMLU: a line that names the subject, then the question and lettered choices."""
    subject = (item.category or "").replace("_", " ")
    found = lettered(item)
    head = f"The following are multiple choice questions (with answers) about {subject}.\n\n"
    return Prompt(text=head + found.text, continuations=found.continuations)


def passage_question(item: Item) -> Prompt:
    """BoolQ."""
    return Prompt(text=f"{item.context}\nQuestion: {item.question.removesuffix('?')}?\nAnswer:")


def short_question(item: Item) -> Prompt:
    """SocialIQA."""
    return Prompt(text=f"Q: {item.context} {item.question}\nA:")


def spaced_question(item: Item) -> Prompt:
    """BBQ."""
    return Prompt(text=f"{item.context}\n\nQ: {item.question}\nA:")


def activity(item: Item) -> Prompt:
    """HellaSwag: the activity, the context, and its unfinished last sentence begun with a capital."""
    before, last = split_context(item.question)
    text = clean_how_to(f"{item.category}: {before} {last.capitalize()}")
    return Prompt(text=text, continuations=tuple(map(clean_how_to, item.choices)))


def split_context(text: str) -> tuple[str, str]:
    """A context, and the unfinished sentence at its end; that is empty where the last one is finished."""
    before, stop, last = text.rpartition(". ")
    if not stop or text.rstrip().endswith((".", "?", "!", '"', "'", ")")):
        return text, ""
    return f"{before}.", last


def clean_how_to(text: str) -> str:
    """Without the marks that WikiHow's articles leave."""
    text = re.sub(r"\[.*?\]", "", text.strip().replace(" [title]", ". "))
    return text.replace("  ", " ")


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
    """The original's columns."""
    before, last = split_context(row["question"])
    return {
        "activity_label": row["category"],
        "ctx_a": before,
        "ctx_b": last,
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
        prompt=question_answer,
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
        prompt=question_answer,
    ),
    StockTask(name="hellaswag", peer_task=lambda _: "hellaswag", columns=hellaswag_columns, prompt=activity),
    StockTask(
        name="winogrande",
        peer_task=lambda _: "winogrande",
        columns=lambda row: {
            "sentence": row["question"],
            "option1": row["choices"][0],
            "option2": row["choices"][1],
            "answer": str(label_of(row) + 1),
        },
        prompt=around_blank,
    ),
    StockTask(
        name="boolq",
        peer_task=lambda _: "boolq",
        columns=lambda row: {
            "passage": row["context"],
            "question": row["question"].removesuffix("?"),
            "label": label_of(row),
        },
        prompt=passage_question,
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
        prompt=short_question,
    ),
    StockTask(
        name="commonsense_qa",
        peer_task=lambda _: "commonsense_qa",
        columns=lambda row: {
            "question": row["question"],
            "choices": {"text": row["choices"], "label": list("ABCDE")},
            "answerKey": row["answer"],
        },
        prompt=lettered_question,
    ),
    StockTask(
        name="mmlu",
        peer_task=lambda row: f"mmlu_{row['category']}",
        columns=lambda row: {
            "question": row["question"],
            "choices": row["choices"],
            "answer": label_of(row),
        },
        prompt=with_subject,
    ),
    StockTask(
        name="bbq",
        peer_task=lambda _: "bbq",
        columns=bbq_columns,
        prompt=spaced_question,
        choices=two_and_unknown,
    ),
)

GENERATION = StockTask(
    name="gsm8k",
    peer_task=lambda _: "gsm8k",
    columns=lambda row: {"question": row["question"], "answer": f"#### {row['answer']}"},
    prompt=question_answer,
)
"""Its stop texts are the stock task's."""
STOP = ("Question:", "</s>", "<|im_end|>")
