"""MMLU: exam questions of 57 subjects, from elementary school to professions.

Hendrycks et al. (2020), Measuring Massive Multitask Language Understanding, arXiv 2009.03300.
MIT. 14,042 test questions.

A raw row:
    {"question": "Which planet is nearest to the sun?", "subject": "astronomy",
     "choices": ["Mercury", "Venus", "Mars", "Earth"], "answer": 0}

Quirks: Gema et al. (2024, arXiv 2406.04127) found errors in about 6 % of the questions, over half
of those of virology. Choices of some rows are equal. Questions of the three history subjects
quote a source; those that quote the same one share a cluster.

Prompt as in lm-evaluation-harness (`mmlu`), zero-shot: the subject is named first, letters are
compared by likelihood. Published results mostly use five worked examples: `mmlu_5_shot`.
"""

from cg_pipeline.families.mmlu import REPO, REVISION, Row, from_normalised, header, prompt, to_item
from cg_pipeline.specs import Benchmark, HubRows

BENCHMARK = Benchmark(
    name="mmlu",
    title="MMLU",
    scope="Knowledge and problem solving in 57 subjects that schools, colleges and professions examine.",
    licence="MIT",
    source=HubRows(repo=REPO, configs=("all",), split="test", revision=REVISION),
    row=Row,
    to_item=to_item,
    prompt=prompt,
    header=header,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
