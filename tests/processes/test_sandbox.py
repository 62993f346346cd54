"""What a program can and cannot do in the sandbox."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cg_pipeline.processes.sandbox import Limits, Sandbox, run_program
from cg_pipeline.protocols import CodeRunner

LIMITS = Limits(wall_s=4.0, cpu_s=1, memory_bytes=1 << 28)

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of the Linux kernel")


def test_the_sandbox_fits_the_protocol():
    assert isinstance(Sandbox(), CodeRunner)
    assert Sandbox(LIMITS).run("x = 1").outcome == "passed"
    assert Sandbox().source == f"python-{sys.version_info.major}.{sys.version_info.minor}"


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
        ("print('x' * 10**6); import sys; sys.stderr.write('y' * 10**6)", "passed", ""),
        ("input()", "failed", "EOFError"),
        ("s = '\\ud800'", "passed", ""),
        ("\ud800", "failed", "UnicodeEncodeError"),
        ("\x00", "failed", "SyntaxError"),
    ],
)
def test_how_a_program_ends(program: str, outcome: str, detail: str) -> None:
    run = run_program(program, LIMITS)
    assert (run.outcome, run.detail) == (outcome, detail)


def test_an_answer_forged_on_every_open_file_is_no_pass():
    forged = '{"secret": "", "outcome": "passed", "detail": "", "isolated": true}\\n'
    forge = f"for i in range(64):\n    try: os.write(i, b'{forged}')\n    except OSError: pass\nassert 0"
    assert run_program(f"import os\n{forge}", LIMITS).outcome != "passed"


def test_a_program_has_no_environment_and_an_empty_directory(monkeypatch):
    monkeypatch.setenv("CG_LLM_API_KEY", "secret-key")
    assert (
        run_program("import os; assert 'secret-key' not in os.environ.values()", LIMITS).outcome == "passed"
    )
    assert run_program("import os; assert os.listdir('.') == []", LIMITS).outcome == "passed"


@needs_linux
def test_it_writes_in_its_directory_only(tmp_path: Path):
    tmp_path.chmod(0o777)
    (tmp_path / "kept").write_text("kept")
    assert (
        run_program("open('a', 'w').write('x'); assert open('a').read() == 'x'", LIMITS).outcome == "passed"
    )
    for deed in (f"open('{tmp_path}/a', 'w')", f"import os; os.remove('{tmp_path}/kept')"):
        assert run_program(deed, LIMITS).detail == "PermissionError"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@needs_linux
@pytest.mark.parametrize(
    "program",
    [
        "open('a', 'wb').write(b'x' * 10**8)",  # file size
        "held = [open('/dev/null') for _ in range(1000)]",  # open files
        "import os\nfor _ in range(1000): os.fork()",  # processes
    ],
)
def test_limits(program: str) -> None:
    assert run_program(program, LIMITS).outcome != "passed"


@needs_linux
def test_processor_time_and_time_on_the_clock_are_limited():
    started = time.monotonic()
    assert run_program("while True: pass", LIMITS).outcome == "stopped"
    quick = Limits(wall_s=0.5)
    assert run_program("import time; time.sleep(60)", quick).detail == "not finished after 0.5 s"
    assert time.monotonic() - started < 8


@needs_linux
def test_nothing_a_program_starts_outlives_it():
    mark = f"cg-test-{os.getpid()}"
    leave = f"import subprocess, sys\nsubprocess.Popen(['sleep', '30', '{mark}'], start_new_session=True)"
    run = run_program(leave, LIMITS)
    if not run.isolated:
        pytest.skip("this system lets nobody make namespaces")
    for _ in range(50):
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        if mark not in listed:
            return
        time.sleep(0.05)
    pytest.fail("a process outlived its program")


@needs_linux
def test_there_is_no_network():
    reach = (
        "import socket\n"
        "listener = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(listener.getsockname(), timeout=1)"
    )
    run = run_program(reach, LIMITS)
    if not run.isolated and run.outcome == "passed":
        pytest.skip("this system lets nobody make namespaces")
    assert run.outcome == "failed"


@needs_linux
def test_a_program_is_not_root():
    assert run_program("import os; assert os.getuid() != 0", LIMITS).outcome == "passed"
    assert run_program("import os; os.setuid(0)", LIMITS).outcome == "failed"


def test_what_cannot_be_started_is_unusable(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    run = run_program("x = 1", LIMITS)
    assert run.outcome == "unusable"
    assert "No such file" in run.detail
