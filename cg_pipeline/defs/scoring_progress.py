"""How far scoring is where answers take a judge or a sandbox, in the log of `scores`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cg_pipeline.progress import Progress, ProgressMeter
from cg_pipeline.records import Score

if TYPE_CHECKING:
    from cg_pipeline.llm.attempts import Call

Watch = Callable[[Iterable[Score]], Iterable[Score]]
"""Passes scores on as they come."""


@contextmanager
def watched(
    n_answers: int,
    report: Callable[[Progress], None],
    *,
    needed: bool,
    ledger: "Sequence[Call] | None" = None,
) -> Iterator[Watch]:
    """What tells a meter of each score that passes.

    Args:
        n_answers: scores to come.
        report: told of the progress now and then.
        needed: whether anybody has to be asked; otherwise scoring takes no time worth a word.
        ledger: what the judge's calls are written to; None where programs run.
    """
    if not needed:
        yield iter
        return
    with ProgressMeter(n_answers, report, unit="answer") as meter:
        yield lambda scores: _told(scores, meter, ledger)


def _told(scores: Iterable[Score], meter: ProgressMeter, ledger: "Sequence[Call] | None") -> Iterator[Score]:
    """The scores, each counted.

    Verdicts that the judge had on disk take no time. As large a share of the answers is taken for known
    as of the judge's calls: an answer may take several calls, or none, and several are under way.
    """
    n_calls = n_cached = 0
    for n_done, score in enumerate(scores, start=1):
        calls = [] if ledger is None else ledger[n_calls:]
        n_calls += len(calls)
        n_cached += sum(call.cached for call in calls)
        if ledger is not None:
            meter.recall(round(n_done * n_cached / n_calls) if n_calls else n_done)
        meter.advance(1, sum(call.usage.input_tokens + call.usage.output_tokens for call in calls))
        yield score
