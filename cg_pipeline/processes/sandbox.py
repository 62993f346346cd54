"""Runs one Python program in a process of its own, isolated and with limits.

What holds for the program, or else it is not run (outcome "unusable"): no network; no sight of
other processes; of all files only Python, the system's programs and libraries and a few devices,
read-only; one directory to write in, empty, in memory, bounded and gone afterwards; an empty
environment; never root, no capabilities; limits on processor time, memory, file size, open files
and processes; an end to it and to all it started, whatever they did to get away; its output is
thrown away. This takes Linux 5.12 or later, on x86-64, 64-bit ARM or RISC-V, where whoever runs
it may make namespaces: root, or an ordinary user unless the system forbids that, as containers
and some distributions do.

Without isolation (`isolate=False`) a program runs where that is impossible. Then hold the empty
environment, never root, no capabilities and the limits; on Linux with Landlock, also no writing
outside its directory, with version 3 (6.2) no truncating, 4 (6.7) no TCP, 6 (6.12) no signals to
other processes; on Linux an end to all it started. It reads what whoever runs it can read
(what anybody can, for root), and may change modes and times of files of its own user.

What never holds: it is the same kernel, and the limit on memory is one of each process. For
programs of hostile origin run the whole project in a virtual machine besides.

Why time on the clock is no verdict: it depends on what else the machine does. A program that
spends its processor time has failed; one that only took long is left undecided.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from cg_pipeline.fingerprints import fingerprint
from cg_pipeline.processes import confined, rights, room
from cg_pipeline.protocols import ProgramRun

_WARDEN = f"""import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from cg_pipeline.processes import confined
del sys.path[0]
confined.main()"""
_LONGEST_ANSWER = 1 << 16
_LONGEST_DETAIL = 200
_OUTCOMES = list(get_args(get_type_hints(ProgramRun)["outcome"]))
_PATIENCE_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one program may use."""

    wall_s: float = 60.0
    """Longest wait, for programs that only sleep; far above `cpu_s`, for the machine may be busy."""
    cpu_s: int = 8
    memory_bytes: int = 1 << 30
    file_bytes: int = 1 << 22
    directory_bytes: int = 1 << 24
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


def run_program(program: str, limits: Limits, *, isolate: bool = True) -> ProgramRun:
    """Run the program and say how it ended; whatever it left behind is removed."""
    task = {
        "program": program,
        "limits": limits.by_name(),
        "directory_bytes": limits.directory_bytes,
        "isolate": isolate,
    }
    with tempfile.TemporaryDirectory(prefix="cg-code-", ignore_cleanup_errors=True) as directory:
        try:
            line = _ask(json.dumps(task), directory, time.monotonic() + limits.wall_s)
        except OSError as error:
            return ProgramRun(outcome="unusable", detail=str(error))
    if line is None:
        return ProgramRun(
            outcome="timed_out", detail=f"not finished after {limits.wall_s:g} s", isolated=isolate
        )
    return _read(line)


def _ask(task: str, directory: str, deadline: float) -> bytes | None:
    """The line the warden answers with, empty if it ended without one; None if too slow."""
    warden = subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-c", _WARDEN],
        cwd=directory,
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert warden.stdin
    assert warden.stdout
    try:
        with contextlib.suppress(BrokenPipeError):
            warden.stdin.write(task.encode() + b"\n")
            warden.stdin.flush()
        return _first_line(warden.stdout.fileno(), deadline)
    finally:
        _dismiss(warden)


def _dismiss(warden: "subprocess.Popen[bytes]") -> None:
    """Close the warden's input, on which it ends all it watches and itself; kill it if it does not."""
    with contextlib.suppress(BrokenPipeError):
        warden.communicate(timeout=_PATIENCE_S)
    warden.kill()
    warden.wait()


def _first_line(pipe: int, deadline: float) -> bytes | None:
    received = b""
    while (left_s := deadline - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left_s)[0]:
            return None
        received += (chunk := os.read(pipe, 4096))
        if not chunk or b"\n" in received or len(received) > _LONGEST_ANSWER:
            return received
    return None


def _read(line: bytes) -> ProgramRun:
    """What the answer says; a program may have written it, so that only what it should hold is taken."""
    outcome: Any
    try:
        told = json.loads(line)
        outcome, detail, isolated = told["outcome"], told["detail"], told.get("isolated", False)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        outcome, detail, isolated = "", None, None
    if outcome not in _OUTCOMES or not isinstance(detail, str) or not isinstance(isolated, bool):
        return ProgramRun(outcome="unusable", detail="the sandbox ended without an answer")
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in detail)
    return ProgramRun(outcome=outcome, detail=shown[:_LONGEST_DETAIL], isolated=isolated)


class Sandbox:
    """A `protocols.CodeRunner` that gives every program the same limits."""

    def __init__(self, limits: Limits | None = None, *, isolate: bool = True) -> None:
        self.limits = limits or Limits()
        self.isolate = isolate

    @property
    def source(self) -> str:
        """The language that runs the programs and all that decides what passes: version, limits, code."""
        code = fingerprint((self.limits, self.isolate, CODE))
        kind = "" if self.isolate else "-unisolated"
        return f"python-{sys.version_info.major}.{sys.version_info.minor}{kind}-{code[:8]}"

    def run(self, program: str) -> ProgramRun:
        """How the program ended."""
        return run_program(program, self.limits, isolate=self.isolate)


CODE = (run_program, confined.main, room.leave, room.furnish, rights.give_up, rights.unused_id)
"""What decides how a program ends, other than the program: part of `Sandbox.source`."""
