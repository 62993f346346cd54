"""One number in a generated answer, compared by value.

The number read is the one that the text announces ("the answer is …", "#### …", a box), or
else the one of the last sentence that has any. Which of a sentence's numbers that is, is told in
`answers.said_number`: an announced sentence with several of which none is plainly meant is
unscored; one that is not announced then counts by its last number, as in lm-evaluation-harness.
How numbers are written is told in `answers.numbers`.
"""

from fractions import Fraction

from cg_pipeline.answers.answer_number import is_settled, readings
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.numbers import number_of
from cg_pipeline.answers.targets import number_expected
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the number equals a target exactly; unscored when none is found or it may be cut off.

    "5 %" and "3 million" equal 5 and 3 as well as 1/20 and 3,000,000: which one is meant, the question says.

    Raises:
        ValueError: a target is no number.
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if completion.stop == "length" and not is_settled(completion.text):
        return grade(completion, None, reason="truncated")
    found = readings(completion.text)
    if not found:
        return grade(completion, None, reason="unparsed")
    targets = [_target(example, text) for text in example.targets]
    return grade(
        completion, float(any(value in targets for value in found)), answer=f"{float(found[0]):.12g}"
    )


def _target(example: Example, text: str) -> Fraction:
    value = number_of(text)
    if value is None:
        raise ValueError(
            f"target of example {example.example_id} is {text!r}; expected a number. "
            "Correct it, or choose another scoring policy."
        )
    return value


POLICY = ScoringPolicy(name="numeric", score=score, target_fault=number_expected)
