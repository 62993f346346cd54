"""What a program cannot do even where it is not isolated."""

import ctypes
import os

import pytest

from tests.processes.cases import everybodys_directory, needs_linux, run_unisolated

pytestmark = needs_linux


def landlock() -> int:
    """The kernel's version of Landlock."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


@pytest.mark.parametrize(
    ("deed", "since"),
    [
        ("open('{}/kept', 'a')", 1),
        ("open('{}/new', 'w')", 1),
        ("os.remove('{}/kept')", 1),
        ("os.rename('{}/kept', 'a')", 1),
        ("os.truncate('{}/kept', 0)", 3),
    ],
)
def test_it_writes_in_its_directory_only(monkeypatch, deed: str, since: int) -> None:
    if landlock() < since:
        pytest.skip(f"Landlock is of version {landlock()} here; this takes {since}")
    with everybodys_directory() as directory:
        ended = run_unisolated(monkeypatch, f"import os\n{deed.format(directory)}")
    assert ended.detail in ("PermissionError", "OSError")  # a move elsewhere is refused as between devices
    write = "open('a', 'w').write('x'); assert open('a').read() == 'x'; open('/dev/null', 'w').write('x')"
    assert run_unisolated(monkeypatch, write).outcome == "passed"


def test_a_program_is_not_root(monkeypatch):
    assert run_unisolated(monkeypatch, "import os; assert os.getuid() != 0").outcome == "passed"
    assert run_unisolated(monkeypatch, "import os; os.setuid(0)").outcome == "failed"


def test_signals_and_connections_are_refused(monkeypatch):
    if landlock() < 6:
        pytest.skip(f"Landlock is of version {landlock()} here; this takes 6")
    assert run_unisolated(monkeypatch, f"import os; os.kill({os.getpid()}, 0)").detail == "PermissionError"
    listen = "import socket; socket.create_server(('127.0.0.1', 0))"
    assert run_unisolated(monkeypatch, listen).detail == "PermissionError"
