"""How far a long run is, and how fast: for a log, and for whoever watches a terminal.

Whoever works tells a meter what is done: a model in memory of each batch, one behind a server of each
answer, scoring of each verdict. The meter speaks at most every few seconds, and once at the end.

Rates are of work done now. What was known before (an answer on disk) takes no time, and would make the
rest look as quick: a meter is to expect only the rest, or is told what it recalled.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TextIO

from tqdm import tqdm

Advance = Callable[[int, int], None]
"""Told of examples finished and tokens read or written since it was last called."""


def unwatched(_n_examples: int, _n_tokens: int) -> None:
    """An `Advance` that nobody listens to."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A run at one moment."""

    n_done: int
    """Examples, or whatever is counted, that are finished."""
    n_total: int
    n_tokens: int
    """Tokens read or written by the model so far."""
    seconds: float
    n_known: int = 0
    """Of those finished, how many took no work."""
    unit: str = "example"
    """What is counted."""

    @property
    def done_per_s(self) -> float:
        """How many are finished per second, of those that take work."""
        return (self.n_done - self.n_known) / self.seconds if self.seconds else 0.0

    @property
    def tokens_per_s(self) -> float:
        """Tokens read or written per second."""
        return self.n_tokens / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the rate so far, should all the rest take work; None before there is a rate."""
        return (self.n_total - self.n_done) / self.done_per_s if self.n_done > self.n_known else None

    def __str__(self) -> str:
        """One line for a log."""
        known = f" ({self.n_known:,} known before)" if self.n_known else ""
        tokens = f", {self.tokens_per_s:,.0f} tokens/s" if self.n_tokens else ""
        left = "" if self.seconds_left is None else f", {self.seconds_left:,.0f} s left"
        return (
            f"{self.n_done:,} of {self.n_total:,} {self.unit}s{known}, "
            f"{self.done_per_s:,.2f} {self.unit}s/s{tokens}{left}"
        )


_terminal: TextIO | None = None


@contextmanager
def bars_on_the_terminal() -> Iterator[None]:
    """Draw bars where standard error leads now, if to a terminal, even while it is led elsewhere.

    *Why:* Dagster leads what a step writes into a file, where nobody watches and no bar belongs.
    """
    global _terminal
    if not sys.stderr.isatty():
        yield
        return
    with os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8") as _terminal:
        try:
            yield
        finally:
            _terminal = None


class ProgressMeter:
    """Counts what is done; reports it now and then, and draws a bar where a person is watching."""

    def __init__(
        self,
        n_total: int,
        report: Callable[[Progress], None],
        *,
        unit: str = "example",
        every_s: float = 10.0,
        bar: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock.

        Args:
            n_total: how many are to come.
            report: told of the progress; `str` of it is a line for a log.
            unit: what is counted.
            every_s: least seconds between two reports.
            bar: whether to draw a bar; None where there is a terminal: standard error, or what it was when
                `bars_on_the_terminal` began.
            clock: seconds that only grow.
        """
        self._n_total, self._report, self._every_s, self._clock = n_total, report, every_s, clock
        self._n_done = self._n_tokens = self._n_known = 0
        self._unit = unit
        self._start = self._last = clock()
        place = _terminal or sys.stderr
        shown = place.isatty() if bar is None else bar
        settings: dict[str, Any] = {"total": n_total, "unit": unit, "disable": False}
        self._bar: Any = tqdm(file=place, **settings) if shown else None

    def expect(self, n_total: int) -> None:
        """So many are to come, after all; the clock starts anew."""
        self._n_total, self._n_done, self._n_tokens, self._n_known = n_total, 0, 0, 0
        self._start = self._last = self._clock()
        if self._bar is not None:
            self._bar.reset(total=n_total)

    def recall(self, n_known: int) -> None:
        """So many of all that are finished took no work."""
        self._n_known = n_known

    def advance(self, n_examples: int, n_tokens: int) -> None:
        """Count what was finished, and tokens read or written."""
        self._n_done += n_examples
        self._n_tokens += n_tokens
        if self._bar is not None:
            self._bar.set_postfix_str(f"{self.progress.tokens_per_s:,.0f} tokens/s", refresh=False)
            self._bar.update(n_examples)
        if self._clock() - self._last >= self._every_s:
            self._last = self._clock()
            self._report(self.progress)

    @property
    def progress(self) -> Progress:
        """Where the run is now."""
        return Progress(
            n_done=self._n_done,
            n_total=self._n_total,
            n_tokens=self._n_tokens,
            seconds=self._clock() - self._start,
            n_known=self._n_known,
            unit=self._unit,
        )

    def __enter__(self) -> "ProgressMeter":
        """The meter itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the bar, and report once more if there was anything to do."""
        if self._bar is not None:
            self._bar.close()
        if self._n_total:
            self._report(self.progress)
