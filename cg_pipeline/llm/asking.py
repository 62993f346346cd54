"""Many questions to one server: a few at a time, tried again where that helps, kept on disk, billed.

An answer is kept as soon as it is there, so a run that is killed asks only what is missing; equal
questions are asked once. Progress and its rates are about what is asked now.
What is kept under: the model, its version, the address, and the whole request. *Why the
address, unlike for names of clusters:* local servers answer to any model name, so two
models served one after the other at two ports would share answers; being asked again after a
move is the lesser harm. One server whose model is exchanged at the same address needs another
`revision` in the spec.

A parameter that the server refuses is left out, but never one that decides how answers are drawn
(`DECISIVE`), unless the model's spec accepts that: greedy answers and drawn ones are different things.

Only answers are kept. An example that was given up on (timed out, failed) or that did not fit
is asked again the next time; a fault of the server as a whole ends the run instead of marking
every example as failed.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai

from cg_pipeline.llm.answers import load_answer, save_answer
from cg_pipeline.llm.attempts import Attempt, Call, Usage, usage_of
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.questions import Question, rendered
from cg_pipeline.llm.replies import AnswerText, Stop, read_answer
from cg_pipeline.llm.wire import Fault, connect, post, unwilling
from cg_pipeline.progress import ProgressMeter
from cg_pipeline.records import content_id

MAX_FAILURES_IN_A_ROW = 10
"""So many questions given up on, with no answer between, are the server's fault and not theirs."""

DECISIVE = frozenset({"temperature", "top_p"})
"""Parameters without which the answers are not those that were asked for."""

