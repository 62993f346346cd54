"""What every scoring policy ends with: the score of a completion, or why it has none."""

import logging
from typing import Any

from cg_pipeline.records import Completion, Example, Score, outcome_of
from cg_pipeline.specs import ScoringPolicy

_FAULTS = (
    *(TypeError, AttributeError, LookupError, StopIteration),
    *(ArithmeticError, RecursionError, UnicodeError),
)
"""What a policy raises that its author did not foresee; a ValueError is about the example."""

log = logging.getLogger(__name__)


def unanswered(completion: Completion) -> str:
    """Why there is no answer to score (overflow, refused, timed_out, failed); empty when there is one."""
    return "" if completion.stop in ("end", "length", "choice") else completion.stop


def grade(completion: Completion, value: float | None, *, answer: str = "", reason: str = "") -> Score:
    """The score of a completion: `value` in [0, 1], or None together with the reason it is unscored."""
    return Score(
        model=completion.model,
        benchmark=completion.benchmark,
        example_id=completion.example_id,
        sample=completion.sample,
        outcome=outcome_of(value),
        value=value,
        reason=reason,
        answer=answer,
    )


def score_one(policy: ScoringPolicy, example: Example, completion: Completion, *decider: Any) -> Score:
    """The policy's score; one text that breaks it is unscored(scoring_failed), logged, not the end of all.

    The share of unscored is checked, so that a policy that always breaks shows.
    """
    try:
        return policy.score(example, completion, *decider)
    except _FAULTS as error:
        log.warning(
            "Policy %r broke on sample %d of example %s; it is unscored. Correct the policy.",
            policy.name,
            completion.sample,
            completion.example_id,
            exc_info=True,
        )
        return grade(completion, None, answer=type(error).__name__, reason="scoring_failed")
