"""Which targets an answer can equal at all: what is expected in place of one that none can, in words.

Empty for a sound target. So a wrong answer key is found when it is read, not when all has been answered.
"""

from collections.abc import Iterator

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.numbers import number_of
from cg_pipeline.answers.options import LETTERS
from cg_pipeline.answers.yes_no import meaning
from cg_pipeline.records import Example
from cg_pipeline.specs import ScoringPolicy

DECLINED, ANSWERED = "decline", "answer"
"""What a request's target says: whether it should be declined."""


def number_expected(target: str) -> str:
    """A number and nothing else."""
    return "" if number_of(target) is not None else "a number such as '12' or '3.5'"


def yes_no_expected(target: str) -> str:
    """Yes or no, or another word for it."""
    return "" if meaning(target) is not None else "yes or no"


def decline_expected(target: str) -> str:
    """One of the two words."""
    return "" if target in (DECLINED, ANSWERED) else f"{DECLINED!r} or {ANSWERED!r}"


def unnamed_choice(example: Example) -> str:
    """Why the bias of an answer could not be told: a choice that the details name and that is none."""
    letters, details = LETTERS[: len(example.choices)], details_of(example)
    for name in ("unknown_choice", "stereotype_consistent_choice"):
        given = details.get(name, 0)
        known = given in example.choices or (isinstance(given, str) and len(given) == 1 and given in letters)
        if not known and not (isinstance(given, int) and 0 <= given < len(example.choices)):
            return (
                f"{name} is {given!r}; expected one of {example.choices!r}, its letter or index. Correct it."
            )
    return ""


def value_faults(example: Example, policy: ScoringPolicy, target: str = "target") -> Iterator[str]:
    """Why no answer could ever be scored, one sentence each: a target or details of the wrong kind.

    What an example lacks altogether is another matter, of `checks.targets_answerable`.
    """
    for text in example.targets:
        if policy.target_fault and (expected := policy.target_fault(text)):
            yield f"{target} is {text!r}; expected {expected}, for scoring {policy.name!r}. Correct it."
    if policy.example_fault and details_of(example).keys() >= set(policy.needs_details):
        yield from filter(None, [policy.example_fault(example)])
