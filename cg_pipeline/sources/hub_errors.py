"""What went wrong between us and the hub, in one sentence with its remedy, as a built-in exception.

Why by status code: `datasets` and `huggingface_hub` wrap each other's errors in a dozen
classes that change from release to release; beneath them lies one HTTP answer, or none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cg_pipeline.sources.hub_answers import BUSY, WEB_PAGE
from cg_pipeline.specs import HubRows
from cg_pipeline.training_specs import HubText
from cg_pipeline.waiting import seconds_asked

_GATED = "GatedRepo"
_NO_REVISION = "RevisionNotFound"
_FIRST_WAIT_S = 5.0
_BROKEN_OFF = {"IncompleteRead", "RemoteProtocolError", "ChunkedEncodingError", "ReadError"}
_UNREACHABLE = {
    "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ReadTimeout", "LocalEntryNotFoundError",
}  # fmt: skip
_UNREADABLE = {
    "DatasetGenerationError",
    "ArrowInvalid",
    "JSONDecodeError",
    "UnicodeDecodeError",
    "ParserError",
}
_LONGEST_QUOTE = 200


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who wants a data set, in the words of a sentence about what went wrong."""

    spec: str
    """Whose source the pin is."""
    retry: str
    """What to do once the hub serves."""
    instead: str
    """What to do without the hub."""
    lost: str
    """What becomes of a part that has come."""
    gone: str
    """What to do where the pinned commit is no more."""
    kinds: str = "Parquet, JSON or CSV"
    """What can be read."""


BENCHMARK = Asker(
    spec="the benchmark's source",
    retry="run again",
    instead="name a directory of benchmark files in CG_BENCHMARKS_DIR",
    lost="Nothing of it is used; run again.",
    gone="Pin a commit that exists, and raise the benchmark's version if the data changed.",
)
TRAINING = Asker(
    spec="the training's text",
    retry="train",
    instead="name a directory of text",
    lost="Train again: it goes on from the last checkpoint.",
    gone="Pin a commit that exists; training begins anew.",
    kinds="Parquet, JSON, CSV or text",
)


def explain(
    error: BaseException,
    pin: HubRows | HubText,
    *,
    has_token: bool,
    twice: bool = False,
    asker: Asker = BENCHMARK,
) -> Exception:
    """The exception to raise for an error met while fetching; our own sentences stay as they are."""
    answer = _answer(error)
    if _web_page(error):
        return ConnectionError(
            f"Data set {pin.repo!r} cannot be fetched: the address {WEB_PAGE}; expected the hub. "
            "Is there a proxy or a login page in between? Log in there, or let the hub through."
        )
    if answer is not None and (told := _of_answer(answer, pin, asker, has_token=has_token)):
        return told
    if broken := _broken_off(error):
        return ConnectionError(
            f"Data set {pin.repo!r} was only partly sent by the hub ({_quoted(broken)}); "
            f"expected whole files. {asker.lost}"
        )
    if far := _first(error, _UNREACHABLE) or _own(error, ConnectionError):
        return ConnectionError(
            f"The hub cannot be reached for data set {pin.repo!r} ({_quoted(far)}); expected a connection, "
            f"once. Connect and {asker.retry}, or {asker.instead}."
        )
    if isinstance(error, ValueError) and str(error).startswith("Data set "):
        return error
    tried = "was downloaded twice and " if twice else ""
    return ValueError(
        f"Data set {pin.repo!r} ({', '.join(pin.parts)}; {pin.split}) {tried}cannot be read "
        f"({_quoted(error)}); expected {asker.kinds} with that configuration and split. Correct {asker.spec}."
    )


def wait_asked_for(error: BaseException, attempt: int) -> float | None:
    """Seconds to wait before the next try; None where waiting does not help."""
    answer = _answer(error)
    if answer is None or answer.status_code not in BUSY:
        return None
    asked = seconds_asked(answer.headers.get("Retry-After", ""))
    return _FIRST_WAIT_S * 2.0 ** (attempt - 1) if asked is None else asked


def is_unreadable(error: BaseException) -> bool:
    """Whether a file came, and its reader could make nothing of it: a damaged download, or a damaged file."""
    came = (
        _answer(error) is None
        and not _web_page(error)
        and not _broken_off(error)
        and not _first(error, _UNREACHABLE)
    )
    return came and _first(error, _UNREADABLE) is not None


def _of_answer(answer: Any, pin: HubRows | HubText, asker: Asker, *, has_token: bool) -> Exception | None:
    code, status = answer.headers.get("X-Error-Code", ""), answer.status_code
    if code == _GATED or (status in (401, 403) and pin.gated):
        return PermissionError(_gated(pin, status, has_token=has_token))
    if code == _NO_REVISION:
        return LookupError(
            f"Data set {pin.repo!r} has no commit {pin.revision} any more (HTTP {status}); expected the "
            f"pinned one. {asker.gone}"
        )
    if status in (401, 403, 404):
        return LookupError(
            f"Data set {pin.repo!r} was not found on the hub (HTTP {status}); expected it at commit "
            f"{pin.revision}. It may have been renamed, removed or made private: correct {asker.spec}, "
            "or set HF_TOKEN to a token that may read it."
        )
    if status == 429:
        asked = seconds_asked(answer.headers.get("Retry-After", ""))
        return ConnectionError(
            f"The hub refuses data set {pin.repo!r} for now (HTTP 429, too many requests"
            f"{'' if asked is None else f'; it asks to wait {asked:.0f} s'}); expected to be served. "
            f"{_capital(asker.retry)} later, or set HF_TOKEN, which raises the limit."
        )
    if status >= 500:
        return ConnectionError(
            f"The hub failed to send data set {pin.repo!r} (HTTP {status}); expected its files. "
            f"{_capital(asker.retry)} later."
        )
    return None


def _gated(pin: HubRows | HubText, status: int, *, has_token: bool) -> str:
    terms = pin.gated or "the conditions on its page"
    token = "the token in HF_TOKEN has no access to it" if has_token else "HF_TOKEN is not set"
    return (
        f"Data set {pin.repo!r} is gated and {token} (HTTP {status}); expected the token of an account that "
        f"has accepted {terms}. Accept at https://huggingface.co/datasets/{pin.repo} and set HF_TOKEN."
    )


def _web_page(error: BaseException) -> bool:
    """Whether HTML was seen in place of data, or stands where JSON was to be."""
    starts = (str(getattr(each, "doc", "")).lstrip()[:1] for each in _chain(error))
    return any(WEB_PAGE in str(each) for each in _chain(error)) or "<" in starts


def _broken_off(error: BaseException) -> BaseException | None:
    """The error that says that less came than was promised."""
    short = (each for each in _chain(error) if "Consistency check failed" in str(each))
    return _first(error, _BROKEN_OFF) or next(short, None)


def _first(error: BaseException, names: set[str]) -> BaseException | None:
    return next((each for each in _chain(error) if type(each).__name__ in names), None)


def _own(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    return next((each for each in _chain(error) if isinstance(each, kind)), None)


def _answer(error: BaseException) -> Any:
    """The HTTP answer at the bottom of a chain of errors, or None."""
    answers = [getattr(each, "response", None) for each in _chain(error)]
    return next((answer for answer in answers if getattr(answer, "status_code", None)), None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _quoted(error: BaseException) -> str:
    """The first line of what an error says, shortened."""
    text = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} …"
