"""LogicBench, multiple choice: which of four conclusions follows by one rule of inference?

Parmar et al. (2024), LogicBench: Towards Systematic Evaluation of Logical Reasoning Ability of
Large Language Models, arXiv 2404.15522. MIT. 500 questions: 25 rules of propositional,
first-order and non-monotonic logic, 20 stories each.

A raw row:
    {"type": "propositional_logic", "axiom": "modus_tollens", "id": 1,
     "context": "If it rains, the pitch is closed. The pitch is open.",
     "question": "Which conclusion follows?",
     "choices": {"choice_1": "It rains.", "choice_2": "It does not rain.",
                 "choice_3": "The pitch is closed.", "choice_4": "It will rain."},
     "answer": "choice_2"}

Quirks: a file of the hub holds one rule and its `samples` the questions; `rows_in` lays them
out as rows like the one above. The category is the rule. Stories are mostly those of
`logicbench_bqa`.

The authors generate and parse an answer; here the letters are compared by likelihood, as in
MMLU.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.families.logicbench import REPO, REVISION, files_of
from cg_pipeline.formats import lettered
from cg_pipeline.items import Item, letter_index, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One question of the hub's files, with its rule."""

    type: str
    axiom: str
    id: int
    context: str
    question: str
    choices: dict[str, str]
    answer: str


def rows_in(file: Any) -> list[Any]:
    """The rows of one rule's file."""
    return [{"type": file["type"], "axiom": file["axiom"], **question} for question in file["samples"]]


def to_item(row: Row) -> Item:
    """Choices in the order of their numbers."""
    names = sorted(row["choices"])
    choices = [row["choices"][name] for name in names]
    if row["answer"] not in names:
        raise ValueError(f"answer is {row['answer']!r}; expected one of {names!r}. Correct it.")
    return _item(row["axiom"], row["context"], row["question"], choices, names.index(row["answer"]))


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """The category is the rule; what the source says besides is not needed."""
    return _item(
        fields["category"],
        fields["context"],
        fields["question"],
        fields["choices"],
        letter_index(fields["answer"]),
    )


def _item(rule: str, story: str, question: str, choices: Sequence[str], answer: int) -> Item:
    return Item(
        category=rule,
        context=story,
        question=question,
        choices=tuple(choices),
        answers=(pick(list(choices), answer),),
        cluster=content_id(story),
    )


BENCHMARK = Benchmark(
    name="logicbench_mcqa",
    title="LogicBench, multiple choice",
    scope="Which of four conclusions follows from a short story by one rule of inference.",
    licence="MIT",
    source=HubRows(
        repo=REPO,
        split="eval",
        revision=REVISION,
        files=files_of("MCQA"),
        rows_in=rows_in,
    ),
    row=Row,
    to_item=to_item,
    prompt=lettered,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
