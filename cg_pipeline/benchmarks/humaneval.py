r"""HumanEval: Python functions to write from their signature and docstring.

Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv 2107.03374. MIT.
164 problems.

A raw row:
    {"task_id": "Sample/0", "entry_point": "twice",
     "prompt": "def twice(n: int) -> int:\n    \"\"\"Return 2 n.\"\"\"\n",
     "canonical_solution": "    return 2 * n\n",
     "test": "def check(candidate):\n    assert candidate(3) == 6\n"}

Quirks: scoring runs code that a model wrote. The answer is the reference solution; what counts
are the tests, which are in the details with the name of the function. The prompt belongs to
the program: completion and test come after it.

Prompt as in lm-evaluation-harness (`humaneval`): signature and docstring. One greedy answer; pass@k
wants several samples.

*Why no stop texts, where the paper ends an answer at "\ndef" and the like:* they would cut a chat
model's answer, which says something first and shows the whole function in a code block. Where a
completion leaves the function is found when it is scored, at the same places.
"""

from typing_extensions import TypedDict

from cg_pipeline.formats import plain
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    task_id: str
    prompt: str
    canonical_solution: str
    test: str
    entry_point: str


def to_item(row: Row) -> Item:
    """The tests are the details."""
    return Item(
        question=row["prompt"],
        category="python",
        answers=(row["canonical_solution"],),
        details={name: row[name] for name in ("task_id", "entry_point", "test")},
    )


BENCHMARK = Benchmark(
    name="humaneval",
    title="HumanEval",
    scope="Writing short Python functions that pass tests, from signature and docstring.",
    licence="MIT",
    source=HubRows(
        repo="openai/openai_humaneval",
        configs=("openai_humaneval",),
        split="test",
        revision="7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
    ),
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="code_tests",
    max_new_tokens=1024,
)
