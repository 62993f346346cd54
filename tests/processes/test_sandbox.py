"""How programs end in the sandbox, and what decides it."""

import sys
import time
from dataclasses import replace

import pytest

from cg_pipeline.processes import sandbox
from cg_pipeline.processes.sandbox import Limits, Sandbox, run_program
from cg_pipeline.protocols import CodeRunner, ProgramRun
from tests.processes.cases import LIMITS, run

pytestmark = pytest.mark.integration


def test_the_sandbox_fits_the_protocol():
    assert isinstance(Sandbox(), CodeRunner)
    assert Sandbox(LIMITS, isolate=False).run("x = 1").outcome == "passed"


@pytest.mark.parametrize(
    ("program", "outcome", "detail"),
    [
        ("assert 2 + 2 == 4", "passed", ""),
        ("if __name__ == '__main__':\n    assert False", "failed", "AssertionError"),
        ("def f(:", "failed", "SyntaxError"),
        ("def f(): return f()\nf()", "failed", "RecursionError"),
        ("x = 'a' * 10**10", "failed", "MemoryError"),
        ("import sys; sys.exit(0)", "failed", "SystemExit"),  # leaving before the tests is no pass
        ("raise KeyboardInterrupt", "failed", "KeyboardInterrupt"),
        ("import os; os._exit(0)", "stopped", "ended by a limit or by itself"),
        ("import os; os.kill(os.getpid(), 9)", "stopped", "ended by a limit or by itself"),
        ("import os; os.closerange(0, 64)", "stopped", "ended by a limit or by itself"),
        ("import os, time\nif os.fork(): time.sleep(0.3); assert False", "failed", "AssertionError"),
        ("print('x' * 10**6); import sys; sys.stderr.write('y' * 10**6)", "passed", ""),
        ("import subprocess as s; s.run(['true'], check=True, stdout=s.DEVNULL)", "passed", ""),
        ("input()", "failed", "EOFError"),
        ("s = '\\ud800'", "passed", ""),
        ("\ud800", "failed", "UnicodeEncodeError"),
        ("\x00", "failed", "SyntaxError"),
    ],
)
def test_how_a_program_ends(program: str, outcome: str, detail: str) -> None:
    ended = run(program)
    assert (ended.outcome, ended.detail) == (outcome, detail)


@pytest.mark.parametrize(
    "forged",
    ['{"secret": "", "outcome": "passed", "detail": "", "isolated": true}\\n', "[" * 30_000 + "\\n"],
    ids=["passed", "nested"],
)
def test_an_answer_forged_on_every_open_file_is_no_pass(forged: str) -> None:
    forge = f"for i in range(64):\n    try: os.write(i, b'{forged}')\n    except OSError: pass\nassert 0"
    assert run(f"import os\n{forge}").outcome == "stopped"


@pytest.mark.parametrize(
    "program",
    [
        "open('a', 'wb').write(b'x' * 10**8)",  # file size
        "held = [open('/dev/null') for _ in range(1000)]",  # open files
        "import os\nfor _ in range(1000): os.fork()",  # processes
    ],
)
def test_limits(program: str) -> None:
    assert run(program).outcome in ("failed", "stopped")


def test_a_program_that_computes_for_too_long_has_failed():
    ended = run("while True: pass")
    assert (ended.outcome, ended.detail) == ("stopped", "not finished after 1 s of processor time")


def test_a_program_that_ignores_its_limit_has_failed_too():
    ended = run("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass")
    assert ended.outcome == "stopped"


def test_time_on_the_clock_decides_nothing():
    """As on a machine so busy that the program does not get its turn."""
    started = time.monotonic()
    ended = run("import time; time.sleep(60)", replace(LIMITS, wall_s=0.7))
    assert (ended.outcome, ended.detail) == ("timed_out", "not finished after 0.7 s")
    assert time.monotonic() - started < 5


def test_what_cannot_be_started_is_unusable(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    ended = run_program("x = 1", LIMITS)
    assert ended.outcome == "unusable"
    assert "No such file" in ended.detail


def test_a_sandbox_that_breaks_down_is_unusable(monkeypatch):
    monkeypatch.setattr(sandbox, "_WARDEN", "raise SystemExit")
    ended = run_program("x = 1", LIMITS)
    assert ended == ProgramRun(outcome="unusable", detail="the sandbox ended without an answer")


@pytest.mark.parametrize(
    ("detail", "outcome", "shown"),
    [
        ('"KeyError"', "failed", "KeyError"),
        (r'"a\ud800b\u0000c\u202e\n"', "failed", "a\ufffdb\ufffdc\ufffd\ufffd"),
        (f'"{"é" * 5000}"', "failed", "é" * 200),
        ('{"a": 1}', "unusable", "the sandbox ended without an answer"),
        ("null", "unusable", "the sandbox ended without an answer"),
        ("[" * 30_000, "unusable", "the sandbox ended without an answer"),
        ('"", "outcome": "won"', "unusable", "the sandbox ended without an answer"),
        ('"", "outcome": []', "unusable", "the sandbox ended without an answer"),
        ('"", "isolated": 1', "unusable", "the sandbox ended without an answer"),
    ],
)
def test_of_an_answer_only_what_can_be_kept_is_taken(monkeypatch, detail, outcome, shown) -> None:
    line = f'{{"outcome": "failed", "detail": {detail}}}'
    monkeypatch.setattr(sandbox, "_WARDEN", f"print({line!r})")
    assert run_program("x = 1", LIMITS) == ProgramRun(outcome=outcome, detail=shown)


def test_the_source_counts_all_that_decides(monkeypatch):
    version = f"python-{sys.version_info.major}.{sys.version_info.minor}"
    found = [
        Sandbox().source,
        Sandbox(Limits(cpu_s=9)).source,
        Sandbox(Limits(memory_bytes=1)).source,
        Sandbox(isolate=False).source,
    ]
    monkeypatch.setattr(sandbox, "CODE", sandbox.CODE[:-1])
    found.append(Sandbox().source)
    assert all(source.startswith(version) for source in found)
    assert len(set(found)) == 5
    assert found[3].startswith(f"{version}-unisolated-")
