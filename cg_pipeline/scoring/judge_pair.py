"""An answer against a baseline's, compared by a language model in both orders.

The details' `baseline` is the other answer. A judge that prefers one answer in both orders has
decided; one that follows the order, or finds a tie, has not, and the score is 0.5.

An answer cut at its limit is unscored (truncated): it would lose to a whole one for the limit's sake.

Source: Zheng et al. 2023, arXiv 2306.05685, section 3.4: position bias, the conservative
approach.
"""

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.own_part import without_reasoning
from cg_pipeline.answers.quoting import NOTE, quoted
from cg_pipeline.protocols import Judge, JudgeFailed
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy

VERDICTS = ("first", "second", "tie")

PROMPT = """\
Below are a user's question and the answers of two assistants. {note}

{question}

{first}

{second}

Which answer is better? Consider helpfulness, relevance, accuracy, depth and level of detail; \
neither length nor the order of the two is a merit. Be as objective as possible.
Verdict: first, second, or tie.\
"""


def score(example: Example, completion: Completion, judge: Judge | None = None) -> Score:
    """1 when the answer is preferred in both orders, 0 when the baseline is, else 0.5; unscored when cut.

    Raises:
        ValueError: the example has no baseline answer.
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if judge is None:
        return grade(completion, None, reason="no_judge")
    if completion.stop == "length":
        return grade(completion, None, reason="truncated")
    answer, baseline = without_reasoning(completion.text), _baseline(example)
    if not answer:
        return grade(completion, None, reason="unparsed")
    try:
        ahead = judge.decide(build_prompt(example, answer, baseline), VERDICTS)
        behind = judge.decide(build_prompt(example, baseline, answer), VERDICTS)
    except JudgeFailed as failure:
        return grade(completion, None, reason=failure.reason)
    values = {("first", "second"): 1.0, ("second", "first"): 0.0}
    return grade(completion, values.get((ahead, behind), 0.5), answer=f"{ahead}, then {behind}")


def build_prompt(example: Example, first: str, second: str) -> str:
    """The question to the judge, the two answers in this order."""
    return PROMPT.format(
        note=NOTE,
        question=quoted("question", example.prompt),
        first=quoted("first_answer", first),
        second=quoted("second_answer", second),
    )


def _baseline(example: Example) -> str:
    baseline = details_of(example).get("baseline") or ""
    if not str(baseline).strip():
        raise ValueError(
            f"details of example {example.example_id} hold no baseline; expected the answer to compare with. "
            "Add 'baseline', or choose 'judge_answer'."
        )
    return str(baseline)


def fault(example: Example) -> str:
    """Why nothing can be compared with an example's baseline; empty where it can."""
    given = details_of(example).get("baseline")
    return "" if given and str(given).strip() else f"baseline is {given!r}; expected an answer. Add it."


POLICY = ScoringPolicy(
    name="judge_pair",
    score=score,
    judged=True,
    needs_targets=False,
    needs_details=("baseline",),
    example_fault=fault,
)
