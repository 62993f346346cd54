"""The option that a generated text chooses, graded: what policies on lettered choices share."""

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.options import read_option
from cg_pipeline.records import Completion, Example, Score


def grade_chosen(example: Example, completion: Completion) -> Score:
    """1 when the one option that the text chooses is the target; a text that chooses none is unscored."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    choice, cut = read_option(completion.text, example.choices), completion.stop == "length"
    if choice is None or (cut and not choice.settled):
        return grade(completion, None, reason="truncated" if cut else "unparsed")
    answer = example.choices[choice.index]
    return grade(completion, float(answer in example.targets), answer=answer)
