"""A typed answer from a language model: tried again where that helps, validated, cached, billed.

An answer counts only when it validates against the schema asked for; until then the model is
told what was wrong, and in the end the failure is a `NamingFailed` with its reason, never a
made-up value.

Why the cache key is model + messages + schema + parameters, and not the address: an answer
belongs to the model that gave it, while one model moves between ports, gateways and machines,
and being asked again after each move is all that the address would add. The price: two servers
that serve different weights under one model name share answers; give those different names.
"""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import openai
import pydantic

from cg_pipeline.llm.answers import Reply, load_answer, read_response, save_answer
from cg_pipeline.llm.attempts import Attempt, Call
from cg_pipeline.llm.bill import Bill
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.wire import Fault, connect, post
from cg_pipeline.protocols import NamingFailed
from cg_pipeline.records import content_id

T = TypeVar("T", bound=pydantic.BaseModel)
Message = Mapping[str, str]
"""`role` and `content`."""

TEMPERATURE = 0.0
ANSWER_TOKENS = 1024
MAX_CORRECTIONS = 2
_QUOTED_ANSWER = 2000

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class _Talk(Attempt):
    """An attempt in which the model may be told what was wrong."""

    n_corrections: int = 0
    answer_tokens: int = ANSWER_TOKENS
    correction: list[Message] = field(default_factory=list)


class ChatModel:
    """A model behind an endpoint, with its answers kept in a folder and every call in a ledger."""

    def __init__(self, endpoint: Endpoint, cache_dir: Path) -> None:
        self.endpoint = endpoint
        self.cache_dir = cache_dir
        self.bill = Bill(endpoint)
        self._omitted: frozenset[str] = frozenset()

    def ask(self, messages: Sequence[Message], schema: type[T]) -> Reply[T]:
        """The model's answer to a conversation, as an instance of `schema`.

        Raises:
            NamingFailed: no valid answer could be had; one sentence says why and after how many tries.
        """
        request = {
            "model": self.endpoint.model,
            "messages": [dict(message) for message in messages],
            "schema": schema.model_json_schema(),
            "parameters": {"temperature": TEMPERATURE, "max_completion_tokens": ANSWER_TOKENS},
        }
        path = self.cache_dir / f"{content_id(request)}.json"
        attempt = _Talk(omitted=self._omitted)
        kept = load_answer(path, request, schema)
        if kept is not None:
            value, spent = kept
            call = self.bill.recall(path, spent)
            return Reply(value=value, usage=call.usage, cost=call.cost, cached=True)
        try:
            value = self._converse(messages, schema, attempt)
        except BaseException:
            self.bill.add(attempt, answered=False)
            raise
        call = self.bill.add(attempt, answered=True)
        self.bill.keep(path)
        save_answer(path, request, value, attempt.usage)
        return Reply(value=value, usage=call.usage, cost=call.cost, cached=False)

    @property
    def ledger(self) -> list[Call]:
        """A line for every call."""
        return self.bill.ledger

    def _converse(self, messages: Sequence[Message], schema: type[T], attempt: _Talk) -> T:
        """Try until an answer is valid or nothing is left to try."""
        with self._connect() as client:
            while True:
                outcome = self._try(client, messages, schema, attempt)
                if not isinstance(outcome, Fault):
                    self._omitted = attempt.omitted
                    return outcome
                _log.info("LLM %s %s (try %d).", self.endpoint.model, outcome.reason, attempt.n_tries)
                if not self._prepare_retry(outcome, attempt):
                    raise self._failure(f"{outcome.reason}, after {attempt.tries}", lasting=outcome.lasting)

    def _connect(self) -> openai.OpenAI:
        client = connect(self.endpoint)
        if isinstance(client, Fault):
            raise self._failure(client.reason)
        return client

    def _failure(self, reason: str, *, lasting: bool = False) -> NamingFailed:
        sentence = f"LLM {self.endpoint.model!r} at {self.endpoint.base_url} {reason}."
        return NamingFailed(self.endpoint.redact(sentence), lasting=lasting)

    def _try(
        self, client: openai.OpenAI, messages: Sequence[Message], schema: type[T], attempt: _Talk
    ) -> T | Fault:
        attempt.n_tries += 1
        body = post(client, self.endpoint, self._request(messages, schema, attempt))
        if isinstance(body, Fault):
            return body
        outcome, usage = read_response(body, schema, self.endpoint)
        attempt.usage += usage
        return outcome

    def _request(self, messages: Sequence[Message], schema: type[T], attempt: _Talk) -> dict[str, Any]:
        """The request, without what this server has refused; the schema then goes into the text."""
        strict = openai.pydantic_function_tool(schema)["function"].get("parameters", {})
        talk = [dict(message) for message in messages]
        if "response_format" in attempt.omitted:
            talk[-1]["content"] += f"\n\nAnswer with one JSON object fitting the schema {json.dumps(strict)}"
        limit = "max_tokens" if "max_completion_tokens" in attempt.omitted else "max_completion_tokens"
        format_ = {"name": schema.__name__, "schema": strict, "strict": True}
        optional = {
            "temperature": TEMPERATURE,
            limit: attempt.answer_tokens,
            "response_format": {"type": "json_schema", "json_schema": format_},
        }
        kept = {name: value for name, value in optional.items() if name not in attempt.omitted}
        return {"model": self.endpoint.model, "messages": [*talk, *attempt.correction], **kept}

    def _prepare_retry(self, fault: Fault, attempt: _Talk) -> bool:
        """Do what may cure the fault; False when it cannot be cured or has been tried often enough."""
        if (pause_s := attempt.cure(fault, self.endpoint)) is not None:
            time.sleep(pause_s)
            return True
        if fault.remedy not in ("lengthen", "correct") or attempt.n_corrections >= MAX_CORRECTIONS:
            return False
        attempt.n_corrections += 1
        if fault.remedy == "lengthen":
            attempt.answer_tokens *= 4  # a model that reasons first may need most of it for that
        else:
            attempt.correction = _correction(fault)
        return True


def _correction(fault: Fault) -> list[Message]:
    """The unusable answer and what is wrong with it, as the next two turns."""
    complaint = f"That cannot be used: you {fault.reason}. Answer again, with one valid JSON object only."
    said = fault.answer.strip()[:_QUOTED_ANSWER] or "(nothing)"
    return [{"role": "assistant", "content": said}, {"role": "user", "content": complaint}]
