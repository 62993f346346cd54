"""A short answer equal to one of the targets in normal form.

The answer is what the text announces ("the answer is …"), else its first line; how both sides
are normalised, and where that departs from SQuAD's script, is told in `answers.normal`.
"""

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.normal import normal_text
from cg_pipeline.answers.short_answer import is_settled, short_answer
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the answer equals any target."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if completion.stop == "length" and not is_settled(completion.text):
        return grade(completion, None, reason="truncated")
    answer = short_answer(completion.text)
    if not answer:
        return grade(completion, None, reason="unparsed")
    same = normal_text(answer) in map(normal_text, example.targets)
    return grade(completion, float(same), answer=answer)


POLICY = ScoringPolicy(name="exact_match", score=score)
