"""How far a long run is, and how fast: for a log, and for whoever watches a terminal.

`LanguageModel.reporting_to(meter.advance)` tells a meter of each batch; the meter speaks at
most every few seconds, and once at the end.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from tqdm import tqdm

Advance = Callable[[int, int], None]
"""Told of examples finished and tokens read or written since it was last called."""


def unwatched(_n_examples: int, _n_tokens: int) -> None:
    """An `Advance` that nobody listens to."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A run at one moment."""

    n_done: int
    """Examples finished."""
    n_total: int
    n_tokens: int
    """Tokens read or written by the model so far."""
    seconds: float

    @property
    def examples_per_s(self) -> float:
        """Examples finished per second."""
        return self.n_done / self.seconds if self.seconds else 0.0

    @property
    def tokens_per_s(self) -> float:
        """Tokens read or written per second."""
        return self.n_tokens / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the rate so far; None before the first example is finished."""
        return (self.n_total - self.n_done) / self.examples_per_s if self.n_done else None

    def __str__(self) -> str:
        """One line for a log."""
        left = "" if self.seconds_left is None else f", {self.seconds_left:,.0f} s left"
        return (
            f"{self.n_done:,} of {self.n_total:,} examples, {self.examples_per_s:,.2f} examples/s, "
            f"{self.tokens_per_s:,.0f} tokens/s{left}"
        )


class ProgressMeter:
    """Counts what is done; reports it now and then, and draws a bar where a person is watching."""

    def __init__(
        self,
        n_total: int,
        report: Callable[[Progress], None],
        *,
        every_s: float = 10.0,
        bar: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock.

        Args:
            n_total: examples to come.
            report: told of the progress; `str` of it is a line for a log.
            every_s: least seconds between two reports.
            bar: whether to draw a bar on standard error; None where that is a terminal.
            clock: seconds that only grow.
        """
        self._n_total, self._report, self._every_s, self._clock = n_total, report, every_s, clock
        self._n_done = self._n_tokens = 0
        self._start = self._last = clock()
        shown = sys.stderr.isatty() if bar is None else bar
        settings: dict[str, Any] = {"total": n_total, "unit": "example", "disable": False}
        self._bar: Any = tqdm(file=sys.stderr, **settings) if shown else None

    def expect(self, n_total: int) -> None:
        """So many examples are to come, after all; the clock starts anew."""
        self._n_total, self._n_done, self._n_tokens = n_total, 0, 0
        self._start = self._last = self._clock()
        if self._bar is not None:
            self._bar.reset(total=n_total)

    def advance(self, n_examples: int, n_tokens: int) -> None:
        """Count examples finished and tokens read or written."""
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
