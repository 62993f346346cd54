"""A short answer equal to one of the targets in normal form.

The answer is what the text announces ("the answer is …"), else its first sentence, and in "The
capital of France is Paris." it is Paris: `answers.short_answer` tells how it is read, and which
prose is unscored. How both sides are normalised, and where that departs from SQuAD's script, is
told in `answers.normal`.
"""

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.short_answer import read_short_answer
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the answer equals any target."""
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    found, cut = read_short_answer(completion.text, example.targets), completion.stop == "length"
    if found is None or (cut and not found.settled):
        return grade(completion, None, reason="truncated" if cut else "unparsed")
    return grade(completion, float(found.is_a_target), answer=found.text)


POLICY = ScoringPolicy(name="exact_match", score=score)
