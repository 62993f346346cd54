"""SciQ, answered freely: science examination questions with a text to look the answer up in.

Welbl, Liu and Gardner (2017), Crowdsourcing Multiple Choice Science Questions, arXiv
1707.06209. CC-BY-NC-3.0: not for commercial use. 1,000 test questions.

A raw row:
    {"question": "What do plants take in through their roots?", "distractor1": "light",
     "distractor2": "sugar", "distractor3": "pollen", "correct_answer": "water",
     "support": "Roots take in water and minerals, leaves take in light."}

Quirks: mirrors of the data often lack the three distractors or the rows without a text, so
this benchmark does without them; `sciq_choice` is the multiple choice of the original. The
text often contains the answer word for word, and may be empty.

Prompt as in lm-evaluation-harness (`sciq`), the answer is generated instead of chosen.
"""

from cg_pipeline.families.sciq import SOURCE, Row, prompt
from cg_pipeline.items import Item
from cg_pipeline.specs import Benchmark


def to_item(row: Row) -> Item:
    """Text, question and the one right answer."""
    return Item(context=row["support"], question=row["question"], answers=(row["correct_answer"],))


BENCHMARK = Benchmark(
    name="sciq",
    title="SciQ (free answer)",
    scope="Naming the scientific term a question asks for, with a text that supports it.",
    licence="CC-BY-NC-3.0",
    source=SOURCE,
    row=Row,
    to_item=to_item,
    prompt=prompt,
    response="generation",
    scoring="exact_match",
    max_new_tokens=32,
    stop=("\n",),
)
