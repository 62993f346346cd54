r"""Samples that lm-evaluation-harness logs with `--log_samples`: JSON lines, one per document and filter.

A line (the harness writes log-likelihoods as text):
    {"doc_id": 0, "doc": {"question": "Which is cold?", "choices": ["ice", "fire"], "answer": 0},
     "target": "0", "filter": "none", "metrics": ["acc", "acc_norm"], "acc": 1.0, "acc_norm": 1.0,
     "arguments": {"gen_args_0": {"arg_0": "Question: Which is cold?\nAnswer:", "arg_1": " ice"},
                   "gen_args_1": {"arg_0": "Question: Which is cold?\nAnswer:", "arg_1": " fire"}},
     "resps": [[["-0.71", "False"]], [["-1.55", "False"]]], "filtered_resps": [["-0.71", "False"], …]}

Versions before 0.4.4 write `arguments` as a list of lists and no `metrics`; both are read. With
mutual information the second half of the requests are the choices without their context.

Repeats of one request stand in one response, and the log has one score for all of them: the one
that the filter's answer is in is taken with that score, the others are told as lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cg_pipeline.sources.eval_logs.logged import ONE_SCORE, LoggedAnswer, graded, lists_of, texts_of
from cg_pipeline.sources.json_lines import show
from cg_pipeline.sources.lenient_lines import objects_of

_NOT_METRICS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip
_PREFERRED = {"likelihood": "acc", "likelihood_per_byte": "acc_norm", "numeric": "exact_match"}
_PREFERRED_FILTERS = {"numeric": "flexible-extract"}
"""The last number of an answer is what `numeric` reads, too; `strict-match` wants the words of GSM8K."""


def read_harness(
    paths: Sequence[Path], *, metric: str = "", filtered_by: str = "", scoring: str = ""
) -> list[LoggedAnswer]:
    """The answers of one task, or of several subtasks in a file each.

    Args:
        paths: files `samples_<task>_<date>.jsonl`.
        metric: which score to take; empty for the only one, or for the one that fits `scoring`.
        filtered_by: which of the task's filters; empty for the one that fits `scoring`, else the first.
        scoring: the benchmark's scoring policy.

    Raises:
        ValueError: a line is no sample, the filter named is not there, or there are several metrics
            and none is named.
        FileNotFoundError: a file is not there.
    """
    return [answer for path in paths for answer in _read_file(path, metric, filtered_by, scoring)]


def filter_taken(filtered_by: str, scoring: str) -> str:
    """Which filter's answers are read, in words."""
    preferred = _PREFERRED_FILTERS.get(scoring)
    return filtered_by or (f"{preferred} if there is one, else the first" if preferred else "the first")


def _read_file(path: Path, metric: str, filtered_by: str, scoring: str) -> Iterator[LoggedAnswer]:
    rows = list(objects_of(path))
    for place, row in rows:
        _check(place, row)
    wanted = _filter(path, [str(row.get("filter", "")) for _, row in rows], filtered_by, scoring)
    for place, row in rows:
        if row.get("filter", "") in ("", wanted):
            yield from _answers(place, row, _metric(place, row, metric, scoring))


def _filter(path: Path, names: Sequence[str], wanted: str, scoring: str) -> str:
    known = [name for name in dict.fromkeys(names) if name]
    if wanted and known and wanted not in known:
        raise ValueError(
            f"{path.name}: filter {wanted!r} is not among {', '.join(known)}; expected one of them. "
            "Name it with --filter."
        )
    preferred = _PREFERRED_FILTERS.get(scoring, "")
    return wanted or (preferred if preferred in known else next(iter(known), ""))


def _check(place: str, row: dict[str, Any]) -> None:
    missing = [name for name in ("doc", "arguments", "resps") if name not in row]
    if missing:
        raise ValueError(
            f"{place} has no {' and no '.join(missing)}; expected a line that lm-evaluation-harness wrote "
            "with --log_samples. Give a file samples_….jsonl."
        )


