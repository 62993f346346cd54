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

from cg_pipeline.sources.eval_logs.logged import ONE_SCORE, LoggedAnswer, graded


def read_lighteval(paths: Sequence[Path], *, metric: str = "") -> list[LoggedAnswer]:
    """The answers in details files of one task; `metric` names the score where there are several.

    Raises:
        FileNotFoundError: a file is not there.
        ValueError: a file holds no details, or a row several metrics and none is named.
    """
    return [answer for path in paths for answer in _read_file(path, metric)]


def _read_file(path: Path, metric: str) -> Iterator[LoggedAnswer]:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; expected Parquet. Correct the path.")
    try:
        table = pd.read_parquet(path)
    except (ValueError, OSError):
        raise ValueError(f"{path.name} is not Parquet; expected details that lighteval saved.") from None
    new = {"doc", "model_response", "metric"} <= set(table.columns)
    if not new and not {"predictions", "metrics"} <= set(table.columns):
        raise ValueError(
            f"{path.name} has columns {', '.join(map(str, table.columns))}; expected doc, model_response and "
            "metric, as lighteval saves with --save-details."
        )
    for number, row in enumerate(table.to_dict("records"), start=1):
        place = f"{path.name} row {number}"
        yield from _answers(place, _plain(row), metric) if new else _older(place, _plain(row), metric)


def _plain(value: Any) -> Any:
    """Arrays as lists, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _answers(place: str, row: dict[str, Any], metric: str) -> Iterator[LoggedAnswer]:
    doc, response = row["doc"], row["model_response"]
    query, original = str(doc.get("query") or ""), str(doc.get("original_query") or "")
    return _logged(
        place,
        prompt=query,
        fields=(("query", query), *((("query", original),) if original else ())),
        choices=doc.get("choices") or [],
        gold=doc.get("gold_index"),
        texts=response.get("text") or [],
        logprobs=response.get("logprobs") or [],
        unconditional=response.get("unconditioned_logprobs") or [],
        score=_metric(place, row["metric"], metric),
    )


def _older(place: str, row: dict[str, Any], metric: str) -> Iterator[LoggedAnswer]:
    predictions = _listed(row.get("predictions"))
    logprobs = [_number(each) for each in predictions]
    measured = bool(logprobs) and all(value is not None for value in logprobs) and len(logprobs) > 1
    prompt, example = str(row.get("full_prompt") or ""), str(row.get("example") or "")
    return _logged(
        place,
        prompt=prompt or example,
        fields=(("query", example),),
        choices=_listed(row.get("choices")),
        gold=_listed(row.get("gold_index")),
        texts=[] if measured else [text for each in predictions for text in _texts(each)],
        logprobs=logprobs if measured else [],
        unconditional=[],
        score=_metric(place, row["metrics"], metric),
    )


def _logged(
    place: str,
    *,
    prompt: str,
    fields: tuple[tuple[str, str], ...],
    choices: list[Any],
    gold: Any,
    texts: list[Any],
    logprobs: list[Any],
    unconditional: list[Any],
    score: Any,
) -> Iterator[LoggedAnswer]:
    measured = bool(logprobs) and len(logprobs) == len(choices)
    index = _first(gold) if isinstance(gold, list) else gold
    answer = LoggedAnswer(
        place=place,
        prompt=prompt,
        fields=fields,
        orders=(tuple(str(choice).strip() for choice in choices),) if len(choices) > 1 else (),
        target="" if index is None or index == [] else str(index),
        logprobs=tuple(float(value) for value in logprobs) if measured else (),
        unconditional=tuple(float(value) for value in unconditional) if measured and unconditional else (),
        stop="choice" if measured else "end",
        value=None,
    )
    return _repeats(answer, [""] if measured else [str(text or "") for text in texts] or [""], score)


def _repeats(answer: LoggedAnswer, texts: Sequence[str], score: Any) -> Iterator[LoggedAnswer]:
    """The answer with each of its texts: with a score of its own, or only the first with the score of all."""
    own = score if isinstance(score, list) and len(score) == len(texts) else [_first(score)]
    for sample, text in enumerate(texts):
        value, reason = graded(own[sample] if sample < len(own) else None)
        loss = "" if sample < len(own) else ONE_SCORE
        yield replace(answer, text=text, sample=sample, value=value, reason=reason, loss=loss)


def _metric(place: str, metrics: dict[str, Any], wanted: str) -> Any:
    """What is logged as the score: of a document, or a list with that of each of its answers."""
    known = {name: value for name, value in metrics.items() if value is not None}
    if wanted and wanted not in metrics:
        raise ValueError(
            f"{place}: metric {wanted!r} is not among {', '.join(metrics)}; expected one of them. "
            "Name it with --metric."
        )
    if not wanted and len(known) > 1:
        raise ValueError(f"{place} has metrics {', '.join(known)}; expected one. Name it with --metric.")
    return metrics[wanted] if wanted else next(iter(known.values()), None)


def _listed(value: Any) -> list[Any]:
    """A list, which old versions may have written as the text of one."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
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
    return float(first) if isinstance(first, (int, float)) and not isinstance(first, bool) else None
