"""Details that lighteval saves with `--save-details`: Parquet, one row per document.

Since 0.10 a row has three records: `doc` (query, choices, gold_index, …), `model_response` (text,
logprobs, …) and `metric` (name to value). Before, it was flat: example, full_prompt, predictions,
choices, gold_index, metrics. Both are read.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cg_pipeline.sources.eval_logs.logged import LoggedAnswer, graded


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
        yield _answer(place, _plain(row), metric) if new else _older(place, _plain(row), metric)


def _plain(value: Any) -> Any:
    """Arrays as lists, at any depth."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _answer(place: str, row: dict[str, Any], metric: str) -> LoggedAnswer:
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
        score=_score(place, row["metric"], metric),
    )


def _older(place: str, row: dict[str, Any], metric: str) -> LoggedAnswer:
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
        texts=[] if measured else [str(_first(each)) for each in predictions],
        logprobs=logprobs if measured else [],
        unconditional=[],
        score=_score(place, row["metrics"], metric),
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
    score: tuple[float | None, str],
) -> LoggedAnswer:
    measured = bool(logprobs) and len(logprobs) == len(choices)
    index = _first(gold) if isinstance(gold, list) else gold
    return LoggedAnswer(
        place=place,
        prompt=prompt,
        fields=fields,
        orders=(tuple(str(choice).strip() for choice in choices),) if len(choices) > 1 else (),
        target="" if index is None or index == [] else str(index),
        text="" if measured else str(_first(texts) or ""),
        logprobs=tuple(float(value) for value in logprobs) if measured else (),
        unconditional=tuple(float(value) for value in unconditional) if measured and unconditional else (),
        stop="choice" if measured else "end",
        value=score[0],
        reason=score[1],
    )


def _score(place: str, metrics: dict[str, Any], wanted: str) -> tuple[float | None, str]:
    known = {name: value for name, value in metrics.items() if value is not None}
    if wanted and wanted not in metrics:
        raise ValueError(
            f"{place}: metric {wanted!r} is not among {', '.join(metrics)}; expected one of them. "
            "Name it with --metric."
        )
    if not wanted and len(known) > 1:
        raise ValueError(f"{place} has metrics {', '.join(known)}; expected one. Name it with --metric.")
    value = metrics[wanted] if wanted else next(iter(known.values()), None)
    return graded(_first(value) if isinstance(value, list) else value)


def _listed(value: Any) -> list[Any]:
    """A list, which old versions may have written as the text of one."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value]
    return value if isinstance(value, list) else [] if value is None else [value]


def _first(value: Any) -> Any:
    return (value[0] if value else None) if isinstance(value, list) else value


def _number(value: Any) -> float | None:
    """A log-likelihood, alone or first of a pair."""
    first = _first(value)
    return float(first) if isinstance(first, (int, float)) and not isinstance(first, bool) else None
