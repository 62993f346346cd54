"""The choice with the highest log-likelihood per UTF-8 byte of the text that was scored.

Dividing by bytes removes the advantage of short choices and, unlike dividing by tokens,
does not depend on the tokenizer.

Source: the normalisation known as acc_norm in lm-evaluation-harness divides by characters;
bytes differ from it for non-ASCII choices only.
"""

from cg_pipeline.answers.likeliest import grade_likeliest
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the target is the likeliest choice per byte; a tie goes to the choice named first."""
    texts = example.continuations or example.choices
    pairs = zip(completion.choice_logprobs, texts, strict=False)  # a missing one is unscored below
    return grade_likeliest(example, completion, [logprob / len(text.encode()) for logprob, text in pairs])


POLICY = ScoringPolicy(name="likelihood_per_byte", score=score, reads=("choice",), needs_choices=True)
