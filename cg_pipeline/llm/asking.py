"""Many questions to one server: a few at a time, tried again where that helps, kept on disk, billed.

An answer is kept as soon as it is there, with the tokens it took: a run that is killed asks only what is
missing, and what it paid is not forgotten. Equal questions are asked once. A question that waits for
another try holds up no other, unless the server as a whole wants a pause. Progress and its rates are
about what is asked now.
What is kept under: the model, its version, the address, and the whole request. *Why the
address, unlike for names of clusters:* local servers answer to any model name, so two
models served one after the other at two ports would share answers; being asked again after a
move is the lesser harm. One server whose model is exchanged at the same address needs another
`revision` in the spec.

A parameter that the server refuses is left out, but never one that decides how answers are drawn
(`DECISIVE`), unless the model's spec accepts that: greedy answers and drawn ones are different things.

Only answers are kept. An example that was given up on (timed out, failed) or that did not fit
is asked again the next time.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError, ThreadPoolExecutor, as_completed
from pathlib import Path

import openai

from cg_pipeline.llm.answers import load_answer, save_answer
from cg_pipeline.llm.attempts import Attempt, Call
from cg_pipeline.llm.bill import Bill
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.failures import Failures
from cg_pipeline.llm.jobs import Asked, Job
from cg_pipeline.llm.questions import Question, rendered
from cg_pipeline.llm.replies import AnswerText, read_answer
from cg_pipeline.llm.turns import Turns
from cg_pipeline.llm.wire import Fault, connect, post, unwilling
from cg_pipeline.progress import ProgressMeter
from cg_pipeline.records import content_id

DECISIVE = frozenset({"temperature", "top_p"})
"""Parameters without which the answers are not those that were asked for."""

_WAITING_EACH = 4
"""So many questions may wait for another try, for each request that may be under way."""

_MAX_BYTES = 1 << 26  # log-probabilities of a long text are many times its size
_EVERY_S = 10.0
_UNITS = {"answer": "answer", "count": "context", "measure": "text"}
"""What progress counts, by the purpose of a question."""

_log = logging.getLogger(__name__)


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
        self.bill = Bill(endpoint)
        self.refused: frozenset[str] = frozenset()
        """Parameters that the server will not have, and that are left out."""
        self.failures = Failures(endpoint)
        self._cache_dir = cache_dir
        self._identity = {"model": endpoint.model, "address": endpoint.base_url, **identity}
        self._concurrency = concurrency
        self._insists_on = frozenset[str]() if own_sampling else DECISIVE
        self._report = report

    def ask(self, questions: Sequence[Question]) -> list[AnswerText]:
        """One answer per question, in order; one that could not be had says why in its `stop`.

        Raises:
            ValueError: the key, the address or the model's name is wrong.
            ConnectionError: the server cannot be reached or turns everybody away; answers so far are kept.
        """
        asked = [self._place(question) for question in questions]
        by_path = {each.path: each for each in asked}
        found = {path: answer for path, each in by_path.items() if (answer := self._recall(each))}
        missing = {path: each for path, each in by_path.items() if path not in found}
        for _ in range(len(asked) - len(by_path)):
            self.bill.repeat()
        found.update(zip(missing, self._send([*missing.values()]), strict=True))
        return [found[each.path] for each in asked]

    def _recall(self, asked: Asked) -> AnswerText | None:
        """The answer on disk, if there is one."""
        kept = load_answer(asked.path, asked.request, AnswerText)
        if kept is None:
            return None
        answer, spent = kept
        self.bill.recall(asked.path, spent)
        return answer

    def _send(self, asked: Sequence[Asked]) -> list[AnswerText]:
        """The answers that are not on disk."""
        if not asked:
            return []
        jobs = [Job(each) for each in asked]
        turns = Turns(jobs, most_waiting=_WAITING_EACH * self._concurrency)
        unit = _UNITS[asked[0].question.purpose]
        meter = ProgressMeter(
            len(asked), lambda now: self._report(f"{self.endpoint.model}: {now}"), unit=unit, every_s=_EVERY_S
        )
        with self._connect() as client, ThreadPoolExecutor(self._concurrency) as threads, meter:
            try:
                for _ in range(min(self._concurrency, len(jobs))):
                    threads.submit(self._work, client, turns, jobs)
                self._follow([job.answer for job in jobs], meter)
            finally:
                turns.stop()
        return [job.answer.result() for job in jobs]

    def _work(self, client: openai.OpenAI, turns: Turns[Job], jobs: Sequence[Job]) -> None:
        """What each thread does: one try after the other, whosever turn it is."""
        try:
            while (job := turns.take()) is not None:
                if not job.attempt.n_tries:
                    job.attempt = Attempt(omitted=self.refused)  # from now, as far as is known now
                self._take_turn(client, turns, job)
        except BaseException as error:  # for whoever follows
            for job in jobs:
                with contextlib.suppress(InvalidStateError):
                    job.answer.set_exception(error)

    def _take_turn(self, client: openai.OpenAI, turns: Turns[Job], job: Job) -> None:
        outcome = self._try(client, job.asked.question, job.attempt)
        turned_away = isinstance(outcome, Fault) and outcome.kind == "server"
        if turned_away:
            self._allow_for_others(job)
        wait_s = self._cure(job.asked.question, outcome, job.attempt)
        if wait_s is not None:
            turns.again(job, wait_s, all_wait=turned_away)
            return
        job.answer.set_result(self._settle(job.asked, outcome, job.attempt))
        turns.end()

    def _allow_for_others(self, job: Job) -> None:
        """A server that has answered others meanwhile is busy, not broken: its tries begin anew."""
        if self.failures.n_answered > job.n_answered:
            job.attempt.n_waits, job.n_answered = 0, self.failures.n_answered

    def try_patiently(self, question: Question) -> AnswerText | Fault:
        """The answer to one question, or what is wrong with it; it is billed, but not kept."""
        attempt = Attempt(omitted=self.refused)
        with self._connect() as client:
            while True:
                outcome = self._try(client, question, attempt)
                wait_s = self._cure(question, outcome, attempt)
                if wait_s is None:
                    self.bill.add(attempt, answered=isinstance(outcome, AnswerText))
                    return outcome
                time.sleep(wait_s)

    @property
    def ledger(self) -> list[Call]:
        """A line for every call."""
        return self.bill.ledger

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
            tokens = (call.usage.input_tokens + call.usage.output_tokens for call in calls)
            meter.advance(1, sum(tokens))  # of whichever calls have ended since

    def _place(self, question: Question) -> Asked:
        request = {**self._identity, **question.identity}
        name = content_id(request)
        return Asked(question, request, self._cache_dir / name[:2] / f"{name}.json")

    def _cure(self, question: Question, outcome: AnswerText | Fault, attempt: Attempt) -> float | None:
        """Seconds to wait before the next try; None where there is an answer, or nothing left to try."""
        if isinstance(outcome, AnswerText) or self._insists(question, outcome):
            return None
        _log.debug("%s %s (try %d).", self.endpoint.model, outcome.reason, attempt.n_tries)
        return attempt.cure(outcome, self.endpoint)

    def _insists(self, question: Question, fault: Fault) -> bool:
        """Whether the server refuses what may not be left out."""
        return question.purpose == "answer" and fault.parameter in self._insists_on

    def _settle(self, asked: Asked, outcome: AnswerText | Fault, attempt: Attempt) -> AnswerText:
        """The answer, kept; or one that says why there is none."""
        answered = isinstance(outcome, AnswerText)
        self.bill.add(attempt, answered=answered)
        if answered:
            self.failures.end_row()
            self._learn(attempt.omitted)
            self.bill.keep(asked.path)
            save_answer(asked.path, asked.request, outcome, attempt.usage)
            return outcome
        if self._insists(asked.question, outcome):
            outcome = unwilling(outcome)
        stop = self.failures.give_up(outcome, attempt)
        return AnswerText(text="", stop=stop, prompt=rendered(asked.question.build(attempt.omitted)))

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
