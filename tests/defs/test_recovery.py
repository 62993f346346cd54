"""Runs whose process died with the machine."""

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from cg_pipeline.defs.recovery import fail_orphaned_runs


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


def test_nothing_left_behind(instance: dg.DagsterInstance) -> None:
    assert fail_orphaned_runs(instance) == []
