"""The choice with the highest log-likelihood, summed over its tokens.

For choices that differ in a word or two, such as paired sentences; for choices of
unequal length see `likelihood_per_byte`.
"""

import math

from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy, grade, unanswered


def score(example: Example, completion: Completion) -> Score:
    """1 when the target is the likeliest choice; a tie goes to the choice named first."""
    logprobs = completion.choice_logprobs
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if any(map(math.isnan, completion.choice_logprobs)):
        return grade(completion, None, reason="not_a_number")
    best = max(range(len(logprobs)), key=lambda i: logprobs[i])
    answer = example.choices[best]
    return grade(completion, float(answer in example.targets), answer=answer)


POLICY = ScoringPolicy(name="likelihood", score=score)
