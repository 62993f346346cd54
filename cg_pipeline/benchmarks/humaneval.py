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

Prompt as in lm-evaluation-harness (`humaneval`): signature and docstring. One greedy answer; for pass@k
there is `humaneval_10_samples`.

*Why no stop texts, where the paper ends an answer at "\ndef" and the like:* they would cut a chat
model's answer, which says something first and shows the whole function in a code block. Where a
completion leaves the function is found when it is scored, at the same places.
"""

from cg_pipeline.families.humaneval import MAX_NEW_TOKENS, SOURCE, Row, to_item
from cg_pipeline.formats import plain
from cg_pipeline.specs import Benchmark

BENCHMARK = Benchmark(
    name="humaneval",
    title="HumanEval",
    scope="Writing short Python functions that pass tests, from signature and docstring.",
    licence="MIT",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="code_tests",
    max_new_tokens=MAX_NEW_TOKENS,
)
