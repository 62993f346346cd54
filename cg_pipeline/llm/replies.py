"""What an evaluated model replied: its text and why that ends, or the log-probabilities of a text.

*Why cleaned before it is read:* a reply may spell half of a surrogate pair or a NUL, which
no table keeps; both become a replacement character here, so that one odd token costs one
character and not the run.
"""

import json
import math
import sys
from typing import Any, Literal

import pydantic

from cg_pipeline.llm.attempts import Usage
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.questions import Question, Request, rendered
from cg_pipeline.llm.shapes import MAX_TOKENS, Choice, Completion, breakdown
from cg_pipeline.llm.wire import Fault, quote

Stop = Literal["end", "length", "overflow", "refused", "timed_out", "failed"]

_COMPARED = 32
"""Characters by which an echo is told from a text generated instead."""

_STOPS: dict[str, Stop] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refused",
}


class AnswerText(pydantic.BaseModel):
    """A reply to one request, or why there is none."""

    text: str
    """What was generated; empty when a text was only measured, or nothing came."""
    stop: Stop
    prompt: str
    """What was sent, as `Completion.rendered_prompt` keeps it."""
    n_prompt_tokens: int = pydantic.Field(default=0, ge=0, le=MAX_TOKENS)
    """0 when the server does not say."""
    n_completion_tokens: int = pydantic.Field(default=0, ge=0, le=MAX_TOKENS)
    logprobs: tuple[float, ...] = ()
    """Of the tokens of the text sent after the first `skip` ones; empty for a generated answer."""

    @property
    def is_there(self) -> bool:
        """Whether the question was answered."""
        return self.stop in ("end", "length")


def read_answer(
    body: str, question: Question, request: Request, endpoint: Endpoint
) -> tuple[AnswerText | Fault, Usage]:
    """The answer in the body of the response to a request, or its fault; and the tokens spent either way."""
    try:
        completion = Completion.model_validate_json(_clean(body, endpoint))
    except (pydantic.ValidationError, ValueError, RecursionError):
        reason = f"sent something other than a completion ({quote(body, endpoint) or 'nothing'})"
        return Fault(reason=reason, remedy="wait"), Usage(n_unreported=1)
    usage = completion.spent
    if fault := breakdown(completion, endpoint):
        return fault, usage
    if len(completion.choices) != 1:
        return Fault(reason=f"sent {len(completion.choices)} answers; 1 was wanted", remedy="wait"), usage
    if question.purpose != "answer" and completion.usage is None:
        return Fault(reason="did not say how many tokens the text has", remedy="none"), usage
    if question.purpose == "measure":
        return _measured(completion.choices[0], usage, request["prompt"], question.skip), usage
    return _generated(completion.choices[0], usage, question, request), usage


def _clean(body: str, endpoint: Endpoint) -> bytes:
    """The body without escapes, behind which half characters and the key may hide."""
    plain = json.dumps(json.loads(body), ensure_ascii=False)
    return endpoint.redact(plain).encode("utf-8", "replace")


def _generated(choice: Choice, usage: Usage, question: Question, request: Request) -> AnswerText:
    limit = request.get("max_tokens", request.get("max_completion_tokens", 0))
    said, refusal = choice.text, ""
    if choice.message is not None:
        said, refusal = choice.message.content, choice.message.refusal or ""
    cut = choice.finish_reason is None and usage.output_tokens >= limit > 0
    stop = "length" if cut else _STOPS.get(choice.finish_reason or "", "end")
    return AnswerText(
        text=(said or refusal).replace("\0", "\ufffd"),
        stop="refused" if refusal and not said else stop,
        prompt=question.shown or rendered(request),
        n_prompt_tokens=usage.input_tokens,
        n_completion_tokens=usage.output_tokens,
    )


def _is_logprob(value: Any) -> bool:
    """Only a first token has none: nothing comes before it."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and -sys.float_info.max <= value <= 0


def _measured(choice: Choice, usage: Usage, prompt: str, skip: int) -> AnswerText | Fault:
    """Log-probabilities of the prompt's own tokens from `skip` on; those of generated ones are dropped."""
    found = (choice.logprobs.token_logprobs if choice.logprobs else None) or []
    told = found[skip : usage.input_tokens]
    if len(found) < usage.input_tokens:
        return Fault(reason="did not give the log-probability of every token sent", remedy="none")
    if prompt.strip()[:_COMPARED] not in (choice.text or ""):
        return Fault(reason="did not repeat the text whose likelihood was asked for", remedy="none")
    if not all(
        _is_logprob(value) or (value is None and skip + place == 0) for place, value in enumerate(told)
    ):
        reason = "gave something other than the log-probability of a token, a finite number of at most 0"
        return Fault(reason=reason, remedy="none")
    values = tuple(math.nan if value is None else float(value) for value in told)
    return AnswerText(
        text="",
        stop="end",
        prompt=prompt,
        n_prompt_tokens=usage.input_tokens,
        n_completion_tokens=len(values),
        logprobs=values,
    )
