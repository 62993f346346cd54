"""Whether a reply follows every verifiable instruction of its request, as IFEval asks.

The example's details hold `instruction_id_list` and, in the same order, `kwargs`, as the
benchmark's rows do. The kinds and their checkers are in `answers.instructions`.

Source: arXiv 2311.07911, the strict score by prompt: 1 when all instructions are followed, else
0, not the share of them. The reply is checked as it is, without the loose variants. A reply
cut at its limit is unscored, where the paper checks it as if it were whole.
"""

from typing import Any

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.instructions import follows
from cg_pipeline.answers.own_part import without_reasoning
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy, grade, unanswered


def score(example: Example, completion: Completion) -> Score:
    """1 when every instruction is followed; the answer shown names those that are not.

    Raises:
        ValueError: the details name no instruction, or an unknown one.
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if completion.stop == "length":
        return grade(completion, None, reason="truncated")
    reply = without_reasoning(completion.text)
    if not reply.strip():
        return grade(completion, None, reason="unparsed")
    missed = [name for name, given in _instructions(example) if not follows(reply, name, given)]
    return grade(
        completion, float(not missed), answer="missed: " + ", ".join(missed) if missed else "followed"
    )


def _instructions(example: Example) -> list[tuple[str, dict[str, Any]]]:
    details = details_of(example)
    names: list[str] = details.get("instruction_id_list") or []
    given: list[dict[str, Any]] = details.get("kwargs") or []
    if not names or len(names) != len(given):
        raise ValueError(
            f"details of example {example.example_id} name {len(names)} instructions "
            f"and {len(given)} kwargs; expected 'instruction_id_list' and 'kwargs' of one length. Add them."
        )
    return list(zip(names, given, strict=True))


POLICY = ScoringPolicy(
    name="instructions",
    score=score,
    libraries=("py3langid",),
    needs_targets=False,
    needs_details=("instruction_id_list", "kwargs"),
)
