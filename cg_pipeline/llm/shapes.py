"""The parts of a completion that matter here; the rest, on which servers disagree, is ignored.

*Why two of each:* what names and judges goes through chat completions and is held to their form; what is
evaluated may also be a raw completion, and some servers count no tokens of an answer to those.
"""

from typing import Any

import pydantic

from cg_pipeline.llm.attempts import Usage

MAX_TOKENS = 2**31 - 1
"""More than any text has, and few enough for any table."""


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

    @property
    def spent(self) -> Usage:
        """Tokens the server says it used."""
        return spent(self.usage)


class ChatCompletion(pydantic.BaseModel):
    """A chat completion."""

    choices: list[ChatChoice]
    usage: ChatTokens | None = None

    @property
    def spent(self) -> Usage:
        """Tokens the server says it used."""
        return spent(self.usage)


def spent(tokens: Tokens | None) -> Usage:
    """Tokens the server says it used, or that it does not say."""
    if tokens is None:
        return Usage(n_unreported=1)
    return Usage(input_tokens=tokens.prompt_tokens, output_tokens=tokens.completion_tokens)
