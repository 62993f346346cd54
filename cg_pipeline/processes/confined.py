"""The inner half of the sandbox: a script that gives up its own rights, then runs one program.

Started by `sandbox` as a file of its own, so it leans on the standard library alone. It reads one
JSON line (program, limits, a secret word) from standard input and writes one JSON line back.
The secret proves that the line comes from here and not from the program, whose own output goes
nowhere. A program set on cheating could dig the secret out of the stack; it is there against
accidents such as `sys.exit(0)`, which must not count as a pass.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from typing import Any

_NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
_NOBODY = 65534
_DIES_WITH_PARENT, _KEEP_CAPABILITIES, _NO_NEW_PRIVILEGES = 1, 8, 38
_CAPABILITY_VERSION = 0x20080522
_MAY_READ = 1 << 2
"""CAP_DAC_READ_SEARCH: to read what others own, and nothing else."""
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_WRITES = 1 << 1 | sum(1 << bit for bit in range(4, 13))
"""Landlock's rights to write, remove and make anything; reading and running are left alone."""


def main() -> None:
    """Do what the line on standard input says."""
    task = json.loads(sys.stdin.readline())
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    isolated = _leave_network()
    if isolated and (inner := os.fork()):  # the first child of a new process namespace; all die with it
        os._exit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]) & 0xFF)
    fault = _confine(task["limits"], isolated)
    outcome = {"outcome": "unusable", "detail": fault} if fault else _run(task["program"])
    line = json.dumps({"secret": task["secret"], "isolated": isolated, **outcome})
    os.write(answer, line.encode() + b"\n")
    os._exit(0)


def _run(program: str) -> dict[str, str]:
    try:
        exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})
    except SystemExit:
        return {"outcome": "failed", "detail": "SystemExit"}
    except BaseException as error:
        return {"outcome": "failed", "detail": type(error).__name__}
    return {"outcome": "passed", "detail": ""}


def _leave_network() -> bool:
    """Move to namespaces without network and other processes; False where the system does not allow it."""
    libc, user, group = ctypes.CDLL(None, use_errno=True), os.getuid(), os.getgid()
    if not hasattr(libc, "unshare"):
        return False
    if libc.unshare(_NEW_NET | _NEW_PID | _NEW_IPC | (0 if user == 0 else _NEW_USER)) != 0:
        return False
    if user != 0:
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123 - pathlib is slow to load
                file.write(line)
    return True


def _confine(limits: dict[str, int], isolated: bool) -> str:
    """Give up rights and set limits; why the program cannot be run afterwards, or nothing."""
    libc: Any = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if os.getuid() == 0:
        _become_nobody(libc, may_read=isolated)
    _write_only_here(libc)
    for name, value in limits.items():
        _limit(getattr(resource, f"RLIMIT_{name}"), value)
    return "" if _reads_python() else f"{os.__file__} cannot be read by an unprivileged user"


def _become_nobody(libc: Any, *, may_read: bool) -> None:
    """Stop being root. Where Python lies in root's own directory, keep the right to read, if allowed."""
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    if hasattr(libc, "prctl"):
        libc.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    if hasattr(libc, "capset"):
        kept = _MAY_READ if may_read and not _reads_python() else 0
        libc.capset(struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", kept, kept, 0, 0, 0, 0))


def _reads_python() -> bool:
    try:
        os.close(os.open(os.__file__, os.O_RDONLY))
    except OSError:
        return False
    return True


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))


def _write_only_here(libc: Any) -> None:
    """Refuse, through Landlock, all writing outside the working directory; nothing on systems without it."""
    if not hasattr(libc, "syscall"):
        return
    handled = ctypes.create_string_buffer(struct.pack("Q", _WRITES))
    ruleset = libc.syscall(_CREATE_RULESET, handled, 8, 0)
    if ruleset < 0:
        return
    here = os.open(".", os.O_PATH)
    libc.syscall(_ADD_RULE, ruleset, 1, ctypes.create_string_buffer(struct.pack("=Qi", _WRITES, here)), 0)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    os.close(here)


if __name__ == "__main__":
    main()
