"""Rows become examples: each is checked against its type, put in normal form and posed.

A file is taken whole or not at all: every faulty line is named with what was found and
what to do, and nothing of the file is used until it is mended. Other files are not
affected. A question that stands twice is a fault of our own files; in other people's it
cannot be mended, so repetitions are left out there, contradictory ones with all their
answers, and reported.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.targets import value_faults
from cg_pipeline.catalog import lookup
from cg_pipeline.curation import Posed, contradicts, find_distinct, question_of
from cg_pipeline.ink import is_blank
from cg_pipeline.items import Item, NormalisedRow, normalised_item
from cg_pipeline.pipeline import pose
from cg_pipeline.records import Example
from cg_pipeline.scoring import POLICIES
from cg_pipeline.sources.declared_items import Fields, declared_fields
from cg_pipeline.sources.json_lines import show
from cg_pipeline.sources.lines import Line
from cg_pipeline.specs import Benchmark, ScoringPolicy

_SHOWN_FAULTS = 10
_LONGEST_FAULT = 500


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What rows of one kind of source look like, and how they are turned into items."""

    row: Any
    """TypedDict of a row; one without fields takes any row."""
    to_item: Callable[[Any], Item]
    ours: bool
    """Whether unknown fields and repeated questions are faults, or are left out."""
    declared: Fields | None = None
    """What the file calls each part of a row, where that is declared."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was read of one source."""

    posed: list[Posed]
    """Every example with its item, in the order of the rows."""
    repeated: tuple[str, ...] = ()
    """Ids of examples that were left out because an earlier one asks the same."""
    contradictory: tuple[str, ...] = ()
    """Ids of examples that were left out because others ask the same with another answer."""

    @property
    def examples(self) -> list[Example]:
        """The examples alone."""
        return [example for example, _ in self.posed]


def own_shape(benchmark: Benchmark) -> Shape:
    """Rows of a local file: exactly the benchmark's own."""
    fields = declared_fields(benchmark.to_item)
    return Shape(row=benchmark.row, to_item=benchmark.to_item, ours=True, declared=fields)


def hub_shape(benchmark: Benchmark) -> Shape:
    """Rows of the hub: the benchmark's own fields, among others."""
    return Shape(row=benchmark.row, to_item=benchmark.to_item, ours=False)


def normalised_shape(benchmark: Benchmark) -> Shape:
    """Rows of a directory of benchmark files."""
    return Shape(row=NormalisedRow, to_item=benchmark.from_normalised or normalised_item, ours=False)


def read_rows(benchmark: Benchmark, place: str, lines: Iterable[Line], shape: Shape) -> Reading:
    """Examples of all lines of a place, in order.

    Raises:
        ValueError: there is no row, or some are faulty (one sentence each, the first ten shown), or none is
            left.
    """
    lines = list(lines)
    _check_names(benchmark, place, lines, shape)
    validate = _validator(shape)
    found: dict[int, Posed] = {}
    faults: dict[int, list[str]] = {}
    asked: dict[object, int] = {}
    for line in lines:
        try:
            item = shape.to_item(validate(_sound(line)))
            example = pose(benchmark, item)
            if is_blank(item.question):
                raise ValueError(f"question is {item.question!r}; expected text. Write the question.")
            _comparable(benchmark, example, shape)
            earlier = asked.setdefault(question_of(example), line.number)
            if shape.ours and earlier != line.number:
                raise ValueError(_repetition(example, found[earlier][0], earlier))
            found[line.number] = example, item
        except ValidationError as error:
            faults[line.number] = [_explain(fault, _fields(shape.row)) for fault in error.errors()]
        except ValueError as error:
            faults[line.number] = [str(error)]
        except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
            if shape.ours:  # its fields have been checked: the reader is at fault, not the file
                raise
            faults[line.number] = [
                f"a field is not what this benchmark's rows have ({type(error).__name__}: {error}); "
                "expected a row as the benchmark's file shows. Correct it."
            ]
    if faults:
        raise ValueError(_summary(benchmark, place, faults))
    if not found:
        raise ValueError(
            f"{place} holds no row; expected one question per row. Add rows or remove the benchmark."
        )
    return _without_repetitions(benchmark, place, list(found.values()))


