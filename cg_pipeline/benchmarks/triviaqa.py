"""TriviaQA: quiz questions answered without any document.

Joshi et al. (2017), TriviaQA: A Large Scale Distantly Supervised Challenge Dataset for
Reading Comprehension, arXiv 1705.03551. Apache-2.0. 17,944 validation questions (`rc.nocontext`).

A raw row:
    {"question": "Which animal is the largest alive?", "question_id": "q1", "question_source": "quiz",
     "entity_pages": {"title": []}, "search_results": {"title": []},
     "answer": {"value": "Blue whale", "aliases": ["Blue whale", "Blue whales"], "type": "WikipediaEntity",
                "normalized_value": "blue whale", "normalized_aliases": ["blue whale", "blue whales"],
                "matched_wiki_entity_name": "", "normalized_matched_wiki_entity_name": ""}}

Quirks: aliases come from redirects of an encyclopedia, so some are odd (an emoji, a plural).
Normalised files made from tables keep the doubled quotation marks of CSV, which are undone.

Prompt as in lm-evaluation-harness (`triviaqa`), which adds a question mark even after one. It
ends an answer at the first full stop or comma, which no "J. R. R. Tolkien" survives; here it
ends with its line. Published results mostly use 5 examples.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import Benchmark, HubRows


class Answer(TypedDict):
    """The answer and everything that is accepted for it."""

    value: str
    aliases: list[str]
    type: str
    normalized_value: str
    normalized_aliases: list[str]
    matched_wiki_entity_name: str
    normalized_matched_wiki_entity_name: str


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    question_id: str
    question_source: str
    entity_pages: dict[str, Any]
    search_results: dict[str, Any]
    answer: Answer


def to_item(row: Row) -> Item:
    """The answer first, then its aliases."""
    return _item(row["question"], [row["answer"]["value"], *row["answer"]["aliases"]])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Quotation marks doubled by CSV are undone."""
    question = fields["question"]
    if len(question) > 2 and question[0] == question[-1] == '"' and '""' in question[1:-1]:
        question = question[1:-1].replace('""', '"')
    return _item(question, fields["answer"])


def prompt(item: Item) -> Prompt:
    """`Question: …?` and `Answer:`."""
    return Prompt(text=f"Question: {item.question}?\nAnswer:")


def _item(question: str, answers: Iterable[str]) -> Item:
    return Item(question=question, answers=tuple(dict.fromkeys(text for text in answers if text.strip())))


BENCHMARK = Benchmark(
    name="triviaqa",
    title="TriviaQA",
    scope="Recalling facts of general knowledge that quizzes ask for.",
    licence="Apache-2.0",
    source=HubRows(
        repo="mandarjoshi/trivia_qa",
        configs=("rc.nocontext",),
        split="validation",
        revision="0f7faf33a3908546c6fd5b73a660e0f8ff173c2f",
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    from_normalised=from_normalised,
    response="generation",
    scoring="exact_match",
    max_new_tokens=32,
    stop=("\n",),
)
