"""The choice with the highest log-likelihood, summed over its tokens.

For choices that differ in a word or two, such as paired sentences; for choices of
unequal length see `likelihood_per_byte`.
"""

from cg_pipeline.answers.likeliest import grade_likeliest
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the target is the likeliest choice; a tie goes to the choice named first."""
    return grade_likeliest(example, completion, completion.choice_logprobs)


POLICY = ScoringPolicy(name="likelihood", score=score, reads=("choice",), needs_choices=True)
