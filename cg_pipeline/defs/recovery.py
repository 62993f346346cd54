"""Runs left behind by a dead host: Dagster's default launcher cannot tell, so we look for their processes.

Called before the UI starts. A run that is marked as running but whose worker process no
longer exists is marked failed and gives back its pool slots; Dagster's own retry then
starts it again.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

_UNFINISHED = [
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_PID = re.compile(r"\bpid:? ?(\d+)", re.IGNORECASE)


def fail_orphaned_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark as failed every unfinished run whose processes are all gone; returns their ids."""
    unfinished = instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED))
    orphans = [run for run in unfinished if _is_orphan(instance, run)]
    for run in orphans:
        instance.report_run_failed(run, "Its process is gone: the machine or the process was stopped.")
        instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
    return [run.run_id for run in orphans]


def _is_orphan(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    pids = set(_pids(instance, run.run_id))
    return bool(pids) and not any(_is_running(pid) for pid in pids)


def _pids(instance: dg.DagsterInstance, run_id: str) -> Iterator[int]:
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        event = entry.dagster_event
        for pid in _PID.findall(event.message or "" if event else ""):
            yield int(pid)


def _is_running(pid: int) -> bool:
    """Whether a process of that number exists and, where that can be told, is one of Dagster's."""
    command_line = Path(f"/proc/{pid}/cmdline")
    if command_line.exists():
        return b"dagster" in command_line.read_bytes() or pid == os.getpid()
    if Path("/proc").is_dir():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
