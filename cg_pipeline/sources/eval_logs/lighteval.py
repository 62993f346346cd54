"""Details that lighteval saves with `--save-details`: Parquet, one row per document.

Since 0.10 a row has three records: `doc` (query, choices, gold_index, …), `model_response` (text,
logprobs, …) and `metric` (name to value). Before, it was flat: example, full_prompt, predictions,
choices, gold_index, metrics. Both are read.

A document may have been answered several times (`avg@n`, `pass@k`, `maj@n`). Where a metric is a list of
as many numbers, each answer has its own; otherwise the one number, such as the mean, is of all of them: the
first is taken with it, so that the example counts as logged, and the others are told as lost.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import BaseModel, Field

from cg_pipeline.sources.eval_logs.checked import first_line, number_of, placed, read_as, titled
from cg_pipeline.sources.eval_logs.logged import ONE_SCORE, LoggedAnswer, graded
from cg_pipeline.sources.json_lines import show

_REMEDY = "Give a file details_….parquet that lighteval saved with --save-details."
_TEXT, _LIST, _SCORES = "a text", "a list", "a record of scores by name"


class _Doc(BaseModel):
    query: str | None = Field(default=None, description=_TEXT)
    original_query: str | None = Field(default=None, description=_TEXT)
    choices: list[Any] | None = Field(default=None, description=_LIST)
    gold_index: Any = None


class _Response(BaseModel):
    text: list[str | None] | None = Field(default=None, description="a list of texts")
    logprobs: list[Any] | None = Field(default=None, description=_LIST)
    unconditioned_logprobs: list[Any] | None = Field(default=None, description=_LIST)


class _Row(BaseModel):
    doc: dict[str, Any] = Field(description="a record with query and choices")
    model_response: dict[str, Any] = Field(description="a record with text or logprobs")
    metric: dict[str, Any] = Field(description=_SCORES)


class _OlderRow(BaseModel):
    example: str | None = Field(default=None, description=_TEXT)
    full_prompt: str | None = Field(default=None, description=_TEXT)
    predictions: Any = None
    choices: Any = None
    gold_index: Any = None
    metrics: dict[str, Any] = Field(description=_SCORES)


def read_lighteval(paths: Sequence[Path], *, metric: str = "") -> list[LoggedAnswer]:
    """The answers in details files of one task; `metric` names the score where there are several.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file holds no details, or a row several metrics and none is named.
    """
    titles = titled(paths)
    return [answer for path in paths for answer in _read_file(path, titles[path], metric)]


def _read_file(path: Path, title: str, metric: str) -> Iterator[LoggedAnswer]:
    table = _table(path, title)
    new = {"doc", "model_response", "metric"} <= set(table.columns)
    if not new and not {"predictions", "metrics"} <= set(table.columns):
        raise ValueError(
            f"{title} has columns {', '.join(map(str, table.columns)) or 'none'}; expected doc, "
            "model_response and metric, as lighteval saves with --save-details."
        )
    if table.empty:
        raise ValueError(f"{title} holds no rows; expected one for each document. {_REMEDY}")
    for number, row in enumerate(table.to_dict("records"), start=1):
        place = f"{title} row {number}"
        with placed(place):
            yield from _answers(place, _plain(row), metric) if new else _older(place, _plain(row), metric)


def _table(path: Path, title: str) -> pd.DataFrame:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; expected Parquet. Correct the path.")
    try:
        return pd.read_parquet(path)
    except Exception as error:  # whatever the reader raises of a damaged file
        raise ValueError(
            f"{title} is not Parquet ({first_line(error)}); expected details that lighteval saved."
        ) from error


def _plain(value: Any) -> Any:
    """Arrays as lists, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _answers(place: str, row: dict[str, Any], metric: str) -> Iterator[LoggedAnswer]:
    parts = read_as(_Row, place, row, _REMEDY)
    doc = read_as(_Doc, f"{place}, doc", parts.doc, _REMEDY)
    response = read_as(_Response, f"{place}, model_response", parts.model_response, _REMEDY)
    queries = [text for text in (doc.query or "", doc.original_query) if text is not None]
    answer = _asked(place, doc.query or "", queries, doc.choices or [], doc.gold_index)
    found = (response.logprobs or [], response.unconditioned_logprobs or [])
    return _repeats(
        _measured(answer, len(doc.choices or []), *found),
        response.text or [],
        _metric(place, parts.metric, metric),
    )


