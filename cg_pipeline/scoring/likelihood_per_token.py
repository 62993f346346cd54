"""The choice with the highest log-likelihood per token.

Depends on the tokenizer, so models compare by `likelihood_per_byte` instead; here for
comparison with published numbers.

Source: Brown et al. 2020, arXiv 2005.14165, section 2.4.
"""

import math

from cg_pipeline.answers.likeliest import grade_likeliest
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the target is the likeliest choice per token; a tie goes to the choice named first."""
    pairs = zip(completion.choice_logprobs, completion.choice_tokens, strict=False)
    rates = [logprob / n_tokens if n_tokens else math.nan for logprob, n_tokens in pairs]
    return grade_likeliest(example, completion, rates)


POLICY = ScoringPolicy(name="likelihood_per_token", score=score, reads=("choice",), needs_choices=True)
