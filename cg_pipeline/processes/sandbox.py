"""Runs one Python program in a process with limits, without network where the system allows that.

What holds for the program: its own empty directory, the only place it can write to (where
Landlock is there); an empty environment; limits on processor time, time on the clock, memory,
file size, open files and processes; no network and no sight of other processes (Linux
namespaces, where an ordinary user may make them); never root; its output is thrown away.

What does not hold: it is the same kernel and it can read what an ordinary user can read. For
programs of unknown origin run the whole project in a container or virtual machine besides.
"""

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from cg_pipeline.protocols import ProgramRun

_CONFINED = Path(__file__).with_name("confined.py")
_LONGEST_ANSWER = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one program may use."""

    wall_s: float = 10.0
    cpu_s: int = 8
    memory_bytes: int = 1 << 30
    file_bytes: int = 1 << 22
    n_files: int = 64
    n_processes: int = 16

    def by_name(self) -> dict[str, int]:
        """The same under the names of `setrlimit`."""
        return {
            "CPU": self.cpu_s,
            "AS": self.memory_bytes,
            "FSIZE": self.file_bytes,
            "NOFILE": self.n_files,
            "NPROC": self.n_processes,
            "CORE": 0,
        }


def run_program(program: str, limits: Limits) -> ProgramRun:
    """Run the program and say how it ended; whatever it left behind is removed."""
    secret = secrets.token_hex(16)
    task = json.dumps({"program": program, "limits": limits.by_name(), "secret": secret})
    with tempfile.TemporaryDirectory(prefix="cg-code-", ignore_cleanup_errors=True) as directory:
        Path(directory).chmod(0o777)  # a program started by root runs as nobody
        try:
            line = _ask(task, directory, time.monotonic() + limits.wall_s)
        except OSError as error:
            return ProgramRun(outcome="unusable", detail=str(error))
    if line is None:
        return ProgramRun(outcome="timed_out", detail=f"not finished after {limits.wall_s:g} s")
    return _read(line, secret)


def _ask(task: str, directory: str, deadline: float) -> bytes | None:
    """The line the confined process answers with, empty if it ended without one; None if too slow."""
    command = [sys.executable, "-I", "-X", "utf8", str(_CONFINED)]
    process = subprocess.Popen(
        command,
        cwd=directory,
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdin
            assert process.stdout
            with contextlib.suppress(BrokenPipeError), process.stdin as task_pipe:
                task_pipe.write(task.encode("utf-8", "replace") + b"\n")
            return _first_line(process.stdout.fileno(), deadline)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)


def _first_line(pipe: int, deadline: float) -> bytes | None:
    received = b""
    while (left_s := deadline - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left_s)[0]:
            return None
        received += (chunk := os.read(pipe, 4096))
        if not chunk or b"\n" in received or len(received) > _LONGEST_ANSWER:
            return received
    return None


def _read(line: bytes, secret: str) -> ProgramRun:
    try:
        found: Any = json.loads(line)
    except ValueError:
        found = None
    said = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    if said.get("secret") != secret:
        return ProgramRun(outcome="stopped", detail="ended by a limit or by itself")
    return ProgramRun(outcome=said["outcome"], detail=said["detail"], isolated=said["isolated"])


class Sandbox:
    """A `protocols.CodeRunner` that gives every program the same limits."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()

    @property
    def source(self) -> str:
        """The language that runs the programs; with its version, for that decides what passes."""
        return f"python-{sys.version_info.major}.{sys.version_info.minor}"

    def run(self, program: str) -> ProgramRun:
        """How the program ended."""
        return run_program(program, self.limits)
