r"""BIG-Bench-Hard: 27 tasks on which models once stayed behind the average rater.

Suzgun et al. (2022), Challenging BIG-Bench Tasks and Whether Chain-of-Thought Can Solve Them,
arXiv 2210.09261. MIT. 6,511 questions, 146 to 250 a task; a task is a configuration and the category.

A raw row:
    {"config": "date_understanding",
     "input": "It is 1 May 2020. What is tomorrow?\nOptions:\n(A) 2 May 2020\n(B) 30 April 2020",
     "target": "(A)"}

Quirks: `config` is no column of the hub: the reader of its rows adds it. Targets are a letter
in brackets, yes or no, True or False, valid or invalid, a number, sorted words or closing brackets;
which, the details tell, for each is read in its own way. For a letter, the letter alone and the text of
its option are accepted too; for closing brackets, the sequence that they complete. Two rows of
`ruin_names` and one of `movie_recommendation` lack their options and have a text for a target.

Prompt `Q: … A:` as in lm-evaluation-harness (`bbh_zeroshot`), without the sentence it puts
before each task; published results mostly use three worked chains of thought. The options are
part of the question, and the answer is generated: a model may reason before it. The harness
ends an answer at a blank line, which cuts reasoning off; here it ends at the next "Q:".
"""

import re
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import Benchmark, HubRows

_WORDS = (("True", "False"), ("valid", "invalid"))
_YES_NO = re.compile(r"yes|no", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_BRACKETS = re.compile(r"[\[\](){}<>\s]+")
_OPTION = re.compile(r"^\(([A-Z])\)[ \t]*(.*\S)", re.MULTILINE)


class Row(TypedDict):
    """One row of the hub's Parquet files, with the configuration it is from."""

    config: str
    input: str
    target: str


def to_item(row: Row) -> Item:
    """The task is the category; answers are the target and its equals."""
    return Item(
        category=row["config"],
        question=row["input"],
        answers=accepted(row["input"], row["target"].strip()),
        details=kind_of(row["input"], row["target"].strip()),
    )


def accepted(question: str, target: str) -> tuple[str, ...]:
    """The target; for a letter also the letter alone and with its option; for brackets the whole sequence."""
    options = _options(question)
    if target in options:
        text = options[target]
        return tuple(dict.fromkeys((target, target.strip("()"), f"{target} {text}", text)))
    _, mark, begun = question.rpartition("Input:")
    return (target, f"{begun.strip()} {target}") if mark and _BRACKETS.fullmatch(target) else (target,)


def kind_of(question: str, target: str) -> dict[str, Any]:
    """What kind of answer is wanted and what there is to choose from: the details of `scoring.mixed`."""
    if target in (options := _options(question)):
        return {"kind": "option", "options": list(options.values())}
    for words in _WORDS:
        if target in words:
            return {"kind": "word", "words": list(words)}
    listed = question.rpartition("List:")[2].split()
    if len(listed) > 1 and sorted(listed) == sorted(target.split()):
        return {"kind": "order", "items": sorted(listed)}
    shapes = {"yes_no": _YES_NO, "number": _NUMBER, "brackets": _BRACKETS}
    return {"kind": next((kind for kind, shape in shapes.items() if shape.fullmatch(target)), "text")}


def _options(question: str) -> dict[str, str]:
    """The options of a question by their letters in brackets."""
    return {f"({letter})": text for letter, text in _OPTION.findall(question.partition("Options:")[2])}


def prompt(item: Item) -> Prompt:
    """`Q: … A:` on two lines."""
    return Prompt(text=f"Q: {item.question}\nA:")


BENCHMARK = Benchmark(
    name="bbh",
    title="BIG-Bench-Hard",
    scope="Many-step reasoning in words: logic, tracking, counting, dates, humour, grammar.",
    licence="MIT",
    source=HubRows(
        repo="SaylorTwift/bbh",
        configs=(
            "boolean_expressions",
            "causal_judgement",
            "date_understanding",
            "disambiguation_qa",
            "dyck_languages",
            "formal_fallacies",
            "geometric_shapes",
            "hyperbaton",
            "logical_deduction_five_objects",
            "logical_deduction_seven_objects",
            "logical_deduction_three_objects",
            "movie_recommendation",
            "multistep_arithmetic_two",
            "navigate",
            "object_counting",
            "penguins_in_a_table",
            "reasoning_about_colored_objects",
            "ruin_names",
            "salient_translation_error_detection",
            "snarks",
            "sports_understanding",
            "temporal_sequences",
            "tracking_shuffled_objects_five_objects",
            "tracking_shuffled_objects_seven_objects",
            "tracking_shuffled_objects_three_objects",
            "web_of_lies",
            "word_sorting",
        ),
        split="test",
        revision="b5306be6f827cfafbb545ff5a51f96916029b0fd",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="generation",
    scoring="mixed",
    max_new_tokens=1024,
    stop=("\nQ:",),
)
