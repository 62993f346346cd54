"""Limits and runners that the tests of the sandbox share."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cg_pipeline.processes import sandbox
from cg_pipeline.processes.sandbox import Limits, run_program
from cg_pipeline.protocols import ProgramRun

LIMITS = Limits(wall_s=20.0, cpu_s=1, memory_bytes=1 << 28)
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of the Linux kernel")


def run(program: str, limits: Limits = LIMITS) -> ProgramRun:
    """How a program ends, isolated where the system allows it."""
    return run_program(program, limits, isolate=False)


def run_isolated(program: str) -> ProgramRun:
    """How a program ends in isolation; skips the test where there is none."""
    ended = run_program(program, LIMITS)
    if ended.outcome == "unusable" and ended.detail.startswith("no isolation"):
        pytest.skip(f"this system isolates no programs: {ended.detail}")
    assert ended.isolated
    return ended


@contextmanager
def everybodys_directory() -> Iterator[Path]:
    """A directory with the file `kept`, both for anybody to change: only the sandbox can refuse it."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "kept").write_text("kept")
        for path in (directory, directory / "kept"):
            path.chmod(0o777)
            if os.getuid() == 0:
                os.chown(path, 1, 1)
        yield directory
        (kept,) = directory.iterdir()
        assert (kept.name, kept.read_text(), kept.stat().st_mode & 0o777) == ("kept", "kept", 0o777)


def run_unisolated(monkeypatch: pytest.MonkeyPatch, program: str, *, isolate: bool = False) -> ProgramRun:
    """How a program ends on a system without namespaces, even if only root can read Python."""
    refusing = (
        "import socket, subprocess\n"
        "confined.room.leave = lambda: 'refused'\n"
        "confined.rights._reads_python = lambda: True\n"
        "confined.main()"
    )
    monkeypatch.setattr(sandbox, "_WARDEN", sandbox._WARDEN.replace("confined.main()", refusing))
    return run_program(program, LIMITS, isolate=isolate)
