"""Rows and prompts of declared benchmarks: what a declaration's task and field names mean.

Module-level functions, for a spec's fingerprint is taken of them together with the declaration.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from cg_pipeline.formats import letter_asked, lettered, plain, question_answer
from cg_pipeline.items import Item, Prompt, named
from cg_pipeline.sources.json_lines import show

Task = Literal["multiple_choice", "lettered", "yes_no", "open", "numeric"]

PromptForm = Literal["question_answer", "plain"]
"""What is put around a question whose choices are not shown: `Question: …` and `Answer:`, or nothing."""

GENERATED = ("open", "numeric")
"""Tasks whose answers are generated; the others choose."""

_YES_NO = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}
_NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?")


@dataclass(frozen=True, kw_only=True)
class Fields:
    """What the file calls each part of a row; empty for a part it does not have."""

    question: str
    choices: str | tuple[str, ...] = ()
    """A field that holds a list, or several fields with one choice each."""
    answer: str = ""
    """Empty where a judge or a checker decides."""
    answer_as: Literal["text", "letter", "index", "index_from_1"] = "text"
    context: str = ""
    category: str = ""
    cluster: str = ""
    details: tuple[str, ...] = ()
    """Fields that the scoring policy needs besides, under their own names."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that the file must have somewhere."""
        choices = (self.choices,) if isinstance(self.choices, str) else self.choices
        parts = (self.question, *choices, self.answer, self.context, self.category, self.cluster)
        return tuple(filter(None, (*parts, *self.details)))


def declared_item(task: Task, fields: Fields, row: Mapping[str, Any]) -> Item:
    """The item of a row; what is empty of its context, category, cluster and details is not given.

    Raises:
        ValueError: another field is missing, or does not hold what the task needs.
    """
    choices = ("yes", "no") if task == "yes_no" else _choices(fields, row)
    return Item(
        question=_text(row, fields.question),
        choices=choices,
        answers=_answers(task, fields, choices, _value(row, fields.answer)) if fields.answer else (),
        context=_text(row, fields.context) if _has(row, fields.context) else "",
        category=_text(row, fields.category) if _has(row, fields.category) else None,
        cluster=_text(row, fields.cluster) if _has(row, fields.cluster) else "",
        details={name: _detail(row, name) for name in fields.details if _has(row, name)},
    )


def declared_fields(to_item: Callable[..., Item]) -> Fields | None:
    """What a declared benchmark's file calls the parts of a row; None for another benchmark."""
    if isinstance(to_item, partial) and to_item.func is declared_item:
        return next((each for each in to_item.args if isinstance(each, Fields)), None)
    return None


def declared_prompt(form: PromptForm | Literal["lettered", "option"], prefix: str, item: Item) -> Prompt:
    """The question in its form, after the declaration's prefix and the item's context.

    For "lettered" choices are shown; for "option" also, and a letter is asked for in words.
    """
    if form in ("lettered", "option"):
        shown = lettered(item) if form == "lettered" else letter_asked(item)
    else:
        asked = plain(item) if form == "plain" else question_answer(item)
        shown = Prompt(text=f"{item.context}\n{asked.text}" if item.context else asked.text)
    text = f"{prefix}\n{shown.text}" if prefix else shown.text
    return Prompt(text=text, continuations=shown.continuations)


def _answers(task: Task, fields: Fields, choices: tuple[str, ...], given: Any) -> tuple[str, ...]:
    name = fields.answer
    if task == "yes_no":
        return (_yes_no(name, given),)
    if task == "open":
        return _accepted(name, given)
    if task == "numeric":
        return (_number(name, given),)
    if fields.answer_as == "letter":
        return (named(choices, str(given).strip().upper()),)
    if fields.answer_as != "text":
        return (
            _numbered(name, choices, _whole(name, given), 1 if fields.answer_as == "index_from_1" else 0),
        )
    if str(given) not in choices:
        raise ValueError(
            f"field {name!r} is {show(given)}; expected one of the choices {choices!r}. Correct it."
        )
    return (str(given),)