_MAX_BYTES = 1 << 26  # log-probabilities of a long text are many times its size
_EVERY_S = 10.0
_UNITS = {"answer": "answer", "count": "context", "measure": "text"}
"""What progress counts, by the purpose of a question."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Asked:
    """A question, and the place of its answer on disk."""

    question: Question
    request: dict[str, Any]
    """What the answer is kept under."""
    path: Path

    def kept(self) -> AnswerText | None:
        return load_answer(self.path, self.request, AnswerText)


class Asker:
    """Puts questions to one model behind one endpoint."""

    def __init__(
        self,
        endpoint: Endpoint,
        cache_dir: Path,
        *,
        identity: Mapping[str, str],
        concurrency: int = 8,
        own_sampling: bool = False,
        report: Callable[[str], None] = _log.info,
    ) -> None:
        """Prepare to ask; nothing is sent yet.

        Args:
            endpoint: where, which model, how patiently.
            cache_dir: where answers are kept.
            identity: what else tells this model's answers from others'.
            concurrency: requests under way at once, at most.
            own_sampling: whether answers may be drawn as the server pleases, should it insist.
            report: told every few seconds how far it is.
        """
        if concurrency < 1:
            raise ValueError(f"concurrency is {concurrency}; expected at least 1 request at a time.")
        self.endpoint = endpoint
        self.ledger: list[Call] = []
        self.refused: frozenset[str] = frozenset()
        """Parameters that the server will not have, and that are left out."""
        self.troubles: Counter[str] = Counter()
        """Why questions were given up on."""
        self._cache_dir = cache_dir
        self._identity = {"model": endpoint.model, "address": endpoint.base_url, **identity}
        self._concurrency = concurrency
        self._insists_on = frozenset[str]() if own_sampling else DECISIVE
        self._report = report
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._n_failed_in_a_row = 0

    def ask(self, questions: Sequence[Question]) -> list[AnswerText]:
        """One answer per question, in order; one that could not be had says why in its `stop`.

        Raises:
            ValueError: the key, the address or the model's name is wrong.
            ConnectionError: the server cannot be reached or turns everybody away; answers so far are kept.
        """
        asked = [self._place(question) for question in questions]
        by_path = {each.path: each for each in asked}
        found = {path: answer for path, each in by_path.items() if (answer := each.kept())}
        missing = {path: each for path, each in by_path.items() if path not in found}
        for _ in range(len(asked) - len(missing)):
            self._record(Attempt(), cached=True, answered=True)
        found.update(zip(missing, self._send([*missing.values()]), strict=True))
        return [found[each.path] for each in asked]

    def _send(self, asked: Sequence["_Asked"]) -> list[AnswerText]:
        """The answers that are not on disk."""
        if not asked:
            return []
        self._stopping.clear()
        unit = _UNITS[asked[0].question.purpose]
        meter = ProgressMeter(
            len(asked), lambda now: self._report(f"{self.endpoint.model}: {now}"), unit=unit, every_s=_EVERY_S
        )
        with self._connect() as client, ThreadPoolExecutor(self._concurrency) as threads, meter:
            futures = [threads.submit(self._answer, client, each) for each in asked]
            try:
                self._follow(futures, meter)
            except BaseException:
                self._stopping.set()
                threads.shutdown(wait=True, cancel_futures=True)
                raise
        return [future.result() for future in futures]

    def try_patiently(self, question: Question) -> AnswerText | Fault:
        """The answer to one question, or what is wrong with it; nothing is kept."""
        self._stopping.clear()
        with self._connect() as client:
            return self._insist(client, question, Attempt(omitted=self.refused))

    @property
    def usage(self) -> Usage:
        """Tokens of all calls, given-up ones included."""
        return usage_of(self.ledger)

    def _connect(self) -> openai.OpenAI:
        client = connect(self.endpoint)
        if isinstance(client, Fault):
            raise ValueError(f"Model {self.endpoint.model!r} {client.reason}.")
        return client

    def _follow(self, futures: Sequence[Future[AnswerText]], meter: ProgressMeter) -> None:
        n_seen = len(self.ledger)
        for future in as_completed(futures):
            future.result()
            calls = self.ledger[n_seen:]
            n_seen += len(calls)
            used = usage_of(calls)  # by whichever calls have ended since
            meter.advance(1, used.input_tokens + used.output_tokens)

    def _place(self, question: Question) -> "_Asked":
        request = {**self._identity, **question.identity}
        name = content_id(request)
        return _Asked(question, request, self._cache_dir / name[:2] / f"{name}.json")

    def _answer(self, client: openai.OpenAI, asked: "_Asked") -> AnswerText:
        attempt = Attempt(omitted=self.refused)
        try:
            outcome = self._insist(client, asked.question, attempt)
        except BaseException:
            self._record(attempt, cached=False, answered=False)
            raise
        answered = isinstance(outcome, AnswerText)
        self._record(attempt, cached=False, answered=answered)
        if answered:
            self._learn(attempt.omitted)
            save_answer(asked.path, asked.request, outcome, attempt.usage)
            return outcome
        return self._give_up(asked.question, outcome, attempt)

    def _insist(self, client: openai.OpenAI, question: Question, attempt: Attempt) -> AnswerText | Fault:
        """Try until there is an answer or nothing is left to try."""
        while True:
            outcome = self._try(client, question, attempt)
            if isinstance(outcome, AnswerText):
                return outcome
            _log.debug("%s %s (try %d).", self.endpoint.model, outcome.reason, attempt.n_tries)
            if outcome.parameter in self._insists_on and question.purpose == "answer":
                return unwilling(outcome)
            cured = attempt.cure(outcome, self.endpoint, self._stopping.wait)
            if not cured or self._stopping.is_set():
                return outcome

    def _try(self, client: openai.OpenAI, question: Question, attempt: Attempt) -> AnswerText | Fault:
        attempt.n_tries += 1
        request = {"model": self.endpoint.model, **question.build(attempt.omitted)}
        body = post(client, self.endpoint, request, chat=question.chat, max_bytes=_MAX_BYTES)
        if isinstance(body, Fault):
            return body
        outcome, usage = read_answer(body, question, request, self.endpoint)
        attempt.usage += usage
        return outcome

    def _learn(self, refused: frozenset[str]) -> None:
        if new := refused - self.refused:
            _log.warning("%s refuses %s; asked without.", self.endpoint.model, ", ".join(sorted(new)))
            self.refused |= new

    def _give_up(self, question: Question, fault: Fault, attempt: Attempt) -> AnswerText:
        """An answer that says why there is none, unless the fault is not the question's."""
        if fault.kind == "settings":
            raise ValueError(self._sentence(fault, attempt))
        if fault.kind == "server":
            raise ConnectionError(self._sentence(fault, attempt) + " Answers so far are kept; run it again.")
        stop: Stop = fault.kind or "failed"
        if stop in ("timed_out", "failed"):
            self._count_failure(fault, attempt)
        prompt = rendered(question.build(attempt.omitted))
        return AnswerText(text="", stop=stop, prompt=prompt)

    def _count_failure(self, fault: Fault, attempt: Attempt) -> None:
        with self._lock:
            self.troubles[fault.reason] += 1
            self._n_failed_in_a_row += 1
            in_a_row = self._n_failed_in_a_row
        if in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise ConnectionError(
                f"{self._sentence(fault, attempt)} So did the {in_a_row} last questions. "
                "Answers so far are kept; run it again."
            )

    def _sentence(self, fault: Fault, attempt: Attempt) -> str:
        endpoint = self.endpoint
        text = f"Model {endpoint.model!r} at {endpoint.base_url} {fault.reason}, after {attempt.tries}."
        return endpoint.redact(text)

    def _record(self, attempt: Attempt, *, cached: bool, answered: bool) -> None:
        call = attempt.call(self.endpoint, cached=cached, answered=answered)
        with self._lock:
            self.ledger.append(call)
            if answered:
                self._n_failed_in_a_row = 0
