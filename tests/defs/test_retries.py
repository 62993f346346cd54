"""A fault that time cures is tried again; one that it does not cure fails at once, with its own words."""

import os
import signal
import threading

import dagster as dg
import pytest

from cg_pipeline.defs import retries
from cg_pipeline.defs.retries import RETRIES, lasting_faults_end_the_run
from cg_pipeline.defs.runs import reason_of, was_interrupted


def attempts_at(fault: Exception) -> tuple[int, str]:
    made = []

    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=RETRIES.max_retries))
    def stage() -> None:
        made.append(1)
        with lasting_faults_end_the_run():
            raise fault

    outcome = dg.materialize([stage], raise_on_error=False)
    return len(made), reason_of(outcome)


@pytest.mark.parametrize(
    "fault",
    [
        ValueError("field 'answer' is 7"),
        FileNotFoundError("no file"),
        ModuleNotFoundError("no package"),
        KeyError("k"),
    ],
)
def test_a_lasting_fault_fails_at_once_in_its_own_words(fault: Exception) -> None:
    attempts, said = attempts_at(fault)
    assert attempts == 1
    assert str(fault.args[0]) in said


@pytest.mark.parametrize(
    "fault", [MemoryError("device is full"), OSError("disk is full"), TimeoutError("locked")]
)
def test_a_passing_fault_is_tried_again(fault: Exception) -> None:
    attempts, said = attempts_at(fault)
    assert attempts == 1 + RETRIES.max_retries
    assert str(fault) in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_run_and_its_later_steps(monkeypatch, number: signal.Signals) -> None:
    monkeypatch.setattr(retries, "_told_to_end", threading.Event())
    begun: list[str] = []

    def stage(name: str) -> dg.AssetsDefinition:
        @dg.asset(name=name, retry_policy=RETRIES)
        def works_until_told_to_end() -> None:
            with lasting_faults_end_the_run():
                begun.append(name)
                os.kill(os.getpid(), number)

        return works_until_told_to_end

    outcome = dg.materialize([stage("one"), stage("another")], raise_on_error=False)
    assert len(begun) == 1
    assert was_interrupted(outcome)

    later = dg.materialize([stage("later")], raise_on_error=False)
    assert was_interrupted(later)
    retries.forget_interruptions()
    dg.materialize([stage("new")], raise_on_error=False)
    assert begun[1:] == ["new"]
