"""AGIEval: admission tests for people, the English ones with choices.

Zhong et al. (2023), AGIEval: A Human-Centric Benchmark for Evaluating Foundation Models, arXiv
2304.06364. MIT (LSAT, SAT), Apache-2.0 (AQuA-RAT), CC-BY-NC-SA-4.0 (LogiQA).

A raw row:
    {"config": "sat-math", "passage": null, "question": "If $2x = 6$, what is $x$?",
     "options": ["(A)2", "(B)3", "(C)4", "(D)6"], "label": "B"}

Quirks: `config` is no column: the reader adds the name of the file. Options carry their letter,
which is taken off; some options of one question are equal. The columns `answer` (of open
questions) and `other` (solutions) are not read. The open problems are those of `math` and left
out; so are the Chinese parts. The repository keeps a loading script beside its JSON lines, so
its files are read. A directory of benchmark files may hold fewer parts: LogiQA is also
`logiqa`.

Prompt and compared texts as in lm-evaluation-harness (`agieval_en`): the options, letter and
text, after "Among A through E, the answer is". Scored by likelihood, its acc. Questions about
one passage share a cluster.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import letters_for
from cg_pipeline.items import Item, Prompt, letter_index, pick
from cg_pipeline.records import content_id
from cg_pipeline.specs import Benchmark, HubRows

_LETTER = re.compile(r"^\s*\([A-H]\)\s*")


class Row(TypedDict):
    """One line of the hub's files, with the name of the file."""

    config: str
    passage: str | None
    question: str
    options: list[str]
    label: str


def to_item(row: Row) -> Item:
    """Options without their letters; the file is the category."""
    options = [_LETTER.sub("", option) for option in row["options"]]
    return _item(row["config"], row["passage"] or "", row["question"], options, row["label"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Passage, question and options; the category is the part's name."""
    return _item(
        fields["category"],
        fields["context"] or "",
        fields["question"],
        fields["choices"],
        fields["answer"],
    )


def prompt(item: Item) -> Prompt:
    """Passage, question and options in one line; the options with their letters are compared."""
    letters = letters_for(item.choices)
    options = [f"({letter}){choice}" for letter, choice in zip(letters, item.choices, strict=True)]
    return Prompt(
        text=f"{item.context}Q: {item.question} Answer Choices: {' '.join(options)}\n"
        f"A: Among A through {letters[-1]}, the answer is",
        continuations=tuple(options),
    )


def _item(part: str, passage: str, question: str, options: Sequence[str], letter: object) -> Item:
    return Item(
        category=part,
        context=passage,
        question=question,
        choices=tuple(options),
        answers=(pick(list(options), letter_index(letter)),),
        cluster=content_id(passage) if passage else "",
    )


BENCHMARK = Benchmark(
    name="agieval",
    title="AGIEval (English)",
    scope="Reading, logical and quantitative reasoning as tests for admission to studies ask for it.",
    licence="MIT, Apache-2.0 and CC-BY-NC-SA-4.0, by part",
    source=HubRows(
        repo="lighteval/agi_eval_en",
        split="test",
        revision="3652393f2639e1bd2d6389a4527f9ca160e5e1cb",
        files=(
            "data/aqua-rat.jsonl",
            "data/logiqa-en.jsonl",
            "data/lsat-ar.jsonl",
            "data/lsat-lr.jsonl",
            "data/lsat-rc.jsonl",
            "data/sat-en.jsonl",
            "data/sat-math.jsonl",
        ),
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
