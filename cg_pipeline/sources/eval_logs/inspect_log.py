"""Logs of Inspect (`.eval` or `.json`), read by Inspect's own reader, an optional extra.

Inspect grades with letters: C is 1, P is 0.5, I is 0, as its `value_to_float` has it. N, no answer,
is 0 there; here it is unscored, for an answer that was not found is not a wrong one.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cg_pipeline.sources.eval_logs.checked import first_line, titled
from cg_pipeline.sources.eval_logs.logged import LoggedAnswer, Stop, graded

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
_STOPS: dict[str, Stop] = {
    "max_tokens": "length",
    "model_length": "overflow",
    "content_filter": "refused",
}
_LIMITS: dict[str, Stop] = {"time": "timed_out", "working": "timed_out", "context": "overflow"}


def read_inspect(paths: Sequence[Path], *, metric: str = "") -> list[LoggedAnswer]:
    """The answers in logs of one task; `metric` names the scorer where there are several.

    Raises:
        ModuleNotFoundError: Inspect is not installed.
        FileNotFoundError: a file is not there.
        ValueError: a log has no samples, or several scorers and none is named.
    """
    titles = titled(paths)
    return [answer for path in paths for answer in _read_file(path, titles[path], metric)]


def _read_file(path: Path, title: str, metric: str) -> Iterator[LoggedAnswer]:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not a file; expected a log of Inspect. Correct the path.")
    samples = _read_log(path, title).samples
    if not samples:
        raise ValueError(f"{title} holds no samples; expected the log of a finished task.")
    for number, sample in enumerate(samples, start=1):
        try:
            answer = _answer(f"{title} sample {sample.id} epoch {sample.epoch}", sample, metric)
        except (AttributeError, TypeError, LookupError) as error:
            raise ValueError(
                f"{title}, sample {number} of the file, is not of the shape expected ({error}): a sample as "
                "inspect_ai 0.3 hands it on. Install a version of it that wrote the log."
            ) from error
        yield answer


def _read_log(path: Path, title: str) -> Any:
    try:
        from inspect_ai.log import read_eval_log  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Reading a log of Inspect needs the package inspect_ai, which is not installed. "
            "Install it with: pip install 'cg-pipeline[inspect]'"
        ) from None
    try:
        return read_eval_log(str(path), resolve_attachments=True)
    except Exception as error:  # whatever its reader, or that of a zip file, raises of a strange file
        raise ValueError(
            f"{title} cannot be read by Inspect ({first_line(error)}); expected a log of a version it knows. "
            "Is the file whole? Update inspect_ai if the log is of a newer one."
        ) from error


def _answer(place: str, sample: Any, metric: str) -> LoggedAnswer:
    question = _text(sample.input)
    name = _scorer(place, sample, metric)
    value, reason, answer = _score(sample, name)
    output = sample.output
    stop = _stop(sample)
    usage = output.usage if output is not None else None
    target = sample.target if isinstance(sample.target, str) else (sample.target or [""])[0]
    return LoggedAnswer(
        place=place,
        prompt=question,
        fields=(("input", question),),
        orders=(tuple(sample.choices),) if sample.choices else (),
        target=str(target),
        sample=sample.epoch - 1,
        text=output.completion if output is not None else "",
        stop=stop,
        n_prompt_tokens=usage.input_tokens if usage else 0,
        n_completion_tokens=usage.output_tokens if usage else 0,
        value=value,
        metric=name,
        reason=reason,
        answer=answer,
    )


def _text(given: Any) -> str:
    """The question: a text, or the last user message of a conversation."""
    if isinstance(given, str):
        return given
    said = [message.text for message in given if message.role == "user"]
    return said[-1] if said else ""


def _stop(sample: Any) -> Stop:
    if sample.error is not None:
        return "failed"
    if sample.limit is not None and sample.limit.type in _LIMITS:
        return _LIMITS[sample.limit.type]
    if sample.output is None or not sample.output.choices:
        return "failed"
    return _STOPS.get(sample.output.stop_reason, "end")


def _scorer(place: str, sample: Any, wanted: str) -> str:
    """The name of the scorer whose score is taken; empty where there is none."""
    scores = sample.scores or {}
    if wanted and scores and wanted not in scores and sample.error is None:
        raise ValueError(
            f"{place}: scorer {wanted!r} is not among {', '.join(scores)}; expected one of them. "
            "Name it with --metric."
        )
    if not wanted and len(scores) > 1 and sample.error is None:
        raise ValueError(f"{place} has scorers {', '.join(scores)}; expected one. Name it with --metric.")
    return wanted or next(iter(scores), "")


def _score(sample: Any, scorer: str) -> tuple[float | None, str, str]:
    if sample.error is not None:
        return None, "failed", ""
    score = (sample.scores or {}).get(scorer)
    if score is None:
        return None, "no_score_logged", ""
    answer = score.answer or ""
    if score.value == "N":
        return None, "no_answer", answer
    return *graded(
        _GRADES.get(score.value, score.value) if isinstance(score.value, str) else score.value
    ), answer
