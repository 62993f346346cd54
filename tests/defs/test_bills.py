"""What was paid, from the notes of stored completions."""

import json
from datetime import datetime, timedelta

from cg_pipeline.defs.bills import Paid, bill_lines, bills_of
from cg_pipeline.store.materialisations import Materialisation

NOON = datetime(2026, 1, 1, 12)


def note(benchmark: str, now: Paid, in_all: Paid, *, at: datetime = NOON, **fields) -> Materialisation:
    versions = {"python": "3", "paid": json.dumps({"now": vars(now), "in all": vars(in_all)})}
    stored = {"asset": "completions", "model": "m", "versions": json.dumps(versions), **fields}
    return Materialisation(
        benchmark=benchmark,
        fingerprint="f",
        run_id="r",
        code_version="1",
        n_rows=1,
        materialised_at=at,
        **stored,
    )


OLD = note("a", Paid(7, 7, 0.5), Paid(1000, 20, 0.5))
NEW = note("b", Paid(10, 5, 0.25), Paid(30, 15, 0.75), at=NOON + timedelta(hours=1))
UNPAID = note("c", Paid(), Paid(), versions="{}")
OTHER = note("a", Paid(9, 9, 9.0), Paid(9, 9, 9.0), model="n")


def test_by_benchmark_and_together():
    assert bills_of([OLD, NEW, UNPAID, OTHER], "m") == {
        "a": "1,000 tokens sent and 20 answered, cost 0.5",
        "b": "30 tokens sent and 15 answered, cost 0.75",
        "together": "1,030 tokens sent and 35 answered, cost 1.25",
    }
    assert bills_of([UNPAID], "m") == {}


def test_what_this_run_paid_is_told_apart():
    assert bill_lines([OLD, NEW, OTHER], ["m", "x"], NOON + timedelta(minutes=1)) == [
        "Paid for answers of m, all runs: 1,030 tokens sent and 35 answered, cost 1.25; "
        "in this run: 10 tokens sent and 5 answered, cost 0.25"
    ]


def test_what_is_not_known_is_said():
    assert str(Paid(1, 2, None, 3)) == (
        "at least 1 tokens sent and 2 answered, cost unknown, as no price is set"
    )
    assert (Paid(1, 2, None) + Paid(1, 2, 3.0)).cost is None
