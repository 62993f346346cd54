"""One request to an OpenAI-compatible server: the body that came back, or the fault and its remedy.

Reading order: `post`, then `_judge_status`, which tells faults apart by status and words.

Why the client's own retries are off: they cannot tell how often they tried, cannot be
shortened for a test, and stop at a well-formed response that holds a useless answer. One
rule, `attempts.Attempt.cure`, says when to try again.

Why the body is streamed: its size can then be bounded, as `bounds` bounds its time and errors, so
a server that never stops sending neither fills the memory nor holds a run forever.
"""

import functools
import random
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx2  # the transport of the openai client: what breaks while a body is read is raised by it
import openai

from cg_pipeline.llm.bounds import bounding
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.waiting import seconds_asked

MAX_BODY_BYTES = 1 << 20
_QUOTED_CHARACTERS = 200
_UNWANTED = {"content_filter", "content_policy_violation"}
_OPTIONAL = (
    "temperature", "max_completion_tokens", "max_tokens", "response_format", "top_p",
    "continue_final_message", "add_generation_prompt",
)  # fmt: skip
_OPTIONAL_WORDS = ("stop", "seed")
"""Parameters that are also plain words: refused only when named in quotes."""

_TOO_LONG = re.compile(
    r"context.?(length|size|window)|maximum (model|input|context) length|(prompt|input) is too long"
    r"|longer than the (maximum|model)|too many (input )?tokens|too large for model with"
    r"|tokens?`? .{0,40}must be <=|input token count|exceeds? the maximum number of tokens",
    re.IGNORECASE,
)
"""How OpenAI, vLLM, llama.cpp, TGI, SGLang, Mistral, Anthropic and Google say that a text does not fit."""

_NO_PREFIX = re.compile(r"prefill|must end with a user message|last message must", re.IGNORECASE)
"""How servers say that they will not go on with an answer that was begun for them."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why one try brought no usable answer, and what may help."""

    reason: str
    """A predicate: the server … "did not answer within 2 s"."""
    remedy: Literal["none", "wait", "correct", "lengthen", "omit"]
    """Give up; wait; say what was wrong; allow a longer answer; leave `parameter` out."""
    wait_s: float | None = None
    """How long the server asks to wait."""
    parameter: str = ""
    """The request's parameter that the server refuses."""
    answer: str = ""
    """The unusable answer, to be quoted back."""
    kind: Literal["", "overflow", "refused", "timed_out", "settings", "server"] = ""
    """What it is about: the text is too long, unwanted, or took too long; a setting is wrong; the server as
    a whole is not to be had; or anything else."""

    @property
    def lasting(self) -> bool:
        """Whether the same question would meet it again: the text will not do, or the answers do not."""
        return self.kind in ("overflow", "refused") or self.remedy in ("correct", "lengthen")


def connect(endpoint: Endpoint) -> openai.OpenAI | Fault:
    """A client that follows the endpoint alone: no OPENAI_* variable, no proxy before a loopback address.

    Or the fault in a variable that says how to get there, without the words of whoever found it: they may
    quote a proxy's password.

    The client insists on a key, so a server that wants none is sent the word "none". Redirects
    are not followed: they would carry the labels to a server nobody named.
    """
    try:
        return _client(endpoint)
    except (OSError, ValueError, ImportError) as error:
        reason = f"cannot be asked: a proxy or certificate variable is unusable ({type(error).__name__})"
        return Fault(reason=reason, remedy="none", kind="settings")


def _client(endpoint: Endpoint) -> openai.OpenAI:
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else "none"
    client = openai.OpenAI(
        api_key=key,
        base_url=endpoint.base_url,
        max_retries=0,
        timeout=endpoint.timeout_s,
        default_headers={"Authorization": f"Bearer {key}"},
        http_client=openai.DefaultHttpxClient(
            verify=_certificates(),
            trust_env=not endpoint.is_loopback,
            follow_redirects=False,
            event_hooks=bounding(endpoint.timeout_s),
        ),
    )
    client.organization = client.project = None
    return client


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The trusted authorities, SSL_CERT_FILE included; reading them is most of what a client costs."""
    return httpx2.create_ssl_context()


def post(
    client: openai.OpenAI,
    endpoint: Endpoint,
    request: Mapping[str, Any],
    *,
    chat: bool = True,
    max_bytes: int = MAX_BODY_BYTES,
) -> str | Fault:
    """Body of the response to one request for a chat completion, or a raw one; or what went wrong."""
    place: Any = client.chat.completions if chat else client.completions
    text = "messages" if chat else "prompt"
    rest = {name: value for name, value in request.items() if name not in ("model", text)}
    try:
        with place.with_streaming_response.create(
            model=request["model"], **{text: request[text]}, extra_body=rest
        ) as response:
            body = _read(response.iter_bytes(), max_bytes)
    except (openai.APITimeoutError, httpx2.TimeoutException):
        reason = f"did not answer within {endpoint.timeout_s:g} s"
        return Fault(reason=reason, remedy="wait", kind="timed_out")
    except openai.APIStatusError as error:
        return _judge_status(error, endpoint, request)
    except (openai.OpenAIError, httpx2.HTTPError) as error:
        detail = quote(str(error.__cause__ or error), endpoint)
        return Fault(reason=f"could not be reached ({detail})", remedy="wait", kind="server")
    if body is None:
        return Fault(reason=f"sent more than {max_bytes} bytes", remedy="none")
    return endpoint.redact(body.decode("utf-8", "replace"))


def wait_s(fault: Fault, n_waits: int, endpoint: Endpoint) -> float:
    """What the server asks and a little more, else exponential back-off; jitter parts clients in step."""
    if fault.wait_s is not None:
        return fault.wait_s * random.uniform(1.0, 1.1)
    return min(endpoint.backoff_s * 2**n_waits, endpoint.max_wait_s) * random.uniform(0.5, 1.0)


def unwilling(fault: Fault) -> Fault:
    """A server that would draw its answers as it pleases, which the model's spec does not accept."""
    reason = (
        f"refuses {fault.parameter} and would draw its answers as it pleases ({fault.reason}); "
        "set own_sampling=True in its spec to accept that"
    )
    return replace(fault, reason=reason, remedy="none", kind="settings")


