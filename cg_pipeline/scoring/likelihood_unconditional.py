"""The choice whose log-likelihood the question raises most: pointwise mutual information.

log P(choice | question) − log P(choice | neutral prompt), so that a choice which is likely
whatever is asked ("yes", a frequent word) has no advantage. The neutral prompt is the
benchmark's `unconditional`; without one nothing is scored.

Source: Holtzman et al. 2021, arXiv 2104.08315, PMI_DC; for the choice itself, not for the
whole of a surface form's competitors.
"""

from cg_pipeline.answers.grading import grade
from cg_pipeline.answers.likeliest import grade_likeliest
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the target is the choice with the largest difference; a tie goes to the choice named first."""
    given, neutral = completion.choice_logprobs, completion.unconditional_logprobs
    if given and len(neutral) != len(given):
        return grade(completion, None, reason="no_unconditional")
    differences = [after - before for after, before in zip(given, neutral, strict=False)]
    return grade_likeliest(example, completion, differences)


POLICY = ScoringPolicy(
    name="likelihood_unconditional",
    score=score,
    reads=("choice",),
    needs_choices=True,
    needs_unconditional=True,
)