def _older(place: str, row: dict[str, Any], metric: str) -> Iterator[LoggedAnswer]:
    parts = read_as(_OlderRow, place, row, _REMEDY)
    predictions = _listed(parts.predictions)
    logprobs = [_number(each) for each in predictions]
    known = len(logprobs) > 1 and all(value is not None for value in logprobs)
    prompt, example = parts.full_prompt or "", parts.example or ""
    choices = _listed(parts.choices)
    answer = _asked(place, prompt or example, [example], choices, _listed(parts.gold_index))
    texts = [text for each in predictions for text in _texts(each)]
    answer = _measured(answer, len(choices), logprobs, []) if known else answer
    return _repeats(answer, texts, _metric(place, parts.metrics, metric))


def _asked(place: str, prompt: str, queries: Sequence[str], choices: list[Any], gold: Any) -> LoggedAnswer:
    """What was asked, without an answer yet."""
    index = _first(gold)
    return LoggedAnswer(
        place=place,
        prompt=prompt,
        fields=tuple(("query", text) for text in queries),
        orders=(tuple(str(choice).strip() for choice in choices),) if len(choices) > 1 else (),
        target="" if index is None or index == [] else str(index),
        stop="end",
        value=None,
    )


def _measured(answer: LoggedAnswer, n: int, logprobs: list[Any], unconditional: list[Any]) -> LoggedAnswer:
    """The same with the log-likelihoods of its `n` choices, if there is one for each of them."""
    if not logprobs or len(logprobs) != n:
        return answer
    if len(unconditional) not in (0, n):
        raise ValueError(
            f"{answer.place}: field 'unconditioned_logprobs' is {show(unconditional)}; expected one for each "
            f"of {n} choices. {_REMEDY}"
        )
    return replace(
        answer,
        logprobs=tuple(number_of(answer.place, "field 'logprobs'", value) for value in logprobs),
        unconditional=tuple(
            number_of(answer.place, "field 'unconditioned_logprobs'", value) for value in unconditional
        ),
        stop="choice",
    )


def _repeats(
    answer: LoggedAnswer, texts: Sequence[str | None], scored: tuple[str, Any]
) -> Iterator[LoggedAnswer]:
    """The answer with each of its texts: with a score of its own, or only the first with the score of all."""
    metric, score = scored
    texts = [""] if answer.logprobs else [text or "" for text in texts] or [""]
    own = score if isinstance(score, list) and len(score) == len(texts) else [_first(score)]
    for sample, text in enumerate(texts):
        value, reason = graded(own[sample] if sample < len(own) else None)
        loss = "" if sample < len(own) else ONE_SCORE
        told = replace(answer, text=text, sample=sample, value=value, reason=reason)
        yield replace(told, metric=metric, loss=loss)


def _metric(place: str, metrics: dict[str, Any], wanted: str) -> tuple[str, Any]:
    """The name of the score taken, and it: of a document, or a list with that of each of its answers."""
    known = {name: value for name, value in metrics.items() if value is not None}
    if wanted and wanted not in metrics:
        raise ValueError(
            f"{place}: metric {wanted!r} is not among {', '.join(metrics)}; expected one of them. "
            "Name it with --metric."
        )
    if not wanted and len(known) > 1:
        raise ValueError(f"{place} has metrics {', '.join(known)}; expected one. Name it with --metric.")
    name = wanted or next(iter(known), "")
    return name, metrics.get(name)


def _listed(value: Any) -> list[Any]:
    """A list, which old versions may have written as the text of one."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(prediction: Any) -> Iterable[str]:
    """One answer, or a list of the answers to one document."""
    if isinstance(prediction, list) and all(isinstance(each, str) for each in prediction):
        return prediction
    return [str(_first(prediction))]


def _first(value: Any) -> Any:
    return (value[0] if value else None) if isinstance(value, list) else value


def _number(value: Any) -> float | None:
    """A log-likelihood, alone or first of a pair."""
    first = _first(value)
    return float(first) if isinstance(first, int | float) and not isinstance(first, bool) else None
