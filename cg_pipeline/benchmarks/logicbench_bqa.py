"""LogicBench, yes or no: does a conclusion follow by one rule of inference?

Parmar et al. (2024), LogicBench: Towards Systematic Evaluation of Logical Reasoning Ability of
Large Language Models, arXiv 2404.15522. MIT. 1,520 questions: 25 rules of propositional,
first-order and non-monotonic logic, 20 stories each.

A raw row:
    {"type": "propositional_logic", "axiom": "modus_tollens", "id": 1,
     "context": "If it rains, the pitch is closed. The pitch is open.",
     "question": "Can we say that it does not rain?", "answer": "yes"}

Quirks: a file of the hub holds one rule, its `samples` the stories, their `qa_pairs` the
questions; `rows_in` lays them out as rows like the one above. The category is the rule, with
the same name in propositional and first-order logic. Rules with four questions a story have
one yes to three no. Stories are language models' paraphrases, a few not quite grammatical.

The authors generate and parse an answer; here yes and no are compared by likelihood, as in
BoolQ. Questions about one story share a cluster.
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.families.logicbench import REPO, REVISION, files_of
from cg_pipeline.items import Item, Prompt, letter_index, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One question of the hub's files, with its story and rule."""

    type: str
    axiom: str
    id: int
    context: str
    question: str
    answer: str


def rows_in(file: Any) -> list[Any]:
    """The rows of one rule's file."""
    rule = {"type": file["type"], "axiom": file["axiom"]}
    return [
        {**rule, "id": story["id"], "context": story["context"], **pair}
        for story in file["samples"]
        for pair in story["qa_pairs"]
    ]


def to_item(row: Row) -> Item:
    """Yes and no are the choices."""
    return _item(row["axiom"], row["context"], row["question"], row["answer"].strip().lower())


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The category is the rule; what the source says besides is not needed."""
    answer = pick(fields["choices"], letter_index(fields["answer"]))
    return _item(fields["category"], fields["context"], fields["question"], answer)


def prompt(item: Item) -> Prompt:
    """Story, question, `Answer:`."""
    return Prompt(text=f"{item.context}\nQuestion: {item.question} Answer yes or no.\nAnswer:")


def _item(rule: str, story: str, question: str, answer: str) -> Item:
    if answer not in ("yes", "no"):
        raise ValueError(f"answer is {answer!r}; expected 'yes' or 'no'. Correct it.")
    return Item(
        category=rule,
        context=story,
        question=question,
        choices=("yes", "no"),
        answers=(answer,),
        cluster=content_id(story),
    )


BENCHMARK = Benchmark(
    name="logicbench_bqa",
    title="LogicBench, yes or no",
    scope="Whether a conclusion follows from a short story by one rule of inference.",
    licence="MIT",
    source=HubRows(
        repo=REPO,
        split="eval",
        revision=REVISION,
        files=files_of("BQA"),
        rows_in=rows_in,
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
