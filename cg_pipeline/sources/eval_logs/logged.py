"""What a log of another tool says of one answer, in one shape for all tools."""

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Stop = Literal["end", "length", "choice", "overflow", "refused", "timed_out", "failed"]

ONE_SCORE = "the log has one score for all repeats"
"""Why a repeat is lost whose score is told in one number with those of others."""

_SPACES = re.compile(r"[^\S\n]+")


@dataclass(frozen=True, kw_only=True)
class LoggedAnswer:
    """One answer, and all that may tell which example it is about."""

    place: str
    """File and line, or file and sample, for people."""
    prompt: str
    """What the model was given, worked examples included; empty when the log does not say."""
    fields: tuple[tuple[str, str], ...] = ()
    """Texts of the benchmark's row, each with its name."""
    orders: tuple[tuple[str, ...], ...] = ()
    """Lists of texts that may be the choices, in the order of the log-likelihoods."""
    contexts: tuple[str, ...] = ()
    """What each choice followed, where they differ."""
    target: str = ""
    """The right answer as logged: an index, a letter or a text."""
    sample: int = 0
    text: str = ""
    """The generated answer."""
    logprobs: tuple[float, ...] = ()
    unconditional: tuple[float, ...] = ()
    stop: Stop
    n_prompt_tokens: int = 0
    n_completion_tokens: int = 0
    value: float | None
    """The score as given, in [0, 1]."""
    metric: str = ""
    """The name under which the score stands in the log."""
    filter: str = ""
    """The filter that the score is of, of tools that have some."""
    reason: str = ""
    """Why there is no score."""
    answer: str = ""
    """What the tool read out of the text."""
    loss: str = ""
    """Why the answer cannot be taken, whichever example it is about; empty for one that can."""


def normal(text: str) -> str:
    """A text for comparison: one form of each character, no case, single spaces; line breaks stay."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    lines = (_SPACES.sub(" ", line).strip() for line in folded.strip().split("\n"))
    return "\n".join(lines)


def flat(text: str) -> str:
    """The same on one line."""
    return " ".join(normal(text).split())


def storable(text: str) -> str:
    """A text without what no table keeps: NUL, and halves of surrogate pairs, become replacement marks."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def graded(value: Any) -> tuple[float | None, str]:
    """A logged score in [0, 1], or None and the reason: never guessed, never rescaled."""
    if value is None:
        return None, "no_score_logged"
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None, "score_not_a_number"
    except OverflowError:
        return None, "score_out_of_range"
    if math.isnan(number):
        return None, "not_a_number"
    return (number, "") if 0 <= number <= 1 else (None, "score_out_of_range")


def texts_of(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a row, at any depth, with the name of the field it stands in."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts_of(item, str(key))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_of(item, name)


def lists_of(value: Any) -> Iterator[tuple[str, ...]]:
    """Every list of two or more texts in a row, at any depth."""
    if isinstance(value, (list, tuple)) and len(value) > 1 and all(isinstance(item, str) for item in value):
        yield tuple(value)
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    ):
        if not isinstance(item, str):
            yield from lists_of(item)