def _metric(place: str, row: dict[str, Any], wanted: str, scoring: str) -> str:
    known = row.get("metrics") or [name for name in row if name not in _NOT_METRICS]
    if wanted in known or (len(known) == 1 and not wanted):
        return wanted or known[0]
    preferred = _PREFERRED.get(scoring, "")
    if not wanted and preferred in known:
        return preferred
    asked = f"metric {wanted!r} is not among" if wanted else "the metric is not clear from"
    raise ValueError(
        f"{place}: {asked} {', '.join(known) or 'none'}; expected one of them. Name it with --metric."
    )


def _answers(place: str, row: dict[str, Any], metric: str) -> Iterator[LoggedAnswer]:
    """The answer that the score is of, then the repeats that have none."""
    repeats = [response if isinstance(response, list) else [response] for response in row["resps"]]
    n = max(map(len, repeats), default=1)
    taken = _repeat_filtered([str(each) for each in repeats[0]], _filtered(row)) if len(repeats) == 1 else 0
    answer = _answer(place, row, metric, [each[min(taken, len(each) - 1)] for each in repeats if each])
    yield answer
    for _ in range(n - 1):
        yield replace(answer, loss=ONE_SCORE)


def _repeat_filtered(texts: Sequence[str], found: str) -> int:
    """The first of the repeats that the filter's answer is in; the first where it is in none."""
    return next((i for i, text in enumerate(texts) if found and found in text), 0)


def _answer(place: str, row: dict[str, Any], metric: str, first: list[Any]) -> LoggedAnswer:
    arguments = _arguments(row["arguments"])
    measured = bool(first) and all(isinstance(each, (list, tuple)) for each in first)
    value, reason = graded(row.get(metric))
    said = {"value": value, "reason": reason, "place": place, "target": str(row.get("target", ""))}
    fields = tuple(texts_of(row["doc"]))
    if not measured:
        return LoggedAnswer(
            **said,
            prompt=str(arguments[0][0]) if arguments else "",
            fields=fields,
            orders=tuple(lists_of(row["doc"])),
            text=str(first[0]) if first else "",
            answer=_filtered(row),
            stop="end",
        )
    try:
        logprobs = tuple(float(each[0]) for each in first)
    except (TypeError, ValueError, IndexError):
        raise ValueError(f"{place}: resps are {show(row['resps'])}; expected log-likelihoods.") from None
    n = _n_choices(arguments, logprobs)
    return LoggedAnswer(
        **said,
        prompt=str(arguments[0][0]) if arguments else "",
        fields=fields,
        orders=(tuple(str(pair[-1]) for pair in arguments[:n]), *lists_of(row["doc"])),
        contexts=tuple(str(pair[0]) for pair in arguments[:n]),
        logprobs=logprobs[:n],
        unconditional=logprobs[n:],
        stop="choice",
    )


def _arguments(written: Any) -> list[list[Any]]:
    """The requests' arguments, whichever way the version writes them."""
    if isinstance(written, dict):
        return [list(each.values()) for each in written.values()]
    return [list(each) if isinstance(each, (list, tuple)) else [each] for each in written]


def _first(response: Any) -> Any:
    """The first of the repeats of one request."""
    return response[0] if isinstance(response, list) and response else response


def _n_choices(arguments: list[list[Any]], logprobs: Sequence[float]) -> int:
    """Choices, told from the second half that mutual information adds: the same texts once more."""
    half, texts = len(logprobs) // 2, [pair[-1] for pair in arguments]
    contexts = [pair[0] for pair in arguments]
    doubled = len(logprobs) % 2 == 0 and half > 1 and texts[:half] == texts[half:]
    return half if doubled and contexts[:half] != contexts[half:] else len(logprobs)


def _filtered(row: dict[str, Any]) -> str:
    found = row.get("filtered_resps") or [""]
    first = _first(found)
    return first if isinstance(first, str) else str(_first(first))