def _choices(fields: Fields, row: Mapping[str, Any]) -> tuple[str, ...]:
    if not isinstance(fields.choices, str):
        return _distinct(tuple(_text(row, name) for name in _filled(fields.choices, row)))
    found = _value(row, fields.choices)
    if not isinstance(found, list) or not all(isinstance(text, (str, int, float)) for text in found):
        raise ValueError(
            f"field {fields.choices!r} is {show(found)}; expected a list of texts. "
            "Correct it, or name one field for each choice."
        )
    return _distinct(tuple(str(text) for text in found))


def _filled(names: tuple[str, ...], row: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a row's choices: only the last ones may be empty, for letters and indices count them."""
    given = [_has(row, name) for name in names]
    if False in given and True in given[(gap := given.index(False)) :]:
        later = names[given.index(True, gap)]
        raise ValueError(
            f"field {names[gap]!r} is empty, but {later!r} after it is not; expected no empty choice before "
            "another. Fill it, or move those after it up and correct the answer."
        )
    return names[: sum(given)]


def _distinct(choices: tuple[str, ...]) -> tuple[str, ...]:
    twice = [choice for choice in choices if choices.count(choice) > 1]
    if twice and len(set(choices)) > 1:  # fewer than two are refused as for every benchmark
        raise ValueError(f"choice {show(twice[0])} stands twice; expected each once. Correct one of them.")
    return choices


def _has(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) is not None


def _value(row: Mapping[str, Any], name: str) -> Any:
    if not _has(row, name):
        lack = "empty; expected a value" if name in row else f"missing; expected it among {_listed(row)}"
        raise ValueError(f"field {name!r} is {lack}. Add it, or correct the declaration.")
    return row[name]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _detail(row: Mapping[str, Any], name: str) -> Any:
    value = _value(row, name)
    if not isinstance(value, (str, int, float, list, dict)):
        raise ValueError(f"field {name!r} is {show(value)}; expected a JSON value. Correct it.")
    return value


def _text(row: Mapping[str, Any], name: str) -> str:
    value = _value(row, name)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"field {name!r} is {show(value)}; expected text. Correct it.")
    return str(value)


def _accepted(name: str, given: Any) -> tuple[str, ...]:
    texts = given if isinstance(given, list) else [given]
    if not texts or not all(isinstance(text, (str, int, float)) for text in texts):
        raise ValueError(
            f"field {name!r} is {show(given)}; expected a text, or a list of accepted ones. Correct it."
        )
    return tuple(str(text) for text in texts)


def _number(name: str, given: Any) -> str:
    text = str(given).strip()
    if isinstance(given, bool) or not _NUMBER.fullmatch(text):
        raise ValueError(
            f"field {name!r} is {show(given)}; expected a number such as '12' or '3.5'. Correct it."
        )
    return text.replace(",", "")


def _numbered(name: str, choices: tuple[str, ...], number: int, first: int) -> str:
    if not first <= number < first + len(choices):
        raise ValueError(
            f"field {name!r} is {number}; expected a number from {first} to {first + len(choices) - 1}. "
            "Correct it."
        )
    return choices[number - first]


def _whole(name: str, given: Any) -> int:
    text = str(given).strip()
    if isinstance(given, bool) or not re.fullmatch(r"-?[0-9]{1,9}(\.0)?", text):
        raise ValueError(f"field {name!r} is {show(given)}; expected a whole number. Correct it.")
    return int(text.removesuffix(".0"))


def _yes_no(name: str, given: Any) -> str:
    word = _YES_NO.get(str(given).strip().casefold())
    if word is None:
        raise ValueError(
            f"field {name!r} is {show(given)}; expected yes or no, true or false, 1 or 0. Correct it."
        )
    return word
