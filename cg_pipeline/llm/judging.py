"""A language model that decides between a few verdicts: the judge of judged benchmarks.

A verdict is one word out of a closed list, in a field of its own, after a short reasoning; what
does not fit the schema is asked for again, and in the end is a `JudgeFailed`, never a verdict
(fault F11 of neighbouring tools: an unparsed verdict counted as wrong). Verdicts are cached by
model and prompt, so scoring again costs nothing.

Why a judge that keeps failing is not asked any more: every question to a server that is down
waits for all its retries, and a benchmark has thousands.
"""

import functools
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import pydantic

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.llm.chat import ANSWER_TOKENS, MAX_CORRECTIONS, TEMPERATURE, ChatModel
from cg_pipeline.protocols import JudgeFailed, NamingFailed
from cg_pipeline.records import content_id

MAX_FAILURES = 20
"""Failures in a row after which nothing more is asked; what the judge itself declines is none."""

_CLOSING = "Give your reasoning first, in at most three sentences, then the verdict: one of {verdicts}."


def way_of_asking() -> str:
    """Fingerprint of what makes a verdict besides the judge and the policy's prompt: form and parameters."""
    return content_id(fingerprint(verdict_schema), _CLOSING, TEMPERATURE, ANSWER_TOKENS, MAX_CORRECTIONS)


class LlmJudge:
    """A `protocols.Judge` that asks a language model."""

    def __init__(self, chat: ChatModel) -> None:
        self.chat = chat
        self._n_failures = 0
        self._lock = threading.Lock()
        self.troubles: Counter[str] = Counter()
        """Why verdicts are missing, in sentences, and how often."""

    @property
    def source(self) -> str:
        """What is recorded as the source of its verdicts."""
        return self.chat.endpoint.source

    def decide(self, prompt: str, verdicts: Sequence[str]) -> str:
        """One of `verdicts`.

        Raises:
            JudgeFailed: the model gave none, or has failed too often in a row.
        """
        if self._n_failures >= MAX_FAILURES:
            raise JudgeFailed(f"Not asked: {self.source} failed {MAX_FAILURES} times in a row before.")
        schema = verdict_schema(tuple(verdicts))
        question = f"{prompt}\n\n{_CLOSING.format(verdicts=', '.join(verdicts))}"
        sendable = question.encode("utf-8", "replace").decode()
        try:
            answer: Any = self.chat.ask([{"role": "user", "content": sendable}], schema).value
        except NamingFailed as failure:
            self._count(failed=not failure.lasting, trouble=str(failure))
            raise JudgeFailed(str(failure), lasting=failure.lasting) from failure
        self._count(failed=False)
        return answer.verdict

    def totals(self) -> dict[str, int | float]:
        """What judging has taken so far: calls, how they ended, tokens, and cost if prices are known."""
        paid = self.chat.bill.usage_in_all
        return {
            **self.chat.bill.totals("judge"),
            "judge_input_tokens_in_all": paid.input_tokens,
            "judge_output_tokens_in_all": paid.output_tokens,
        }

    def _count(self, *, failed: bool, trouble: str = "") -> None:
        with self._lock:
            self._n_failures = self._n_failures + 1 if failed else 0
            self.troubles.update([trouble] if trouble else [])


@functools.cache
def verdict_schema(verdicts: tuple[str, ...]) -> type[pydantic.BaseModel]:
    """The form of an answer: a reasoning, then exactly one of the verdicts."""
    if len(set(verdicts)) != len(verdicts) or len(verdicts) < 2:
        raise ValueError(f"verdicts are {verdicts!r}; expected two different ones or more. Correct them.")
    fields: dict[str, Any] = {"reasoning": (str, ...), "verdict": (Literal[verdicts], ...)}
    return pydantic.create_model("Verdict", **fields)
