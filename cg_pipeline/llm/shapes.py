"""The parts of a completion that matter here; the rest, on which servers disagree, is ignored.

*Why two of each:* what names and judges goes through chat completions and is held to their form; what is
evaluated may also be a raw completion, and some servers count no tokens of an answer to those.
"""

from typing import Any

import pydantic

from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault, quote

MAX_TOKENS = 2**31 - 1
"""More than any text has, and few enough for any table."""

_BROKEN_OFF = ("error", "abort", "cancelled")
"""Why an answer ends, as OpenRouter, vLLM and others say that it is none."""


class Message(pydantic.BaseModel):
    """What the model said, or why it would not."""

    content: str | None = None
    refusal: str | None = None


class Logprobs(pydantic.BaseModel):
    """Of the tokens of a raw completion, the echoed ones first."""

    token_logprobs: list[Any] | None = None
    """As sent: whoever uses them checks them, and a text that is only generated needs none."""


class Choice(pydantic.BaseModel):
    """One answer of a chat or of a raw completion."""

    message: Message | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: Logprobs | None = None


class ChatChoice(pydantic.BaseModel):
    """One answer of a chat completion."""

    message: Message
    finish_reason: str | None = None


class Tokens(pydantic.BaseModel):
    """What was read and written."""

    prompt_tokens: int = pydantic.Field(ge=0, le=MAX_TOKENS)
    completion_tokens: int = pydantic.Field(default=0, ge=0, le=MAX_TOKENS)


class ChatTokens(Tokens):
    """The same where both have to be told."""

    completion_tokens: int = pydantic.Field(ge=0, le=MAX_TOKENS)  # pyright: ignore[reportGeneralTypeIssues]


class Completion(pydantic.BaseModel):
    """What chat completions and raw ones have in common."""

    choices: list[Choice]
    usage: Tokens | None = None
    error: Any = None

    @property
    def spent(self) -> Usage:
        """Tokens the server says it used."""
        return spent(self.usage)


class ChatCompletion(pydantic.BaseModel):
    """A chat completion."""

    choices: list[ChatChoice]
    usage: ChatTokens | None = None
    error: Any = None

    @property
    def spent(self) -> Usage:
        """Tokens the server says it used."""
        return spent(self.usage)


def spent(tokens: Tokens | None) -> Usage:
    """Tokens the server says it used, or that it does not say."""
    if tokens is None:
        return Usage(n_unreported=1)
    return Usage(input_tokens=tokens.prompt_tokens, output_tokens=tokens.completion_tokens)


def breakdown(completion: Completion | ChatCompletion, endpoint: Endpoint) -> Fault | None:
    """What went wrong at the server, although it answers with HTTP 200 and perhaps with some text."""
    if error := completion.error:
        said = error.get("message") if isinstance(error, dict) else error
        reason = f"sent an error along with HTTP 200 ({quote(str(said or error), endpoint)})"
        return Fault(reason=reason, remedy="wait")
    for choice in completion.choices:
        if (choice.finish_reason or "").lower() in _BROKEN_OFF:
            return Fault(reason=f"broke off the answer ({choice.finish_reason})", remedy="wait")
    return None
