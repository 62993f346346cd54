"""Yes or no, read out of a generated answer; "true" and "false" count as well."""

from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.targets import yes_no_expected
from cg_pipeline.answers.yes_no import meaning, read_yes_no
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion) -> Score:
    """1 when the answer means what the target means.

    Raises:
        ValueError: the target is neither yes nor no.
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    target = meaning(example.targets[0])
    if target is None:
        raise ValueError(
            f"target of example {example.example_id} is {example.targets[0]!r}; expected 'yes' or 'no'. "
            "Correct it, or choose another scoring policy."
        )
    found, cut = read_yes_no(completion.text), completion.stop == "length"
    if found is None or (cut and not found.settled):
        return grade(completion, None, reason="truncated" if cut else "unparsed")
    return grade(completion, float(found.says_yes == target), answer="yes" if found.says_yes else "no")


POLICY = ScoringPolicy(name="yes_no", score=score, target_fault=yes_no_expected)
