"""Natural Questions, open: what people asked a search engine, answered without a document.

Kwiatkowski et al. (2019), Natural Questions: A Benchmark for Question Answering Research, TACL
7; open form by Lee, Chang and Toutanova (2019), arXiv 1906.00300. CC-BY-SA-3.0. 3,610
validation questions.

A raw row:
    {"question": "who wrote the first english dictionary", "answer": ["Robert Cawdrey", "Cawdrey"]}

Quirks: questions are in lower case without a question mark, which the prompt adds. Answers are
those of 2018, and some are outdated.

Prompt as in lm-evaluation-harness (`nq_open`), without the sentence that it puts before all
examples. It ends an answer at the first full stop or comma, which no "J. R. R. Tolkien" survives;
here it ends with its line. Five worked examples, as is customary.
"""

from typing_extensions import TypedDict

from cg_pipeline.items import Item, Prompt
from cg_pipeline.specs import Benchmark, HubRows

REPO, REVISION = "google-research-datasets/nq_open", "5dd9790a83002ad084ddeb7c420dc716852c6f28"


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    answer: list[str]


def to_item(row: Row) -> Item:
    """Every answer is accepted, the first is shown."""
    return Item(question=row["question"], answers=tuple(row["answer"]))


def prompt(item: Item) -> Prompt:
    """`Q: …?` and `A:`."""
    return Prompt(text=f"Q: {item.question}?\nA:")


BENCHMARK = Benchmark(
    name="nq_open",
    title="Natural Questions",
    scope="Recalling facts that people looked for with a search engine.",
    licence="CC-BY-SA-3.0",
    source=HubRows(repo=REPO, configs=("nq_open",), split="validation", revision=REVISION),
    shots=HubRows(repo=REPO, configs=("nq_open",), split="train", revision=REVISION),
    n_shots=5,
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="generation",
    scoring="exact_match",
    max_new_tokens=32,
    stop=("\n",),
)
