"""Benchmarks without code: a table of questions and a few lines that say how to read it.

`data/benchmarks/capitals.toml` beside `capitals.csv` (or .jsonl, .parquet):
    title = "Capitals"
    scope = "Which city is a country's capital."
    licence = "CC0-1.0"
    file = "capitals.csv"
    task = "multiple_choice"            # or lettered, yes_no, open, numeric
    [fields]
    question = "country"                # the file's name for it
    choices = ["a", "b", "c"]           # several fields, or one that holds a list
    answer = "right"
    answer_as = "letter"                # or index, index_from_1, text
    category = "continent"              # as may be given: context, cluster

Optional: scoring, prefix (put before every question), n_shots and shots_file, max_new_tokens, stop,
opening (first words of the answer), unconditional (a neutral prompt),
sampling = { n = 5, temperature = 0.8 }, and fields.details, names of fields that scoring needs besides.
A question is put as `Question: …` and `Answer:` on two lines, as it stands with prompt = "plain", and with
its choices where the task is lettered.
Choices with scoring = "option" are asked in words, for models that give no likelihoods.
The file's name is the benchmark's. Fields that are not named are left alone.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, get_args

from cg_pipeline.catalog import lookup
from cg_pipeline.ink import is_blank
from cg_pipeline.sources.declared_fit import drawn, given, misfits, policy_of, response_of
from cg_pipeline.sources.declared_items import (
    GENERATED,
    Fields,
    PromptForm,
    Task,
    declared_item,
    declared_prompt,
)
from cg_pipeline.sources.json_lines import show, text_fault
from cg_pipeline.sources.lines import ENDINGS
from cg_pipeline.sources.plain_files import read_plain_file
from cg_pipeline.specs import Benchmark, LocalRows, ScoringPolicy, check_name

FOLDER = "benchmarks"
"""Where declarations are, below the data directory."""

_MAX_NEW_TOKENS = 32
_OPTION_TOKENS = 1024
"""Room for a reasoning before the letter."""
_LONGEST_NAME = 200
"""Characters of a file's name: less than any file system takes."""
_TASKS: tuple[str, ...] = get_args(Task)
_ANSWER_AS = ("text", "letter", "index", "index_from_1")
_WORDS_OF: Mapping[str, tuple[str, ...]] = {"task": _TASKS, "prompt": get_args(PromptForm)}
_REQUIRED = ("title", "scope", "licence", "file", "task", "fields")
_OPTIONAL: Mapping[str, tuple[type, Any]] = {
    "scoring": (str, ""),
    "prompt": (str, "question_answer"),
    "prefix": (str, ""),
    "n_shots": (int, 0),
    "shots_file": (str, ""),
    "max_new_tokens": (int, 0),
    "stop": (list, ()),
    "opening": (str, ""),
    "unconditional": (str, ""),
    "sampling": (dict, None),
    "version": (int, 1),
}
_FIELDS = ("question", "choices", "answer", "answer_as", "context", "category", "cluster", "details")


class DeclaredRow(TypedDict):
    """A row of which nothing is known beforehand; what is declared of it is checked field by field."""


def read_declarations(
    data_dir: Path, taken: Collection[str], policies: Mapping[str, ScoringPolicy]
) -> dict[str, Benchmark]:
    """Every benchmark declared below the data directory, by name.

    Raises:
        ValueError: some declarations are wrong; every fault with file, key, value and remedy.
    """
    found: dict[str, Benchmark] = {}
    faults: list[str] = []
    for path in sorted((data_dir / FOLDER).glob("*.toml")):
        try:
            found[path.stem] = _read(path, taken, policies)
        except OSError as error:  # says which file
            faults.append(str(error))
        except ValueError as error:
            faults += [f"{path}: {line}" for line in str(error).splitlines()]
    if faults:
        raise ValueError("\n".join(faults))
    return found


def _read(path: Path, taken: Collection[str], policies: Mapping[str, ScoringPolicy]) -> Benchmark:
    check_name("Benchmark", path.stem)
    if path.stem in taken:
        raise ValueError(
            f"name {path.stem!r} is that of a benchmark of the catalogue; expected one of its own. Rename it."
        )
    declared = _parsed(path)
    faults = [*_faults(declared), *_field_faults(declared.get("fields"), declared.get("task"))]
    faults = faults or list(misfits(declared, policies))
    if faults:
        raise ValueError("\n".join(faults))
    return _benchmark(path.stem, declared, policy_of(declared, policies))


