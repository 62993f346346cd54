r"""MATH: competition problems with worked solutions, answers in LaTeX.

Hendrycks et al. (2021), Measuring Mathematical Problem Solving With the MATH Dataset, arXiv
2103.03874. MIT. 5,000 test problems of seven subjects, one configuration each.

A raw row:
    {"problem": "What is $\\frac{1}{2}$ of $\\frac{1}{3}$?", "level": "Level 1", "type": "Prealgebra",
     "solution": "We multiply: $\\frac{1}{2}\\cdot\\frac{1}{3}=\\boxed{\\frac{1}{6}}$."}

Quirks: the answer is the last `\boxed{…}` of the solution, or `\boxed` and a blank before one
term; a few older solutions write `\fbox`. The original repository was taken down after a
claim on the problems' copyright; EleutherAI's copy is what evaluation harnesses read.

Prompt as in lm-evaluation-harness (`minerva_math`: `Problem:`, `Solution:`), with the first four
training problems in place of the four fixed ones of Lewkowycz et al. (2022). The 500 problems
of Lightman et al. (2023) are `math_500`.
"""

from typing_extensions import TypedDict

from cg_pipeline.answers.boxed import last_box
from cg_pipeline.families.math import MAX_NEW_TOKENS, STOP, prompt
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark, HubRows

REPO, REVISION = "EleutherAI/hendrycks_math", "21a5633873b6a120296cce3e2df9d5550074f4a3"
SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)


class Row(TypedDict):
    """One row of the hub's Parquet files."""

    problem: str
    level: str
    type: str
    solution: str


def to_item(row: Row) -> Item:
    """The subject is the category."""
    return Item(
        category=row["type"],
        question=row["problem"],
        answers=(boxed_answer(row["solution"]),),
        worked=row["solution"],
    )


def boxed_answer(solution: str) -> str:
    r"""What the last `\boxed` of a solution holds, or a `ValueError` when there is none."""
    if not (answer := last_box(solution)):
        raise ValueError(f"solution ends with {solution[-60:]!r}; expected \\boxed{{…}}. Box its answer.")
    return answer


BENCHMARK = Benchmark(
    name="math",
    title="MATH",
    scope="Problems of American high-school mathematics competitions, from prealgebra to precalculus.",
    licence="MIT",
    source=HubRows(repo=REPO, configs=SUBJECTS, split="test", revision=REVISION),
    shots=HubRows(repo=REPO, configs=("algebra",), split="train", revision=REVISION),
    n_shots=4,
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="generation",
    scoring="math_equivalence",
    max_new_tokens=MAX_NEW_TOKENS,
    stop=STOP,
)
