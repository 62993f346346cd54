r"""HumanEval with ten sampled answers to each problem, for pass@1 to pass@10.

Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv 2107.03374. MIT.
164 problems, those of `humaneval`.

A raw row:
    {"task_id": "Sample/0", "entry_point": "twice",
     "prompt": "def twice(n: int) -> int:\n    \"\"\"Return 2 n.\"\"\"\n",
     "canonical_solution": "    return 2 * n\n",
     "test": "def check(candidate):\n    assert candidate(3) == 6\n"}

Quirks: those of `humaneval`; a study with both asks the same problems twice. A problem's score is
the share of its answers that pass. Programs that were not run to an end are unscored and not wrong.

The authors draw 200 answers, with nucleus sampling at 0.95 and temperatures from 0.2 (best for
pass@1) to 0.8 (best for pass@100); ten at 0.8 cost a twentieth. pass@k is their unbiased estimate.
"""

from cg_pipeline.families.humaneval import MAX_NEW_TOKENS, SOURCE, Row, to_item
from cg_pipeline.formats import plain
from cg_pipeline.specs import Benchmark, Sampling

BENCHMARK = Benchmark(
    name="humaneval_10_samples",
    title="HumanEval, ten samples",
    scope="Writing short Python functions that pass tests, from signature and docstring.",
    licence="MIT",
    source=SOURCE,
    entry="humaneval",
    row=Row,
    to_item=to_item,
    prompt=plain,
    response="generation",
    scoring="code_tests",
    max_new_tokens=MAX_NEW_TOKENS,
    sampling=Sampling(n=10, temperature=0.8, top_p=0.95),
)
