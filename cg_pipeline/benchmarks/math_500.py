r"""MATH-500: the 500 problems of MATH on which reasoning models are compared.

Lightman et al. (2023), Let's Verify Step by Step, arXiv 2305.20050; problems of Hendrycks et
al. (2021), arXiv 2103.03874. MIT. 500 problems, a part of `math`.

A raw row:
    {"problem": "What is $2^3$?", "solution": "We have $2^3=\\boxed{8}$.", "answer": "8",
     "subject": "Prealgebra", "level": 1, "unique_id": "test/prealgebra/1.json"}

Quirks: a study with both `math` and this one asks these problems twice.

Prompt as in lm-evaluation-harness (`minerva_math500`), without its four worked examples:
published results are mostly those of chat models, zero-shot.
"""

from typing_extensions import TypedDict

from cg_pipeline.families.math import MAX_NEW_TOKENS, STOP, prompt
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's JSON lines."""

    problem: str
    solution: str
    answer: str
    subject: str
    level: int
    unique_id: str


def to_item(row: Row) -> Item:
    """The subject is the category."""
    return Item(
        category=row["subject"], question=row["problem"], answers=(row["answer"],), worked=row["solution"]
    )


BENCHMARK = Benchmark(
    name="math_500",
    title="MATH-500",
    scope="Five hundred competition problems of high school, drawn evenly from those of MATH.",
    licence="MIT",
    source=HubRows(
        repo="HuggingFaceH4/MATH-500", split="test", revision="6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"
    ),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="generation",
    scoring="math_equivalence",
    max_new_tokens=MAX_NEW_TOKENS,
    stop=STOP,
)
