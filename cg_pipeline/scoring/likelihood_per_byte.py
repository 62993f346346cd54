"""The choice with the highest log-likelihood per UTF-8 byte.

Dividing by bytes removes the advantage of short choices and, unlike dividing by tokens,
does not depend on the tokenizer.

Source: the normalisation known as acc_norm in lm-evaluation-harness divides by characters;
bytes differ from it for non-ASCII choices only.
"""

import math

from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy, grade, unanswered


def score(example: Example, completion: Completion) -> Score:
    """1 when the target is the likeliest choice per byte; a tie goes to the choice named first."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if any(map(math.isnan, completion.choice_logprobs)):
        return grade(completion, None, reason="not_a_number")
    rates = [
        logprob / len(choice.encode())
        for logprob, choice in zip(completion.choice_logprobs, example.choices, strict=True)
    ]
    answer = example.choices[max(range(len(rates)), key=lambda i: rates[i])]
    return grade(completion, float(answer in example.targets), answer=answer)


POLICY = ScoringPolicy(name="likelihood_per_byte", score=score)