def quote(text: str, endpoint: Endpoint) -> str:
    """A server's words made fit for a sentence: one short line, no key, no page of markup."""
    line = " ".join("".join(c if c.isprintable() else " " for c in endpoint.redact(text)).split())
    if line.startswith("<"):
        return "an HTML page"
    return line if len(line) <= _QUOTED_CHARACTERS else line[:_QUOTED_CHARACTERS] + "…"


def _read(chunks: Iterable[bytes], max_bytes: int) -> bytes | None:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > max_bytes:
            return None
    return bytes(body)


def _judge_status(error: openai.APIStatusError, endpoint: Endpoint, request: Mapping[str, Any]) -> Fault:
    status, detail = error.status_code, quote(_words(error), endpoint)
    named, reason = endpoint.settings, f"answered HTTP {status} ({detail})"
    if status in (401, 403):  # servers echo parts of the key here, so their words are left out
        reason = f"refused the key (HTTP {status}); check {named.key}"
        return Fault(reason=reason, remedy="none", kind="settings")
    if status == 404:
        hint = f"check {named.address}, which usually ends in /v1, and {named.model}"
        reason = f"knows no such address or model (HTTP 404: {detail}); {hint}"
        return Fault(reason=reason, remedy="none", kind="settings")
    if error.code == "insufficient_quota":
        return Fault(reason=reason, remedy="none", kind="server")
    if status in (400, 413, 422, 500) and _is_too_long(error):  # 500: llama.cpp's older servers
        return Fault(reason=reason, remedy="none", kind="overflow")
    if error.code in _UNWANTED:
        return Fault(reason=reason, remedy="none", kind="refused")
    if status in (400, 422):
        refused = _refused_parameter(error, request)
        return Fault(reason=reason, remedy="omit" if refused else "none", parameter=refused)
    if status in (408, 409, 429) or status >= 500:
        kind = "timed_out" if status in (408, 504) else "server" if status in (429, 503) else ""
        return _judge_wait(
            reason, kind, seconds_asked(error.response.headers.get("retry-after", "")), endpoint
        )
    return Fault(reason=reason, remedy="none")


def _is_too_long(error: openai.APIStatusError) -> bool:
    named = error.code == "context_length_exceeded" or "exceed_context_size" in str(error.type)
    return named or error.status_code == 413 or _TOO_LONG.search(_words(error)) is not None


def _judge_wait(reason: str, kind: Any, wait_s: float | None, endpoint: Endpoint) -> Fault:
    if wait_s is not None and wait_s > endpoint.max_wait_s:
        asked = f"and asks to wait {wait_s:g} s, more than the {endpoint.max_wait_s:g} s allowed"
        return Fault(reason=f"{reason} {asked}", remedy="none", kind=kind)
    return Fault(reason=reason, remedy="wait", wait_s=wait_s, kind=kind)


def _words(error: openai.APIStatusError) -> str:
    said = error.body.get("message") if isinstance(error.body, Mapping) else error.body
    return said if isinstance(said, str) and said.strip() else "no explanation"


def _refused_parameter(error: openai.APIStatusError, request: Mapping[str, Any]) -> str:
    """The parameter the server complains of; `response_format`, the least common one, when it names none."""
    for text in (str(error.param), str(error.body)):
        named = [name for name in _OPTIONAL if name in text]
        named += [name for name in _OPTIONAL_WORDS if text == name or re.search(rf"['\"`]{name}['\"`]", text)]
        for name in named:
            if name in request:
                return name
    if "continue_final_message" in request and _NO_PREFIX.search(str(error.body)):
        return "continue_final_message"
    return "response_format" if "response_format" in request else ""
