"""What is wrong with a declaration whose keys are right by themselves: they do not fit together.

A policy says what it needs (`specs.ScoringPolicy`), so one that could never score what is declared is
refused here, with what is missing, and not found out when everything is unscored.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from cg_pipeline.catalog import lookup
from cg_pipeline.sources.declared_items import GENERATED
from cg_pipeline.sources.json_lines import show
from cg_pipeline.specs import Sampling, ScoringPolicy

SCORING: Mapping[str, str] = {
    "multiple_choice": "likelihood_per_byte",
    "lettered": "likelihood",
    "yes_no": "likelihood",
    "numeric": "numeric",
}
"""The policy of a task that is declared without one."""
_BOUNDS: Mapping[str, tuple[int, int]] = {
    "version": (1, 1_000_000),
    "n_shots": (0, 1_000),
    "max_new_tokens": (1, 100_000),
}
"""What a number may be; a larger one is a slip that would keep a machine busy for years."""
_MOST_DRAWN, _HOTTEST, _LAST_SEED = 1_000, 100, 2**31 - 1
_DRAWN: Mapping[str, tuple[type, ...]] = {
    "n": (int,),
    "temperature": (int, float),
    "top_p": (int, float),
    "seed": (int,),
}


def misfits(declared: Mapping[str, Any], policies: Mapping[str, ScoringPolicy]) -> Iterator[str]:
    """Every fault, as a sentence."""
    try:
        policy = policy_of(declared, policies)
    except KeyError as error:
        scoring, task = given(declared, "scoring"), declared["task"]
        yield f"scoring is {scoring} for task {task!r}: {error.args[0]} Correct it."
    else:
        yield from _of_policy(declared, policy)
        response = response_of(declared["task"], policy)
        yield from _of_response(declared, response)
        lettered = declared["task"] == "lettered" or (response == "generation" and policy.needs_choices)
        if lettered and "prompt" in declared:
            yield f"prompt is {show(declared['prompt'])}; expected it where no letters are shown. Remove it."
    yield from _of_sampling(declared.get("sampling"))
    for key, (least, most) in _BOUNDS.items():
        if key in declared and not least <= declared[key] <= most:
            yield f"{key} is {show(declared[key])}; expected {least} to {most:,}. Correct it."
    if declared.get("shots_file") and not declared.get("n_shots"):
        yield (
            f"n_shots is {given(declared, 'n_shots')}; expected how many worked examples of the shots_file "
            "to show, at least 1. Correct it."
        )
    if not all(isinstance(text, str) and text for text in declared.get("stop", ())):
        yield f"stop is {show(declared['stop'])}; expected a list of texts. Correct it."


def policy_of(declared: Mapping[str, Any], policies: Mapping[str, ScoringPolicy]) -> ScoringPolicy:
    """The scoring policy declared, or the task's own.

    Raises:
        KeyError: there is none of that name.
    """
    return lookup("scoring policy", declared.get("scoring") or SCORING.get(declared["task"], ""), policies)


def response_of(task: str, policy: ScoringPolicy) -> Literal["choice", "generation"]:
    """How an answer is given: by likelihoods where there are choices and the policy reads them."""
    return "choice" if task not in GENERATED and "choice" in policy.reads else "generation"


def drawn(declared: Mapping[str, Any]) -> Sampling | None:
    """How several answers are drawn; None where one is enough."""
    return Sampling(**declared["sampling"]) if declared.get("sampling") else None


def given(table: Mapping[str, Any], key: str) -> str:
    """A value for a sentence."""
    return show(table[key]) if key in table else "missing"


def _of_policy(declared: Mapping[str, Any], policy: ScoringPolicy) -> Iterator[str]:
    task, fields, name = declared["task"], declared["fields"], policy.name
    if wanted := _lacking(task, policy):
        yield f"scoring is {name!r} for task {task!r}; expected one for {wanted}. Correct it."
    if lacking := [each for each in policy.needs_details if each not in fields.get("details", ())]:
        yield (
            f"fields.details is {given(fields, 'details')}; expected {_listed(lacking)} among them, "
            f"which scoring {name!r} needs. Add it, or correct scoring."
        )
    if policy.needs_unconditional and not declared.get("unconditional"):
        yield (
            f"unconditional is missing; expected the neutral prompt that scoring {name!r} compares with. "
            "Add it, or correct scoring."
        )
    if policy.needs_targets and "answer" not in fields:
        yield "fields.answer is missing; expected the name of a field. Add or correct it."


def _lacking(task: str, policy: ScoringPolicy) -> str:
    """What kind of policy a task needs, where this is another."""
    if task in GENERATED:
        return "generated answers" if policy.needs_choices else ""
    if policy.needs_stems:
        return "choices as they stand, for nothing declared gives them a shared end"
    if task == "yes_no":
        faulty = policy.target_fault is not None and any(map(policy.target_fault, ("yes", "no")))
        return "yes and no" if faulty or not policy.needs_targets else ""
    return "" if policy.needs_choices else "choices"


def _of_response(declared: Mapping[str, Any], response: str) -> Iterator[str]:
    task, generated = declared["task"], response == "generation"
    kinds = {"max_new_tokens": True, "opening": True, "sampling": True, "unconditional": False}
    for key in (key for key, wanted in kinds.items() if key in declared and wanted != generated):
        kind = "a generated answer" if kinds[key] else "likelihoods of choices"
        yield (
            f"{key} is {show(declared[key])} for task {task!r}; expected it for {kind} only. "
            "Remove it, or correct scoring."
        )


def _of_sampling(sampling: Any) -> Iterator[str]:
    if sampling is None:
        return
    known = set(sampling) <= set(_DRAWN) and {"n", "temperature"} <= set(sampling)
    right = known and all(
        isinstance(value, _DRAWN[key]) and not isinstance(value, bool) for key, value in sampling.items()
    )
    if (
        not right
        or not 1 <= sampling["n"] <= _MOST_DRAWN
        or not 0 < sampling["temperature"] <= _HOTTEST
        or not 0 < sampling.get("top_p", 1) <= 1
        or not 0 <= sampling.get("seed", 0) <= _LAST_SEED
    ):
        yield (
            f"sampling is {show(sampling)}; expected n, 1 to {_MOST_DRAWN:,}, and temperature, above 0 up to "
            f"{_HOTTEST}, and as may be given top_p, above 0 up to 1, and seed, 0 to {_LAST_SEED:,}. "
            "Correct it."
        )


def _listed(names: Sequence[str]) -> str:
    return " and ".join(map(repr, names))
