"""What comes back: a valid answer or the fault in it, and the answers kept on disk."""

import contextlib
import json
import logging
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import pydantic
import pydantic_core

from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.shapes import ChatChoice, ChatCompletion, breakdown
from cg_pipeline.llm.wire import Fault, quote

T = TypeVar("T", bound=pydantic.BaseModel)

_UNUSABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
"""What reading an entry that is absent or damaged raises; a ValidationError is a ValueError."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Reply(Generic[T]):
    """A valid answer and what it took."""

    value: T
    usage: Usage
    cost: float | None
    cached: bool


def read_response(body: str, schema: type[T], endpoint: Endpoint) -> tuple[T | Fault, Usage]:
    """The answer in a response body, or its fault; and the tokens spent on it either way."""
    try:
        completion = ChatCompletion.model_validate_json(_redacted(body, endpoint))
    except pydantic.ValidationError:
        reason = f"sent something other than a chat completion ({quote(body, endpoint) or 'nothing'})"
        return Fault(reason=reason, remedy="wait"), Usage(n_unreported=1)
    if fault := breakdown(completion, endpoint):
        return fault, completion.spent
    if not completion.choices:
        return Fault(reason="sent a completion without an answer", remedy="wait"), completion.spent
    return _read_choice(completion.choices[0], schema, endpoint), completion.spent


def _read_choice(choice: ChatChoice, schema: type[T], endpoint: Endpoint) -> T | Fault:
    text = choice.message.content or ""
    if choice.message.refusal:
        return Fault(
            reason=f"declined to answer ({quote(choice.message.refusal, endpoint)})",
            remedy="none",
            kind="refused",
        )
    if choice.finish_reason == "content_filter":
        return Fault(reason="withheld the answer (content filter)", remedy="none", kind="refused")
    if choice.finish_reason == "length":
        return Fault(reason="was cut off before the answer was complete", remedy="lengthen")
    try:
        return schema.model_validate_json(_redacted(_json_part(text), endpoint), strict=True)
    except pydantic.ValidationError as error:
        reason = f"gave an unusable answer ({quote(_complaints(error), endpoint)})"
        return Fault(reason=reason, remedy="correct", answer=text)


def _redacted(text: str, endpoint: Endpoint) -> str:
    """JSON that spells no key once it is read, however it was escaped; as it is when it spells none."""
    try:
        plain = pydantic_core.to_json(pydantic_core.from_json(text), inf_nan_mode="constants").decode()
    except ValueError:  # what validates it says the same, and better
        return text
    redacted = endpoint.redact(plain)
    return text if redacted == plain else redacted


def _json_part(text: str) -> str:
    """The JSON object in a text that may fence it as code or put reasoning before it."""
    text = text.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _complaints(error: pydantic.ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    places = (".".join(map(str, complaint["loc"])) or "answer" for complaint in found)
    words = (complaint["msg"].removeprefix("Value error, ") for complaint in found)
    return "; ".join(f"{place}: {said}" for place, said in zip(places, words, strict=True))


def load_answer(path: Path, request: dict[str, Any], schema: type[T]) -> tuple[T, Usage] | None:
    """The answer kept for exactly this request, and what it took; None: absent, damaged or invalid."""
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept["request"] != request:
            return None
        spent = Usage(**{name: int(number) for name, number in kept["usage"].items()})
        return schema.model_validate(kept["answer"]), spent
    except _UNUSABLE:
        return None


def save_answer(path: Path, request: dict[str, Any], answer: pydantic.BaseModel, usage: Usage) -> None:
    """Keep an answer, whole or not at all; on a disk that refuses, the run goes on with the answer it has."""
    entry = {"request": request, "answer": answer.model_dump(mode="json"), "usage": vars(usage)}
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(entry, ensure_ascii=False, indent=1), "utf-8")
        draft.replace(path)
    except OSError as error:
        _log.warning("An LLM answer could not be kept at %s (%s); it will be asked for again.", path, error)
        with contextlib.suppress(OSError):
            draft.unlink()
