"""Whether a reply follows every verifiable instruction of its request, as IFEval asks.

The example's details hold `instruction_id_list` and, in the same order, `kwargs`, as the
benchmark's rows do. The kinds and their checkers are in `answers.instructions`.

Source: arXiv 2311.07911. The score is the strict one by prompt: 1 when all instructions are followed
by the reply as it is, else 0, not the share of them. Beside it the paper's other three numbers are
reported: by instruction, and loosely, where it is enough that the reply follows without its first
line, its last line or its asterisks. A reply cut at its limit is unscored, where the paper checks
it as if it were whole.
"""

from collections.abc import Sequence
from typing import Any, cast

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.instructions import follows, follows_loosely
from cg_pipeline.answers.own_part import without_reasoning
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy

_ANY_REPLY = "Yes."
_FOLLOWED, _MISSED, _LOOSELY, _NONE = "followed", "missed: ", "; loosely missed: ", "none"


def score(example: Example, completion: Completion) -> Score:
    """1 when every instruction is followed; the answer shown names those that are not, strictly and loosely.

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
    missed = [(name, given) for name, given in _instructions(example) if not follows(reply, name, given)]
    loosely = [name for name, given in missed if not follows_loosely(reply, name, given)]
    return grade(completion, float(not missed), answer=_verdict([name for name, _ in missed], loosely))


def shares_followed(examples: Sequence[Example], scores: Sequence[Score]) -> dict[str, float]:
    """Shares of the scored prompts, and of all their instructions, followed strictly and loosely."""
    size = {example.example_id: len(_instructions(example)) for example in examples}
    scored = [each for each in scores if each.value is not None]
    n_asked = sum(size[each.example_id] for each in scored)
    if not scored:
        return {}
    missed = [_missed(each.answer) for each in scored]
    found: dict[str, float] = {}
    for place, manner in enumerate(("strict", "loose")):
        n_missed = [len(both[place]) for both in missed]
        found[f"prompt_{manner}"] = n_missed.count(0) / len(scored)
        found[f"instruction_{manner}"] = 1 - sum(n_missed) / n_asked
    return found


def _verdict(missed: Sequence[str], loosely: Sequence[str]) -> str:
    """What is missed, as text that `_missed` can read."""
    if not missed:
        return _FOLLOWED
    return f"{_MISSED}{', '.join(missed)}{_LOOSELY}{', '.join(loosely) or _NONE}"


def _missed(verdict: str) -> tuple[list[str], list[str]]:
    """The instructions that a reply misses, strictly and loosely."""
    if verdict == _FOLLOWED:
        return [], []
    strictly, _, loosely = verdict.removeprefix(_MISSED).partition(_LOOSELY)
    return strictly.split(", "), [] if loosely == _NONE else loosely.split(", ")


def _instructions(example: Example) -> list[tuple[str, dict[str, Any]]]:
    details = details_of(example)
    names: list[str] = details.get("instruction_id_list") or []
    given: list[dict[str, Any]] = details.get("kwargs") or []
    if not (_all_are(str, names) and _all_are(dict, given)):
        raise ValueError(
            f"details of example {example.example_id} hold {names!r} and {given!r}; expected a list of "
            "instructions and a list with the arguments of each. Correct them."
        )
    if not names or len(names) != len(given):
        raise ValueError(
            f"details of example {example.example_id} name {len(names)} instructions "
            f"and {len(given)} kwargs; expected 'instruction_id_list' and 'kwargs' of one length. Add them."
        )
    return list(zip(names, given, strict=True))


def fault(example: Example) -> str:
    """What is wrong with an example's instructions; empty where every one can be checked."""
    try:
        for name, given in _instructions(example):
            follows(_ANY_REPLY, name, given)
    except ValueError as error:
        return str(error)
    return ""


def _all_are(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(each, kind) for each in cast("list[Any]", values))


POLICY = ScoringPolicy(
    name="instructions",
    score=score,
    summarise=shares_followed,
    libraries=("py3langid",),
    needs_targets=False,
    needs_details=("instruction_id_list", "kwargs"),
    example_fault=fault,
)
