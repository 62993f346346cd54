"""The inner half of the sandbox: makes the room, runs one program in it, and leaves nothing running.

Three processes. The *warden* is started by `sandbox`, reads one JSON line (program and limits)
and writes one back when all is over; it ends everything when its standard input closes, so also
when whoever started it is killed. The *first* is the first process of the namespace, with which
all others in it die. The *program*'s own has no rights left.

The program's process says how it went on a pipe, with a secret word: a guard against accidents
such as `sys.exit(0)`, which must not count as a pass. A program set on cheating could dig the
secret out of the stack.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from typing import Any, cast

from cg_pipeline.processes import rights, room

_ADOPTS_ORPHANS = 36
_LONGEST_ANSWER = 1 << 16
_LOOK_S, _PATIENCE_S = 0.05, 1.0


def main() -> None:
    """Be the warden of the program on standard input."""
    task: dict[str, Any] = json.loads(sys.stdin.readline())
    fault = room.leave()
    task |= {"secret": os.urandom(16).hex(), "isolated": not fault, "user": rights.unused_id()}
    if fault and task["isolate"]:
        ended = {"outcome": "unusable", "detail": f"no isolation: {fault}", "isolated": False}
    else:
        _adopt_orphans()
        ended = _watched(task)
    os.write(1, json.dumps(ended).encode() + b"\n")
    os._exit(0)


def _watched(task: dict[str, Any]) -> dict[str, Any]:
    """How the program ended; nothing of it is left."""
    hearing, saying = os.pipe()
    if not (child := os.fork()):
        os.setpgid(0, 0)
        _close_all_but(saying)
        (_be_first if task["isolated"] else _be_program)(task, saying)
    os.close(saying)
    with suppress(OSError):  # the child does the same, and who is first does not matter
        os.setpgid(child, child)
    said, status = _hear(hearing, child)
    _end(child, task["isolated"], reaped=status is not None)
    with suppress(ValueError, RecursionError):
        found: Any = json.loads(said)
        if isinstance(found, dict) and cast("dict[str, Any]", found).pop("secret", "") == task["secret"]:
            return cast("dict[str, Any]", found)
    slow = status in (128 + signal.SIGXCPU, -signal.SIGXCPU)
    spent = f"not finished after {task['limits']['CPU']} s of processor time"
    detail = spent if slow else "ended by a limit or by itself"
    return {"outcome": "stopped", "detail": detail, "isolated": task["isolated"]}


def _hear(hearing: int, child: int) -> tuple[bytes, int | None]:
    """What the program's process said, and its exit status if it has ended. Ends all if nobody waits."""
    said, status = b"", None
    while status is None and b"\n" not in said and len(said) < _LONGEST_ANSWER:
        ready = select.select([0, hearing], [], [], _LOOK_S)[0]
        if 0 in ready:
            break
        if hearing not in ready:
            status = _status(child)
        elif chunk := os.read(hearing, 4096):
            said += chunk
        else:
            return said, _status(child, _PATIENCE_S)
    return said, status


def _status(child: int, patience_s: float = 0.0) -> int | None:
    """The exit status of a child, negative for a signal; None while it runs."""
    deadline = time.monotonic() + patience_s
    while not (found := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < deadline:
        time.sleep(0.005)
    return os.waitstatus_to_exitcode(found[1]) if found[0] else None


def _close_all_but(saying: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.closerange(3, saying)
    os.closerange(saying + 1, 64)


def _be_first(task: dict[str, Any], saying: int) -> None:
    """Make the room, and end with the program."""
    rights.die_with_parent()
    try:
        room.furnish(task["directory_bytes"])
    except OSError as error:
        task["isolated"] = False
        if task["isolate"]:
            _say(task, saying, "unusable", f"no isolation: {error}")
    if not (program := os.fork()):
        _be_program(task, saying)
    os.close(saying)
    while (ended := os.wait())[0] != program:
        pass
    code = os.waitstatus_to_exitcode(ended[1])
    os._exit(128 - code if code < 0 else code & 0x7F)


def _be_program(task: dict[str, Any], saying: int) -> None:
    if fault := rights.give_up(task["limits"], task["user"]):
        _say(task, saying, "unusable", fault)
    own = os.getpid()
    try:
        exec(compile(task["program"], "program.py", "exec"), {"__name__": "__main__"})
        outcome, detail = "passed", ""
    except SystemExit:
        outcome, detail = "failed", "SystemExit"
    except BaseException as error:
        outcome, detail = "failed", type(error).__name__
    if os.getpid() != own:  # a copy that the program made of itself
        os._exit(0)
    _say(task, saying, outcome, detail)


def _say(task: dict[str, Any], saying: int, outcome: str, detail: str) -> None:
    said = {"secret": task["secret"], "outcome": outcome, "detail": detail, "isolated": task["isolated"]}
    os.write(saying, json.dumps(said).encode() + b"\n")
    os._exit(0)


def _adopt_orphans() -> None:
    """Become the parent of whatever loses its own below, so that it can be found and ended."""
    libc: Any = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(_ADOPTS_ORPHANS, 1, 0, 0, 0)


def _end(child: int, isolated: bool, *, reaped: bool) -> None:
    """End the child and all below it: by its namespace, or else one generation after the other."""
    with suppress(ProcessLookupError, PermissionError):
        if not reaped and isolated:
            os.kill(child, signal.SIGKILL)
        elif not isolated:
            os.killpg(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            for pid in _children():
                os.kill(pid, signal.SIGKILL)
            os.waitpid(-1, 0)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123 - pathlib is slow to load
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []
