"""What a response holds: its tokens, and an answer that fits the schema or the fault in it; and answers kept on disk."""

import json
import logging
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pydantic

from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault, quote

T = TypeVar("T", bound=pydantic.BaseModel)

_log = logging.getLogger(__name__)
_FENCED_OR_REASONED = re.compile(r"^.*</think>|```(?:json)?", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens the server says it used."""

    input_tokens: int = 0
    output_tokens: int = 0
    n_unreported: int = 0
    """Responses that did not say; when above 0, the other two are lower bounds."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            n_unreported=self.n_unreported + other.n_unreported,
        )


class _Message(pydantic.BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(pydantic.BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(pydantic.BaseModel):
    prompt_tokens: int = pydantic.Field(ge=0)
    completion_tokens: int = pydantic.Field(ge=0)


class _Completion(pydantic.BaseModel):
    """The part of a chat completion that matters here; the rest, which servers disagree on, is ignored."""

    choices: list[_Choice]
    usage: _Tokens | None = None


def read_response(body: str, schema: type[T], endpoint: Endpoint) -> tuple[T | Fault, Usage]:
    """The answer in a response body, or its fault; and the tokens spent on it either way."""
    try:
        completion = _Completion.model_validate_json(body)
    except pydantic.ValidationError:
        what = quote(body, endpoint)
        fault = Fault(reason=f"sent something other than a chat completion ({what or 'nothing'})", remedy="wait")
        return fault, Usage(n_unreported=1)
    if not completion.choices:
        return Fault(reason="sent a completion without an answer", remedy="wait"), _usage(completion)
    return _read_choice(completion.choices[0], schema, endpoint), _usage(completion)


def _usage(completion: _Completion) -> Usage:
    tokens = completion.usage
    if tokens is None:
        return Usage(n_unreported=1)
    return Usage(input_tokens=tokens.prompt_tokens, output_tokens=tokens.completion_tokens)


def _read_choice(choice: _Choice, schema: type[T], endpoint: Endpoint) -> T | Fault:
    text = choice.message.content or ""
    if choice.message.refusal:
        return Fault(reason=f"declined to answer ({quote(choice.message.refusal, endpoint)})", remedy="none")
    if choice.finish_reason == "content_filter":
        return Fault(reason="withheld the answer (content filter)", remedy="none")
    if choice.finish_reason == "length":
        return Fault(reason="was cut off before the answer was complete", remedy="lengthen")
    try:
        return schema.model_validate_json(_json_part(text), strict=True)
    except pydantic.ValidationError as error:
        reason = f"gave an unusable answer ({quote(_complaints(error), endpoint)})"
        return Fault(reason=reason, remedy="correct", answer=text)


def _json_part(text: str) -> str:
    """The JSON object in a text that may wrap it in a code fence or put reasoning before it."""
    text = _FENCED_OR_REASONED.sub("", text).strip()
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _complaints(error: pydantic.ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}" for e in found[:3])


def load_answer(path: Path, request: dict[str, Any], schema: type[T]) -> T | None:
    """The answer kept for exactly this request, or None: absent, damaged, or valid no longer."""
    try:
        kept = json.loads(path.read_text("utf-8"))
        return schema.model_validate(kept["answer"]) if kept["request"] == request else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # ValidationError is a ValueError
        return None


def save_answer(path: Path, request: dict[str, Any], answer: pydantic.BaseModel, usage: Usage) -> None:
    """Keep an answer, whole or not at all; a disk that refuses costs the next run money, not this one its answer."""
    entry = {"request": request, "answer": answer.model_dump(mode="json"), "usage": vars(usage)}
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(entry, ensure_ascii=False, indent=1), "utf-8")
        draft.replace(path)
    except OSError as error:
        _log.warning("An LLM answer could not be kept at %s (%s); it will be asked for again.", path, error)
        draft.unlink(missing_ok=True)
