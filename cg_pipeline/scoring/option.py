"""One of the example's lettered choices, read out of a generated answer.

What counts as choosing one is told in `answers.options`; a text that chooses none, or more
than one, is unscored, never wrong (faults F10 and F11 of neighbouring tools).
"""

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.options import read_option
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the option chosen is the target."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    choice, cut = read_option(completion.text, example.choices), completion.stop == "length"
    if choice is None or (cut and not choice.settled):
        return grade(completion, None, reason="truncated" if cut else "unparsed")
    answer = example.choices[choice.index]
    return grade(completion, float(answer in example.targets), answer=answer)


POLICY = ScoringPolicy(name="option", score=score, needs_choices=True)
