r"""GSM8K: grade-school word problems of two to eight steps of arithmetic.

Cobbe et al. (2021), Training Verifiers to Solve Math Word Problems, arXiv 2110.14168. MIT.
1,319 test problems.

A raw row:
    {"question": "Ann buys 3 pens at 2 euros and a 4 euro pad. How much does she pay?",
     "answer": "The pens cost 3 * 2 = <<3*2=6>>6 euros.\nShe pays 6 + 4 = <<6+4=10>>10 euros.\n#### 10"}

Quirks: the last line of an answer holds the number, after `####`; `<<…>>` are notes for a
calculator, which worked examples keep. There are no categories.

Prompt, number of worked examples and stop text as in lm-evaluation-harness (`gsm8k`), with the
first five training problems where it draws them (of a directory of benchmark files without
`gsm8k_shots`, five of its own rows, which are then not asked); its flexible extraction, the last
number, is nearest to `numeric`.
"""

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from cg_pipeline.formats import question_answer
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows

REPO, REVISION = "openai/gsm8k", "740312add88f781978c0658806c59bc2815b9866"


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    question: str
    answer: str


def to_item(row: Row) -> Item:
    """The number is what follows `####`."""
    _, mark, number = row["answer"].rpartition("####")
    if not mark or not number.strip():
        raise ValueError(f"answer ends with {row['answer'][-40:]!r}; expected '#### ' and a number. Add it.")
    return _item(row["question"], number.strip(), row["answer"])


def from_normalised(fields: Mapping[str, Any]) -> Item:
    """Solution and number are apart."""
    number, solution = fields["answer"], fields["source_fields"]["solution"]
    return _item(fields["question"], number, f"{solution}\n#### {number}")


def _item(question: str, number: str, worked: str) -> Item:
    return Item(question=question, answers=(number.replace(",", ""),), worked=worked)


BENCHMARK = Benchmark(
    name="gsm8k",
    title="GSM8K",
    scope="Word problems of grade school that take two to eight steps of elementary arithmetic.",
    licence="MIT",
    source=HubRows(repo=REPO, configs=("main",), split="test", revision=REVISION),
    shots=HubRows(repo=REPO, configs=("main",), split="train", revision=REVISION),
    n_shots=5,
    row=Row,
    to_item=to_item,
    prompt=question_answer,
    from_normalised=from_normalised,
    response="generation",
    scoring="numeric",
    max_new_tokens=256,
    stop=("Question:",),
)
