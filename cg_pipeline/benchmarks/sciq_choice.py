"""SciQ, multiple choice: science examination questions with a text to look the answer up in.

Welbl, Liu and Gardner (2017), Crowdsourcing Multiple Choice Science Questions, arXiv
1707.06209. CC-BY-NC-3.0: not for commercial use. 1,000 test questions.

A raw row:
    {"question": "What do plants take in through their roots?", "distractor1": "light",
     "distractor2": "sugar", "distractor3": "pollen", "correct_answer": "water",
     "support": "Roots take in water and minerals, leaves take in light."}

Quirks: the text often contains the answer word for word, and may be empty. For mirrors
without distractors see `sciq`.

Prompt as in lm-evaluation-harness (`sciq`), choices in its order. Scored by likelihood, its
acc; its acc_norm is `likelihood_per_byte`.
"""

from cg_pipeline.families.sciq import SOURCE, Row, prompt
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark


def to_item(row: Row) -> Item:
    """Three distractors, then the right answer."""
    return Item(
        context=row["support"],
        question=row["question"],
        choices=(row["distractor1"], row["distractor2"], row["distractor3"], row["correct_answer"]),
        answers=(row["correct_answer"],),
    )


BENCHMARK = Benchmark(
    name="sciq_choice",
    title="SciQ",
    scope="Which of four terms answers a science question, with a text that supports it.",
    licence="CC-BY-NC-3.0",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="choice",
    scoring="likelihood",
)
