"""What every scoring policy ends with: the score of a completion, or why it has none."""

from cg_pipeline.records import Completion, Score, outcome_of


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
