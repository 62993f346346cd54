"""Rates and lines for a log."""

import io
import os
import pty
import select
import sys
from pathlib import Path

import pytest

from cg_pipeline.progress import Progress, ProgressMeter, bars_on_the_terminal


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_rates_and_time_left() -> None:
    progress = Progress(n_done=30, n_total=120, n_tokens=4500, seconds=15.0)

    assert progress.done_per_s == 2
    assert progress.tokens_per_s == 300
    assert progress.seconds_left == 45
    assert str(progress) == "30 of 120 examples, 2.00 examples/s, 300 tokens/s, 45 s left"


def test_nothing_is_promised_before_the_first_example() -> None:
    assert str(Progress(n_done=0, n_total=7, n_tokens=0, seconds=0.0)) == ("0 of 7 examples, 0.00 examples/s")


def test_what_was_known_before_makes_the_rest_no_quicker() -> None:
    """400 of 420 from disk in no time, 2 more in 0.4 s: the other 18 take 3.6 s, not none."""
    progress = Progress(n_done=402, n_total=420, n_tokens=8, seconds=0.4, n_known=400, unit="answer")

    assert progress.done_per_s == pytest.approx(5)
    assert progress.seconds_left == pytest.approx(3.6)
    assert str(progress) == ("402 of 420 answers (400 known before), 5.00 answers/s, 20 tokens/s, 4 s left")


def test_nothing_is_promised_from_what_was_known_alone() -> None:
    assert str(Progress(n_done=5, n_total=7, n_tokens=0, seconds=1.0, n_known=5)) == (
        "5 of 7 examples (5 known before), 0.00 examples/s"
    )


def test_what_is_recalled_is_forgotten_with_the_rest() -> None:
    heard = list[Progress]()

    with ProgressMeter(9, heard.append, unit="text", bar=False) as meter:
        meter.recall(3)
        meter.advance(4, 0)
        assert (meter.progress.n_known, meter.progress.unit) == (3, "text")
        meter.expect(1)

    assert (heard[-1].n_known, heard[-1].n_done, heard[-1].n_total) == (0, 0, 1)


def test_it_speaks_now_and_then_and_at_the_end() -> None:
    clock, heard = Clock(), list[Progress]()

    with ProgressMeter(4, heard.append, every_s=10.0, bar=False, clock=clock) as meter:
        for _ in range(4):
            clock.now += 6
            meter.advance(1, 50)

    assert [(each.n_done, each.seconds) for each in heard] == [(2, 12), (4, 24), (4, 24)]
    assert heard[-1].n_tokens == 200


def test_what_turns_out_to_be_less_is_counted_from_then_on() -> None:
    clock, heard = Clock(), list[Progress]()

    with ProgressMeter(9, heard.append, bar=False, clock=clock) as meter:
        clock.now += 100
        meter.expect(2)
        clock.now += 4
        meter.advance(2, 8)

    assert heard == [Progress(n_done=2, n_total=2, n_tokens=8, seconds=4.0)]


def test_nothing_to_do_is_not_worth_a_word() -> None:
    heard = list[Progress]()

    with ProgressMeter(9, heard.append, bar=False) as meter:
        meter.expect(0)

    assert heard == []


def test_a_bar_is_drawn_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)

    with ProgressMeter(2, lambda _: None, bar=None) as meter:
        meter.advance(2, 10)
    assert screen.getvalue() == ""  # no terminal
    with ProgressMeter(2, lambda _: None, bar=True) as meter:
        meter.advance(2, 10)
    assert "2/2" in screen.getvalue()


def test_a_bar_stays_on_the_terminal_while_standard_error_is_led_into_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched, ours = pty.openpty()
    with os.fdopen(ours, "w") as stderr, (tmp_path / "log").open("w") as log:
        monkeypatch.setattr(sys, "stderr", stderr)
        with bars_on_the_terminal():
            os.dup2(log.fileno(), stderr.fileno())  # as Dagster does while a step runs
            assert not stderr.isatty()
            with ProgressMeter(3, lambda _: None, unit="answer") as meter:
                meter.advance(3, 30)
        monkeypatch.undo()
    shown = ""
    while "3/3" not in shown:  # a terminal hands over what was written when it pleases
        assert select.select([watched], [], [], 10)[0], shown
        shown += os.read(watched, 1 << 16).decode()
    os.close(watched)
    assert "tokens/s" in shown
    assert (tmp_path / "log").read_text() == ""


def test_without_a_terminal_no_bar_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with bars_on_the_terminal(), ProgressMeter(3, lambda _: None) as meter:
        meter.advance(3, 30)
    assert log.getvalue() == ""
