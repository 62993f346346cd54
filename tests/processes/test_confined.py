"""Nothing that a program starts outlives it, isolated or not, however it tries."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cg_pipeline.processes import sandbox
from tests.processes.cases import LIMITS, needs_linux, run_isolated, run_unisolated

pytestmark = [needs_linux, pytest.mark.integration]

MARK = f"30.{os.getpid()}"
"""Stands among the arguments of all processes that a sandbox of these tests starts."""
LEAVE = f"import subprocess\nsubprocess.Popen(['sleep', '{MARK}'], start_new_session=True)\n"
TWICE_AWAY = """
import os
for _ in range(2):
    if os.fork(): os._exit(0)
    os.setsid()
while True: pass
"""


@pytest.fixture(autouse=True)
def _mark(monkeypatch):
    monkeypatch.setattr(sandbox, "_WARDEN", f"{sandbox._WARDEN}  # {MARK}")
    assert n_alive() == 0


def n_alive() -> int:
    """How many processes with the mark there are, those that only wait to be reaped aside."""
    found = 0
    for listed in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += MARK.encode() in listed.read_bytes()
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("program", "outcome"),
    [(LEAVE, "passed"), (TWICE_AWAY, "stopped"), (f"{LEAVE}while True: pass", "stopped")],
    ids=["leaves one", "twice away", "leaves one and never ends"],  # texts of their own hold the pid
)
@pytest.mark.parametrize("isolated", [True, False])
def test_what_a_program_leaves_is_ended(monkeypatch, program, outcome, isolated):
    ended = run_isolated(program) if isolated else run_unisolated(monkeypatch, program)
    assert (ended.outcome, ended.isolated) == (outcome, isolated)
    assert n_alive() == 0


@pytest.mark.parametrize("isolated", [True, False])
def test_a_program_out_of_time_is_ended_with_all_it_left(monkeypatch, isolated):
    monkeypatch.setattr("tests.processes.cases.LIMITS", replace(LIMITS, wall_s=1.0))
    program = f"{LEAVE}import os\nif not os.fork(): os.setsid()\nimport time; time.sleep(60)"
    ended = run_isolated(program) if isolated else run_unisolated(monkeypatch, program)
    assert ended.outcome == "timed_out"
    assert n_alive() == 0


def test_all_ends_when_whoever_started_it_is_killed(tmp_path):
    """Killed, not asked: the starter has no chance to clear up."""
    code = (
        "import sys\nfrom cg_pipeline.processes import sandbox\n"
        f"sandbox._WARDEN = {sandbox._WARDEN!r}\n"
        "sandbox.run_program('import os, time; os.fork() or os.setsid(); time.sleep(60)', sandbox.Limits(), "
        "isolate=False)"
    )
    root = str(Path(sandbox.__file__).parents[2])
    environment = {"PYTHONPATH": root, "TMPDIR": str(tmp_path)}  # it leaves its directory behind
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, env=environment) as starter:
        _wait_until(lambda: n_alive() >= 4)  # the starter, the warden, the program and its copy
        starter.send_signal(signal.SIGKILL)
    _wait_until(lambda: n_alive() == 0)


def _wait_until(met) -> None:
    deadline = time.monotonic() + 20.0
    while not met():
        assert time.monotonic() < deadline, f"{n_alive()} processes are there"
        time.sleep(0.02)
