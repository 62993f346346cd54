"""MMLU with five worked examples, the way most published results are made.

Hendrycks et al. (2020), Measuring Massive Multitask Language Understanding, arXiv 2009.03300.
MIT. 14,042 test questions, those of `mmlu`.

A raw row:
    {"question": "Which planet is nearest to the sun?", "subject": "astronomy",
     "choices": ["Mercury", "Venus", "Mars", "Earth"], "answer": 0}

Quirks: those of `mmlu`; a study with both asks the same questions twice. The five worked examples
of a subject are those of the split `dev`, in its order. A prompt too long for a model loses them from
the first on, and with it the line that names the subject.

Prompt as in lm-evaluation-harness (`mmlu`, `--num_fewshot 5`): the subject is named once, before the
worked examples. It is read from the hub alone unless a directory of benchmark files has it by this name.
"""

from cg_pipeline.families.mmlu import REPO, REVISION, Row, from_normalised, header, prompt, to_item
from cg_pipeline.specs import Benchmark, HubRows

BENCHMARK = Benchmark(
    name="mmlu_5_shot",
    title="MMLU, five worked examples",
    scope="Knowledge and problem solving in 57 subjects that schools, colleges and professions examine.",
    licence="MIT",
    source=HubRows(repo=REPO, configs=("all",), split="test", revision=REVISION),
    shots=HubRows(repo=REPO, configs=("all",), split="dev", revision=REVISION),
    n_shots=5,
    row=Row,
    to_item=to_item,
    prompt=prompt,
    header=header,
    from_normalised=from_normalised,
    response="choice",
    scoring="likelihood",
)
