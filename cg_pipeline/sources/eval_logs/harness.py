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

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cg_pipeline.sources.eval_logs.checked import number_of, placed, read_as, titled
from cg_pipeline.sources.eval_logs.logged import ONE_SCORE, LoggedAnswer, graded, lists_of, texts_of
from cg_pipeline.sources.json_lines import show
from cg_pipeline.sources.lenient_lines import objects_of

_PREFERRED = {"likelihood": "acc", "likelihood_per_byte": "acc_norm", "numeric": "exact_match"}
_PREFERRED_FILTERS = {"numeric": "flexible-extract"}
"""The last number of an answer is what `numeric` reads, too; `strict-match` wants the words of GSM8K."""

_SPACED_LETTER = r"[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]"
"""Part of a word in scripts that put blanks between words: not in Thai, Lao, Japanese or Chinese ones."""

_REMEDY = "Give a file samples_….jsonl that lm-evaluation-harness wrote with --log_samples."


def _requests(written: Any) -> Any:
    """The requests' arguments, whichever way the version writes them."""
    listed = written.values() if isinstance(written, dict) else written
    if not isinstance(listed, (list, type({}.values()))):
        return written
    return [list(each.values()) if isinstance(each, dict) else each for each in map(_listed, listed)]


def _listed(value: Any) -> Any:
    return value if isinstance(value, (list, dict)) else [value]


class _Sample(BaseModel):
    """What is read of a line; the scores stand beside it, each under its metric's name."""

    model_config = ConfigDict(extra="allow")

    doc: dict[Any, Any] = Field(description="the document, an object")
    arguments: Annotated[list[Annotated[list[Any], Field(min_length=1)]], BeforeValidator(_requests)] = Field(
        description="the arguments of each request, none of them empty"
    )
    resps: list[Annotated[list[Any], Field(min_length=1), BeforeValidator(_listed)]] = Field(
        min_length=1, description="the responses to each request, a list of lists that are not empty"
    )
    filtered_resps: Any = None
    target: Any = ""
    filter: str | None = Field(default="", description="the name of a filter")
    metrics: list[str] | None = Field(default=None, description="the names of the scores")
    doc_id: Any = None
    doc_hash: Any = None
    prompt_hash: Any = None
    target_hash: Any = None

    @property
    def named(self) -> list[str]:
        """The scores that the line has."""
        return self.metrics or [*(self.model_extra or {})]


_Row = tuple[str, _Sample]
"""A line, and its place."""


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
    titles = titled(paths)
    return [
        answer for path in paths for answer in _read_file(path, titles[path], metric, filtered_by, scoring)
    ]


def _read_file(path: Path, title: str, metric: str, filtered_by: str, scoring: str) -> Iterator[LoggedAnswer]:
    rows = [(place, read_as(_Sample, place, row, _REMEDY)) for place, row in objects_of(path, title)]
    if not rows:
        raise ValueError(f"{title} holds no samples; expected a line for each document. {_REMEDY}")
    wanted = _filter(title, [row.filter or "" for _, row in rows], filtered_by, scoring)
    for place, row in rows:
        if (row.filter or "") in ("", wanted):
            with placed(place):
                yield from _answers(place, row, _metric(place, row, metric, scoring))


def _filter(title: str, names: Sequence[str], wanted: str, scoring: str) -> str:
    known = [name for name in dict.fromkeys(names) if name]
    if wanted and known and wanted not in known:
        raise ValueError(
            f"{title}: filter {wanted!r} is not among {', '.join(known)}; expected one of them. "
            "Name it with --filter."
        )
    preferred = _PREFERRED_FILTERS.get(scoring, "")
    return wanted or (preferred if preferred in known else next(iter(known), ""))


def _metric(place: str, row: _Sample, wanted: str, scoring: str) -> str:
    known = row.named
    if wanted in known or (len(known) == 1 and not wanted):
        return wanted or known[0]
    preferred = _PREFERRED.get(scoring, "")
    if not wanted and preferred in known:
        return preferred
    asked = f"metric {wanted!r} is not among" if wanted else "the metric is not clear from"
    raise ValueError(
        f"{place}: {asked} {', '.join(known) or 'none'}; expected one of them. Name it with --metric."
    )


