"""Runs left behind by a dead host: Dagster's default launcher cannot tell, so we look for their processes.

Called before the UI, and while `cg demo` runs. A run that is marked as running but whose worker process
no longer exists is marked failed and gives back its pool slots; Dagster's own retry then
starts it again.
"""

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
import psutil

log = logging.getLogger(__name__)

PID_TAG = "cg/pid"
"""Tag that a run in this process carries from its creation on: its events name the process only later."""

_UNFINISHED = [
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
_CLOCK_SLACK_S = 2.0
_PID = re.compile(r"\bpid:? ?(\d+)", re.IGNORECASE)


def fail_orphaned_runs(instance: dg.DagsterInstance) -> list[str]:
    """Mark as failed every unfinished run whose processes are all gone; returns their ids."""
    unfinished = instance.get_runs(dg.RunsFilter(statuses=_UNFINISHED))
    orphans = [run for run in unfinished if _is_orphan(instance, run)]
    for run in orphans:
        instance.report_run_failed(run, "Its process is gone: the machine or the process was stopped.")
    _free_slots_of_finished_runs(instance)
    return [run.run_id for run in orphans]


@contextmanager
def keep_failing_orphaned_runs(instance: dg.DagsterInstance, every_s: float = 5.0) -> Iterator[None]:
    """Look for orphaned runs now and during a `with` block: one killed next to us would keep its slot."""
    over = threading.Event()
    fail_orphaned_runs(instance)

    def watch() -> None:
        while not over.wait(every_s):
            try:
                fail_orphaned_runs(instance)
            except Exception as error:
                log.warning("Could not look for orphaned runs (%s); trying again in %g s.", error, every_s)

    watcher = threading.Thread(target=watch, name="orphaned-runs", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _free_slots_of_finished_runs(instance: dg.DagsterInstance) -> None:
    """Whoever finished them may have died before it gave their places back."""
    storage = instance.event_log_storage
    for run_id in storage.get_concurrency_run_ids():
        run = instance.get_run_by_id(run_id)
        if run and run.is_finished:
            storage.free_concurrency_slots_for_run(run_id)


def _is_orphan(instance: dg.DagsterInstance, run: dg.DagsterRun) -> bool:
    record = instance.get_run_record_by_id(run.run_id)
    started = (record.start_time if record else None) or time.time()
    pids = set(_pids(instance, run))
    if not pids or any(_is_running(pid, started) for pid in pids):
        return False
    # It may have ended well since the runs were listed; from now on a dead process changes nothing.
    now = instance.get_run_by_id(run.run_id)
    return now is not None and now.status in _UNFINISHED


def _pids(instance: dg.DagsterInstance, run: dg.DagsterRun) -> Iterator[int]:
    if PID_TAG in run.tags:
        yield int(run.tags[PID_TAG])
    for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        event = entry.dagster_event
        for pid in _PID.findall(event.message or "" if event else ""):
            yield int(pid)


def _is_running(pid: int, run_started: float) -> bool:
    """Whether the process still exists; one that began after the run is a stranger with the same number."""
    try:
        process = psutil.Process(pid)
        return (
            process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= run_started + _CLOCK_SLACK_S
        )
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True
