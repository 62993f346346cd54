r"""A mathematical answer equal to one of the targets, however it is written.

The answer is the last `\boxed{…}` (several that only commas, "and" or "or" part are one answer),
or what is announced, or the last formula. What looks the same after squeezing out blanks and the
like is equal; the rest is decided by math-verify (see `answers.latex_equality`). An answer that
cannot be compared in time is unscored(undecided).

Source: the MATH benchmark, arXiv 2103.03874, which compares texts; a library that knows
mathematics marks fewer right answers wrong.
"""

from cg_pipeline.answers.boxed import last_boxed, last_boxes
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.latex import is_settled, latex_answer, squeezed
from cg_pipeline.answers.latex_equality import same_mathematics
from cg_pipeline.answers.own_part import own_part
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy

_MOST_FORMS = 3
"""Most boxes that may write one answer in several ways."""


def score(example: Example, completion: Completion) -> Score:
    """1 when the answer equals any target."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if completion.stop == "length" and not is_settled(completion.text):
        return grade(completion, None, reason="truncated")
    answer = latex_answer(completion.text)
    if answer is None:
        return grade(completion, None, reason="unparsed")
    golds = [last_boxed(target) or target.strip().strip("$") for target in example.targets]
    verdicts = [_given(gold, answer, last_boxes(own_part(completion.text))) for gold in golds]
    if True in verdicts:
        return grade(completion, 1.0, answer=answer)
    if None in verdicts:
        return grade(completion, None, answer=answer, reason="undecided")
    return grade(completion, 0.0, answer=answer)


def _given(gold: str, answer: str, boxes: tuple[str, ...]) -> bool | None:
    """Whether the answer is the target, or several boxes are the target each: 1/2 or 0.5."""
    verdict = _same(gold, answer)
    if verdict or not 1 < len(boxes) <= _MOST_FORMS:
        return verdict
    return all(_same(gold, box) for box in boxes) or verdict


def _same(gold: str, answer: str) -> bool | None:
    return squeezed(gold) == squeezed(answer) or same_mathematics(gold, answer)


POLICY = ScoringPolicy(
    name="math_equivalence", score=score, libraries=("math-verify", "latex2sympy2_extended", "sympy")
)