def _check_names(benchmark: Benchmark, place: str, lines: Sequence[Line], shape: Shape) -> None:
    """Refuse a declared field that no row has. Where one is absent or empty here and there, its row is read.

    *Why of the file as a whole:* a row may have fewer choices than others, so a misspelt one would go unseen.
    """
    known = dict.fromkeys(name for line in lines for name in line.row)
    if shape.declared is None or not known or any(line.fault for line in lines):
        return
    faults: list[str] = []
    for name in shape.declared.names:
        try:
            lookup("field", name, known)
        except KeyError as error:
            faults.append(_cut(f"{place}: {error.args[0]}") + " Correct the declaration, or add the field.")
    if faults:
        raise ValueError("\n".join([f"Benchmark {benchmark.name!r} names fields that no row has:", *faults]))


def _sound(line: Line) -> Mapping[str, Any]:
    if line.fault:
        raise ValueError(line.fault)
    return line.row


def _comparable(benchmark: Benchmark, example: Example, shape: Shape) -> None:
    """Refuse what no answer could be compared with: it would be found out when all is answered."""
    policy = POLICIES.get(benchmark.scoring)
    answer = shape.declared.answer if shape.declared else ""
    named = f"field {answer!r}" if answer else "target"
    if policy and shape.declared:
        _needed(example, policy)
    if policy and (faults := list(value_faults(example, policy, named))):
        raise ValueError(faults[0])


def _needed(example: Example, policy: ScoringPolicy) -> None:
    """Refuse a declared row without a detail that its scoring cannot do without."""
    given = details_of(example)
    if lacking := next((name for name in policy.needs_details if name not in given), ""):
        raise ValueError(
            f"field {lacking!r} is missing or empty; expected a value, for scoring {policy.name!r} needs it. "
            "Add it, or correct the declaration."
        )


def _without_repetitions(benchmark: Benchmark, place: str, posed: list[Posed]) -> Reading:
    distinct = find_distinct([example for example, _ in posed])
    if not distinct.kept:
        raise ValueError(
            f"Benchmark {benchmark.name!r} has no example left of {len(posed)} in {place}: every question "
            "stands there with answers that contradict each other; expected one that nothing contradicts. "
            "Correct the answers, or the file."
        )
    return Reading(
        posed=[posed[index] for index in distinct.kept],
        repeated=tuple(posed[index][0].example_id for index in distinct.repeated),
        contradictory=tuple(posed[index][0].example_id for index in distinct.contradictory),
    )


def _validator(shape: Shape) -> Callable[[Any], Any]:
    """Checks rows against a type: "3" is no number, unknown fields are refused or left out.

    The type is made anew by `typing_extensions`, for pydantic reads no other on Python 3.11.
    """
    fields = get_type_hints(shape.row, include_extras=True)
    if not fields:
        return dict
    again: Any = TypedDict(shape.row.__name__, fields, total=shape.row.__total__)  # pyright: ignore[reportArgumentType]
    extra = "forbid" if shape.ours else "ignore"
    return partial(TypeAdapter(again).validate_python, strict=True, extra=extra)


def _fields(row: Any) -> list[str]:
    return list(get_type_hints(row))


def _explain(fault: Any, fields: list[str]) -> str:
    """One sentence out of pydantic's description of a fault."""
    field = show(".".join(str(part) for part in fault["loc"]))
    if fault["type"] == "missing":
        return f"field {field} is missing; expected all of {', '.join(fields)}. Add it."
    if fault["type"] == "extra_forbidden":
        return (
            f"field {field}, with {show(fault['input'])}, is unknown; expected only {', '.join(fields)}. "
            "Remove it, or correct its name."
        )
    expected = fault["msg"].removeprefix("Input should be ")
    return f"field {field} is {show(fault['input'])}; expected {expected}. Correct it."


def _repetition(example: Example, twin: Example, line: int) -> str:
    torn = contradicts(example, twin)
    kind = f"contradicts (answer {show(_answer(twin))})" if torn else "repeats"
    return (
        f"example {show(example.prompt)}, answer {show(_answer(example))}, {kind} line {line}; "
        "expected each question once. Remove one of the two."
    )


def _answer(example: Example) -> str:
    return example.targets[0] if example.targets else "none"


def _summary(benchmark: Benchmark, place: str, faults: dict[int, list[str]]) -> str:
    sentences = [f"{place}:{number}: {_cut(fault)}" for number, found in faults.items() for fault in found]
    more = [f"… and {len(sentences) - _SHOWN_FAULTS:,} more."] if len(sentences) > _SHOWN_FAULTS else []
    heading = f"Benchmark {benchmark.name!r} has {len(faults):,} faulty line{'s' if len(faults) > 1 else ''}:"
    return "\n".join([heading, *sentences[:_SHOWN_FAULTS], *more])


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= _LONGEST_FAULT else f"{sentence[:_LONGEST_FAULT]} …"
