"""An answer of the kind that its example names, for benchmarks whose tasks differ in kind.

In the example's details `kind` is `option` (with `options`, their texts in order; the target is a letter),
`yes_no`, `number`, `word` (with `words`, those to choose from), `order` (with `items`, the words to
be put in order), `brackets` or `text`. Each is read as its own policy would, told in `answers`; a
text that says nothing of its kind is unscored, never wrong.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from cg_pipeline.answers import answer_number
from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.numbers import number_of
from cg_pipeline.answers.one_of_words import read_word
from cg_pipeline.answers.options import LETTERS, read_option
from cg_pipeline.answers.sequences import read_brackets, read_order, spaced_brackets
from cg_pipeline.answers.short_answer import read_short_answer
from cg_pipeline.answers.yes_no import meaning, read_yes_no
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


class _Read(NamedTuple):
    """An answer that was read."""

    answer: str
    right: bool
    settled: bool


def score(example: Example, completion: Completion) -> Score:
    """1 when the answer, read as its kind, is the target.

    Raises:
        ValueError: the details name no kind that is known.
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    details = details_of(example)
    read = _reader(example, details)(completion.text, example.targets, details)
    if completion.stop == "length" and (read is None or not read.settled):
        return grade(completion, None, reason="truncated")
    if read is None:
        return grade(completion, None, reason="unparsed")
    return grade(completion, float(read.right), answer=read.answer)


_Reader = Callable[[str, tuple[str, ...], Mapping[str, Any]], _Read | None]


def _reader(example: Example, details: Mapping[str, Any]) -> _Reader:
    reader = _READERS.get(details.get("kind", ""))
    if reader is None:
        raise ValueError(
            f"kind of example {example.example_id} is {details.get('kind')!r}; "
            f"expected one of {', '.join(_READERS)}. Correct it."
        )
    return reader


def _option(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    if (choice := read_option(text, details["options"])) is None:
        return None
    letter = LETTERS[choice.index]
    return _Read(f"({letter})", f"({letter})" in targets or letter in targets, choice.settled)


def _yes_no(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    if (verdict := read_yes_no(text)) is None:
        return None
    right = verdict.says_yes in map(meaning, targets)
    return _Read("yes" if verdict.says_yes else "no", right, verdict.settled)


def _number(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    if not (readings := answer_number.readings(text)):
        return None
    right = bool(set[Fraction | None](readings) & set(map(number_of, targets)))
    return _Read(f"{float(readings[0]):.12g}", right, answer_number.is_settled(text))


def _word(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    found = read_word(text, details["words"])
    return found and _Read(found.word, found.word in targets, found.settled)


def _order(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    found = read_order(text, details["items"])
    return found and _Read(found.text, found.text in targets, found.settled)


def _brackets(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    found = read_brackets(text)
    return found and _Read(found.text, found.text in map(spaced_brackets, targets), found.settled)


def _text(text: str, targets: tuple[str, ...], details: Mapping[str, Any]) -> _Read | None:
    found = read_short_answer(text, targets)
    return found and _Read(found.text, found.is_a_target, found.settled)


_READERS: dict[str, _Reader] = {
    "option": _option,
    "yes_no": _yes_no,
    "number": _number,
    "word": _word,
    "order": _order,
    "brackets": _brackets,
    "text": _text,
}

POLICY = ScoringPolicy(name="mixed", score=score, needs_details=("kind",))
