"""What asking has cost: a line for every call, and what answers on disk had cost before.

*Why both:* a run that is killed has paid for the answers it kept. The next one gets them for nothing,
and would otherwise tell of a cell that it cost only the rest.
"""

import threading
from pathlib import Path

from cg_pipeline.llm.attempts import Attempt, Call, Usage
from cg_pipeline.llm.endpoint import Endpoint


class Bill:
    """Calls to one endpoint; written by any number of threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.ledger: list[Call] = []
        self._endpoint = endpoint
        self._before = Usage()
        self._known: set[Path] = set()
        self._lock = threading.Lock()

    def add(self, attempt: Attempt, *, answered: bool) -> Call:
        """A line for a question that has been asked."""
        return self._write(attempt, cached=False, answered=answered)

    def recall(self, kept_at: Path, spent: Usage) -> Call:
        """A line for an answer that is on disk; what it took is counted once, and not again if paid here."""
        with self._lock:
            if kept_at not in self._known:
                self._known.add(kept_at)
                self._before += spent
        return self._write(Attempt(), cached=True, answered=True)

    def repeat(self) -> None:
        """A line for a question that is asked twice at once, and answered once."""
        self._write(Attempt(), cached=True, answered=True)

    def keep(self, kept_at: Path) -> None:
        """An answer that was paid here will be on disk at this place."""
        with self._lock:
            self._known.add(kept_at)

    @property
    def usage(self) -> Usage:
        """Tokens of all calls, given-up ones included."""
        return sum((call.usage for call in self.ledger), Usage())

    @property
    def usage_in_all(self) -> Usage:
        """The same, and what answers on disk had taken before."""
        return self.usage + self._before

    def price(self, usage: Usage) -> float | None:
        """What so many tokens cost; None when the prices are unknown."""
        return self._endpoint.cost(usage.input_tokens, usage.output_tokens)

    def totals(self, prefix: str) -> dict[str, int | float]:
        """Calls, how they ended, tokens, and cost if prices are known, under names that begin so."""
        ledger, usage = list(self.ledger), self.usage
        cost = self.price(usage)
        spent: dict[str, int | float] = {
            f"{prefix}_calls": len(ledger),
            f"{prefix}_calls_cached": sum(call.cached for call in ledger),
            f"{prefix}_calls_failed": sum(not call.answered for call in ledger),
            f"{prefix}_input_tokens": usage.input_tokens,
            f"{prefix}_output_tokens": usage.output_tokens,
        }
        return spent if cost is None else {**spent, f"{prefix}_cost": cost}

    def _write(self, attempt: Attempt, *, cached: bool, answered: bool) -> Call:
        call = attempt.call(self._endpoint, cached=cached, answered=answered)
        with self._lock:
            self.ledger.append(call)
        return call
