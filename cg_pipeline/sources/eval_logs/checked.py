"""What is read of a logged row, checked before it is used: what does not fit is one sentence with its place.

*Why:* a log is another program's, of any version; a field of another shape must not surface as an
`AttributeError` ten calls later, nor as an answer of "None".
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os.path import commonpath
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from cg_pipeline.sources.json_lines import show

R = TypeVar("R", bound=pydantic.BaseModel)


def read_as(shape: type[R], place: str, row: object, remedy: str) -> R:
    """The fields of a row that are used; each is described in `shape` by what is expected of it.

    Raises:
        ValueError: a field is absent or of another shape; the message says where, what was got and what
            is expected.
    """
    try:
        return shape.model_validate(row)
    except pydantic.ValidationError as error:
        fault = error.errors(include_url=False)[0]
    name = str(fault["loc"][0]) if fault["loc"] else ""
    if not name:
        raise ValueError(f"{place} is {show(row)}; expected a record of fields. {remedy}")
    expected = shape.model_fields[name].description
    got = "is not there" if fault["type"] == "missing" else f"is {show(fault['input'])}"
    path = ".".join(str(part) for part in fault["loc"] if not isinstance(part, str) or part.isidentifier())
    raise ValueError(f"{place}: field {path!r} {got}; expected {expected}. {remedy}")


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Faults that only depth or size can cause end as a sentence with their place.

    Raises:
        ValueError: a value is nested too deep or too large a number.
    """
    try:
        yield
    except (RecursionError, OverflowError) as error:
        fault = "is nested too deep" if isinstance(error, RecursionError) else "holds too large a number"
        raise ValueError(f"{place} {fault} to be read; expected what the tool writes.") from None


def number_of(place: str, field: str, value: Any) -> float:
    """A number that may be written as a text."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{place}: {field} holds {show(value)}; expected log-likelihoods.") from None


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its kind if it says nothing."""
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def titled(paths: Sequence[Path]) -> dict[Path, str]:
    """A title of each file: its name; where two have one name, their paths below what all have in common."""
    if len({path.name for path in paths}) == len(set(paths)):
        return {path: path.name for path in paths}
    whole = {path: path.absolute() for path in paths}
    above = commonpath([path.parent for path in whole.values()])
    return {path: each.relative_to(above).as_posix() for path, each in whole.items()}