def _parsed(path: Path) -> dict[str, Any]:
    payload = read_plain_file(path, "a TOML file. Correct it.")
    try:
        return tomllib.loads(payload.decode("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f'{error}; expected TOML, such as title = "…". Correct it.') from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {error.start + 1} is not UTF-8; expected text. Save the file as UTF-8."
        ) from None
    except RecursionError:
        raise ValueError("nested too deep to read; expected keys and one table. Flatten it.") from None


def _faults(declared: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the keys at the top, each by itself."""
    yield from _unknown("key", declared, (*_REQUIRED, *_OPTIONAL))
    for key in _REQUIRED:
        if key != "fields" and not _is(str, declared.get(key)):
            yield f"{key} is {given(declared, key)}; expected text. Add or correct it."
    for key, (kind, _) in _OPTIONAL.items():
        if key in declared and not _is(kind, declared[key]):
            yield f"{key} is {show(declared[key])}; expected {_WORDS[kind]}. Correct it."
    for key in ("file", "shots_file"):
        if _is(str, name := declared.get(key, None)) and not _is_beside(name):
            yield (
                f"{key} is {show(name)}; expected the name of a file beside this one that ends in "
                f"{', '.join(ENDINGS)}. Put it there."
            )
    for key, words in _WORDS_OF.items():
        if _is(str, word := declared.get(key)) and word not in words:
            yield f"{key} is {show(word)}; expected one of {', '.join(words)}. Correct it."
    for key, value in declared.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and (fault := text_fault(text)):
                yield f"{key} is {show(text)}{fault}"


def _field_faults(fields: Any, task: Any) -> Iterator[str]:
    """What is wrong with the table of field names."""
    if not isinstance(fields, dict):
        yield f"fields is {show(fields)}; expected a table [fields] with the file's names. Add it."
        return
    yield from _unknown("fields.", fields, _FIELDS)
    for key in ("question", "answer", "context", "category", "cluster", "answer_as"):
        needed = key == "question" or (key == "answer" and task != "open")
        if (key in fields or needed) and not _is(str, fields.get(key)):
            yield f"fields.{key} is {given(fields, key)}; expected the name of a field. Add or correct it."
    if fields.get("answer_as", "text") not in _ANSWER_AS:
        stated, known = show(fields["answer_as"]), ", ".join(_ANSWER_AS)
        yield f"fields.answer_as is {stated}; expected one of {known}. Correct it."
    details = fields.get("details", [])
    if not isinstance(details, list) or not all(_is(str, name) for name in details):
        yield f"fields.details is {show(details)}; expected a list of names of fields. Correct it."
    choices, wanted = fields.get("choices"), task in ("multiple_choice", "lettered")
    names = choices if isinstance(choices, list) and len(choices) > 1 else [choices]
    if wanted and not all(_is(str, name) for name in names):
        yield (
            f"fields.choices is {given(fields, 'choices')}; expected the name of a field that holds a list, "
            "or two or more names. Add or correct it."
        )
    if task in ("yes_no", *GENERATED) and ("choices" in fields or fields.get("answer_as", "text") != "text"):
        yield f"fields.choices or answer_as is given for task {show(task)}; expected neither. Remove it."


def _benchmark(name: str, declared: Mapping[str, Any], policy: ScoringPolicy) -> Benchmark:
    found = {key: declared.get(key, default) for key, (_, default) in _OPTIONAL.items()}
    task: Task = declared["task"]
    generated = (response := response_of(task, policy)) == "generation"
    asks_letter = generated and policy.needs_choices
    form = "lettered" if task == "lettered" else found["prompt"]
    columns = Fields(**{key: _fixed(value) for key, value in declared["fields"].items()})
    limit = _OPTION_TOKENS if asks_letter else _MAX_NEW_TOKENS
    shots = LocalRows(path=f"{FOLDER}/{found['shots_file']}") if found["shots_file"] else None
    return Benchmark(
        name=name,
        version=found["version"],
        title=declared["title"],
        scope=declared["scope"],
        licence=declared["licence"],
        source=LocalRows(path=f"{FOLDER}/{declared['file']}"),
        row=DeclaredRow,
        to_item=partial(declared_item, task, columns),
        prompt=partial(declared_prompt, "option" if asks_letter else form, found["prefix"]),
        response=response,
        scoring=policy.name,
        max_new_tokens=(found["max_new_tokens"] or limit) if generated else 0,
        stop=tuple(found["stop"]),
        sampling=drawn(declared),
        opening=found["opening"],
        unconditional=found["unconditional"],
        n_shots=found["n_shots"],
        shots=shots,
    )


_WORDS = {str: "text", int: "a whole number", list: "a list", dict: "a table"}


def _fixed(value: Any) -> Any:
    """A list as what a frozen spec may hold."""
    return tuple(value) if isinstance(value, list) else value


def _is(kind: type, value: Any) -> bool:
    """Whether a value is of a kind: no text is blank, no truth value is a number."""
    return isinstance(value, kind) and not isinstance(value, bool) and not (kind is str and is_blank(value))


def _is_beside(name: str) -> bool:
    written = name.isprintable() and len(name) <= _LONGEST_NAME
    return written and Path(name).name == name and Path(name).suffix.lower() in ENDINGS


def _unknown(noun: str, table: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
    for key in table:
        try:
            lookup(noun, key, dict.fromkeys(known))
        except KeyError as error:
            yield f"{error.args[0]} Remove it, or correct its name."