def _answers(place: str, row: _Sample, metric: str) -> Iterator[LoggedAnswer]:
    """The answer that the score is of, then the repeats that have none."""
    _check_counts(place, row)
    repeats = row.resps
    taken = _repeat_filtered([str(each) for each in repeats[0]], _filtered(row)) if len(repeats) == 1 else 0
    answer = _answer(place, row, metric, [each[min(taken, len(each) - 1)] for each in repeats])
    yield answer
    for _ in range(max(map(len, repeats)) - 1):
        yield replace(answer, loss=ONE_SCORE)


def _check_counts(place: str, row: _Sample) -> None:
    if len(row.arguments) != len(row.resps):
        raise ValueError(
            f"{place}: field 'resps' has {len(row.resps)} responses to {len(row.arguments)} requests in "
            f"'arguments'; expected one to each. {_REMEDY}"
        )


def _repeat_filtered(texts: Sequence[str], found: str) -> int:
    """The first of the repeats that is the filter's answer, or else has it; the first where none has.

    In a longer text it stands alone: "4" is not in "14", in "-4" or in "4.5", nor "on" in "none".
    """
    if not (answer := found.strip()):
        return 0
    alone = re.compile(_edge(answer[0], "<") + re.escape(answer) + _edge(answer[-1], ""))
    equal = (i for i, text in enumerate(texts) if text.strip() == answer)
    return next(equal, next((i for i, text in enumerate(texts) if alone.search(text)), 0))


def _edge(character: str, behind: Literal["<", ""]) -> str:
    """What may not stand beside an answer's first or last character, or it would be a part of another one."""
    if character.isdecimal():
        return r"(?<![\d−-])(?<!\d[.,])" if behind else r"(?!\d|[.,]\d)"
    return f"(?{behind}!{_SPACED_LETTER})" if re.fullmatch(_SPACED_LETTER, character) else ""


def _answer(place: str, row: _Sample, metric: str, first: list[Any]) -> LoggedAnswer:
    value, reason = graded((row.model_extra or {}).get(metric))
    told = LoggedAnswer(
        place=place,
        metric=metric,
        filter=row.filter or "",
        prompt=str(row.arguments[0][0]),
        fields=tuple(texts_of(row.doc)),
        orders=tuple(lists_of(row.doc)),
        target=str(row.target),
        value=value,
        reason=reason,
        stop="end",
    )
    if any(isinstance(each, list) for each in first):
        return _measured(place, row, told, first)
    if isinstance(first[0], dict):
        raise ValueError(f"{place}: field 'resps' holds {show(first[0])}; expected a text. {_REMEDY}")
    return replace(told, text="" if first[0] is None else str(first[0]), answer=_filtered(row))


def _measured(place: str, row: _Sample, told: LoggedAnswer, first: list[Any]) -> LoggedAnswer:
    """The same with log-likelihoods, each the first of a pair."""
    pairs = [each if isinstance(each, list) and each else [each] for each in first]
    logprobs = tuple(number_of(place, "field 'resps'", pair[0]) for pair in pairs)
    n = _n_choices(row.arguments, logprobs)
    return replace(
        told,
        orders=(tuple(str(pair[-1]) for pair in row.arguments[:n]), *told.orders),
        contexts=tuple(str(pair[0]) for pair in row.arguments[:n]),
        logprobs=logprobs[:n],
        unconditional=logprobs[n:],
        stop="choice",
    )


def _n_choices(arguments: list[list[Any]], logprobs: Sequence[float]) -> int:
    """Choices, told from the second half that mutual information adds: the same texts once more."""
    half, texts = len(logprobs) // 2, [pair[-1] for pair in arguments]
    contexts = [pair[0] for pair in arguments]
    doubled = len(logprobs) % 2 == 0 and half > 1 and texts[:half] == texts[half:]
    return half if doubled and contexts[:half] != contexts[half:] else len(logprobs)


def _first(response: Any) -> Any:
    """The first of the repeats of one request."""
    return response[0] if isinstance(response, list) and response else response


def _filtered(row: _Sample) -> str:
    found = row.filtered_resps or [""]
    first = _first(found)
    return first if isinstance(first, str) else str(_first(first))
