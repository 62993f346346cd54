"""Questions that are given up on: whose fault that is, and when it ends the run.

A fault of the server as a whole ends the run at once instead of marking every example as failed; so do
many failures in a row, with no answer between.
"""

import threading
from collections import Counter

from cg_pipeline.llm.attempts import Attempt
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.replies import Stop
from cg_pipeline.llm.wire import Fault

MAX_FAILURES_IN_A_ROW = 10
"""So many questions given up on, with no answer between, are the server's fault and not theirs."""


class Failures:
    """Counts what one server failed at; told by any number of threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.troubles: Counter[str] = Counter()
        """Why questions were given up on."""
        self.n_answered = 0
        """Questions that were answered."""
        self._endpoint = endpoint
        self._n_in_a_row = 0
        self._lock = threading.Lock()

    def end_row(self) -> None:
        """A question was answered."""
        with self._lock:
            self.n_answered += 1
            self._n_in_a_row = 0

    def give_up(self, fault: Fault, attempt: Attempt) -> Stop:
        """Why a question has no answer, in a word, where that is the question's own affair.

        Raises:
            ValueError: a setting is wrong.
            ConnectionError: the server is not to be had, or has failed too often in a row.
        """
        if fault.kind == "settings":
            raise ValueError(self._sentence(fault, attempt))
        if fault.kind == "server":
            raise ConnectionError(self._sentence(fault, attempt) + " Answers so far are kept; run it again.")
        stop: Stop = fault.kind or "failed"
        if stop in ("timed_out", "failed"):
            self._count(fault, attempt)
        return stop

    def _count(self, fault: Fault, attempt: Attempt) -> None:
        with self._lock:
            self.troubles[fault.reason] += 1
            self._n_in_a_row += 1
            in_a_row = self._n_in_a_row
        if in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise ConnectionError(
                f"{self._sentence(fault, attempt)} So did the {in_a_row} last questions. "
                "Answers so far are kept; run it again."
            )

    def _sentence(self, fault: Fault, attempt: Attempt) -> str:
        endpoint = self._endpoint
        text = f"Model {endpoint.model!r} at {endpoint.base_url} {fault.reason}, after {attempt.tries}."
        return endpoint.redact(text)
