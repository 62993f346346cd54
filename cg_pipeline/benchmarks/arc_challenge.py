"""ARC-Challenge: grade-school science questions that retrieval and word overlap get wrong.

Clark et al. (2018), Think you have Solved Question Answering? Try ARC, the AI2 Reasoning
Challenge, arXiv 1803.05457. CC-BY-SA-4.0. 1,172 test questions.

A raw row:
    {"id": "Sample_1", "question": "Why does a wet road dry faster on a windy day?",
     "choices": {"text": ["Wind carries vapour away.", "Wind cools the sun.", "Wind heats the stones."],
                 "label": ["1", "2", "3"]},
     "answerKey": "1"}

Quirks: some rows have three or five choices, and some label them 1, 2, 3, 4.

Prompt as in lm-evaluation-harness (`arc_challenge`). Scored per byte, its acc_norm; its acc is
`likelihood`. Published few-shot results use 25 examples.
"""

from cg_pipeline.formats import question_answer
from cg_pipeline.items import LabelledRow, labelled_item
from cg_pipeline.specs import Benchmark, HubRows

BENCHMARK = Benchmark(
    name="arc_challenge",
    title="ARC-Challenge",
    scope="Grade-school science questions that word overlap and retrieval fail on.",
    licence="CC-BY-SA-4.0",
    source=HubRows(
        repo="allenai/ai2_arc",
        configs=("ARC-Challenge",),
        split="test",
        revision="210d026faf9955653af8916fad021475a3f00453",
    ),
    row=LabelledRow,
    to_item=labelled_item,
    prompt=question_answer,
    response="choice",
    scoring="likelihood_per_byte",
)
