"""Runs whose process died with the machine."""

import os
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from cg_pipeline.defs import recovery
from cg_pipeline.defs.recovery import fail_orphaned_runs, keep_failing_orphaned_runs

pytestmark = pytest.mark.integration


@pytest.fixture
def instance(tmp_path: Path):
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        yield made


def started_run(instance: dg.DagsterInstance, pid: int | None) -> str:
    run = instance.create_run_for_job(dg.GraphDefinition(name="work", node_defs=[]).to_job())
    if pid is not None:
        instance.report_engine_event(f"Started process for run (pid: {pid}).", run)
    instance.report_dagster_event(
        dg.DagsterEvent(dg.DagsterEventType.RUN_START.value, "work", message="start"), run.run_id
    )
    return run.run_id


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def status(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run
    return run.status


def test_only_runs_without_a_process_are_failed(instance: dg.DagsterInstance) -> None:
    dead, alive, unknown = (started_run(instance, pid) for pid in (dead_pid(), os.getpid(), None))
    assert fail_orphaned_runs(instance) == [dead]
    assert status(instance, dead) == dg.DagsterRunStatus.FAILURE
    assert status(instance, alive) == dg.DagsterRunStatus.STARTED
    assert status(instance, unknown) == dg.DagsterRunStatus.STARTED


def test_a_run_that_ends_well_while_it_is_looked_at_is_left_alone(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = started_run(instance, dead_pid())

    def ends_now(pid: int, run_started: float) -> bool:
        event = dg.DagsterEvent(dg.DagsterEventType.RUN_SUCCESS.value, "work", message="done")
        instance.report_dagster_event(event, run_id)
        return False

    monkeypatch.setattr(recovery, "_is_running", ends_now)
    assert fail_orphaned_runs(instance) == []
    assert status(instance, run_id) == dg.DagsterRunStatus.SUCCESS


def test_a_slot_that_outlived_its_run_is_freed(instance: dg.DagsterInstance) -> None:
    run_id = started_run(instance, dead_pid())
    storage = instance.event_log_storage
    storage.set_concurrency_slots("gpu", 1)
    assert storage.claim_concurrency_slot("gpu", run_id, "step").is_claimed
    instance.report_run_failed(instance.get_run_by_id(run_id))
    fail_orphaned_runs(instance)
    assert storage.claim_concurrency_slot("gpu", "ours", "step").is_claimed


def test_nothing_left_behind(instance: dg.DagsterInstance) -> None:
    assert fail_orphaned_runs(instance) == []


def test_a_run_killed_meanwhile_gives_its_slot_back(instance: dg.DagsterInstance) -> None:
    """Whoever waits for the slot of a killed run gets it without anybody's help."""
    neighbour = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    run_id = started_run(instance, neighbour.pid)
    storage = instance.event_log_storage
    storage.set_concurrency_slots("gpu", 1)
    assert storage.claim_concurrency_slot("gpu", run_id, "step").is_claimed
    with keep_failing_orphaned_runs(instance, every_s=0.1):
        assert not storage.claim_concurrency_slot("gpu", "ours", "step").is_claimed
        neighbour.kill()
        neighbour.wait()
        deadline = time.monotonic() + 20
        while not storage.claim_concurrency_slot("gpu", "ours", "step").is_claimed:
            assert time.monotonic() < deadline, "the slot was never freed"
            time.sleep(0.1)
    assert status(instance, run_id) == dg.DagsterRunStatus.FAILURE
