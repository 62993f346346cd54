"""Completions of a model behind a server: asked all at once, resumed from the answers on disk.

*Why not in shards, as for a model in memory:* every answer is kept on its own the moment it comes,
so nothing is lost and nothing waits for the slowest of a block. Materialising again asks only for
what is missing, which includes examples that were given up on. As long as there are such, the cell is
out of date (`identity.answered_id`): the next run asks them again.

The asset's pool is that of the device (a pool belongs to an asset, not to a partition), so one
cell at a time is asked or computed; within it, `Servers.concurrency` requests are under way.
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from cg_pipeline import checks, pipeline
from cg_pipeline.defs.bills import noted, paid_in_all, paid_now
from cg_pipeline.defs.results import preview, result
from cg_pipeline.defs.retries import lasting_faults_end_the_run
from cg_pipeline.identity import answered_id
from cg_pipeline.records import Example
from cg_pipeline.specs import Benchmark

if TYPE_CHECKING:
    from cg_pipeline.llm.served import ServedLanguageModel

_SHOWN_TROUBLES = 5


def ask_served(
    benchmark: Benchmark,
    examples: Sequence[Example],
    connect: Callable[[], "ServedLanguageModel"],
    fingerprint: str,
    report: Callable[[str], None],
) -> dg.MaterializeResult:
    """The completions of one cell, with what they took and cost; `report` is told of that in any case."""
    started = time.monotonic()
    with lasting_faults_end_the_run():
        model = connect()
        bill = model.asker.bill
        try:
            found = pipeline.complete(benchmark, examples, model)
        finally:
            report(
                f"{model.spec.name} on {benchmark.name}: paid {paid_now(bill)}; all runs: {paid_in_all(bill)}"
            )
    return result(
        found,
        answered_id(fingerprint, found),
        {
            "n_completions": len(found),
            "stops": dict(Counter(completion.stop for completion in found)),
            **checks.prompts_whole(found).numbers,
            "seconds": time.monotonic() - started,
            **_bill(model),
            "preview": preview(found),
        },
        noted=noted(bill),
    )


def _bill(model: "ServedLanguageModel") -> dict[str, object]:
    """Requests, tokens and money of this run, and what the answers have cost in all runs that gave them."""
    asker, usage, in_all = model.asker, model.asker.bill.usage, model.asker.bill.usage_in_all
    asked = [call for call in asker.ledger if not call.cached]
    return {
        "server": asker.endpoint.base_url,
        "requests_answered": sum(call.answered for call in asked),
        "requests_from_cache": len(asker.ledger) - len(asked),
        "requests_given_up": sum(not call.answered for call in asked),
        "retries": sum(call.n_retries for call in asked),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "responses_without_usage": usage.n_unreported,
        "cost": _cost(asker.bill.price(usage)),
        "input_tokens_in_all": in_all.input_tokens,
        "output_tokens_in_all": in_all.output_tokens,
        "cost_in_all": _cost(asker.bill.price(in_all)),
        "parameters_refused": ", ".join(sorted(asker.refused)) or "none",
        "troubles": dict(asker.failures.troubles.most_common(_SHOWN_TROUBLES)),
    }


def _cost(cost: float | None) -> float | str:
    return "unknown: no price is set" if cost is None else cost
