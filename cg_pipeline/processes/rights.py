"""What a process gives up before it runs a program: root, capabilities, writing elsewhere, and resources.

All of it works without namespaces too; within a `room` it is a second wall.
"""

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Mapping
from typing import Any

_NOBODY = 65534
_UNUSED_IDS = 1 << 30
_DIES_WITH_PARENT, _NO_NEW_PRIVILEGES = 1, 38
_CAPABILITY_VERSION = 0x20080522
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_WRITE_FILE, _CHANGE_DIRECTORIES = 1 << 1, sum(1 << bit for bit in range(4, 13))
_LATER_RIGHTS = {2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
"""Rights over files by the version of Landlock that brought them: move away, truncate, device control."""
_LATER_FIELDS = {4: 3, 6: 3}
"""TCP (bind, connect), then abstract sockets and signals of other processes: all refused."""
_LIBC: Any = ctypes.CDLL(None, use_errno=True)


def unused_id() -> int:
    """A user id that no one else has: limits per user are then of this program alone."""
    return _UNUSED_IDS + os.getpid()


def die_with_parent() -> None:
    """Ask to be killed when the parent ends. A change of user takes the wish back: ask after it."""
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_DIES_WITH_PARENT, signal.SIGKILL)


def give_up(limits: Mapping[str, int], user: int) -> str:
    """Give up rights and set limits; why no program can be run afterwards, or nothing."""
    if os.getuid() == 0:
        _become(user)
    if hasattr(_LIBC, "prctl"):
        _LIBC.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        _LIBC.capset(struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24))
    die_with_parent()
    _write_only_here()
    for name, value in limits.items():
        _limit(getattr(resource, f"RLIMIT_{name}"), value, reserve=int(name == "CPU"))
    return "" if _reads_python() else f"{os.__file__} cannot be read by an unprivileged user"


def _become(user: int) -> None:
    """Stop being root, as a user of one's own or, where ids are few, as nobody."""
    os.setgroups([])
    for name in (user, _NOBODY):
        try:
            os.chown(".", name, name)
            os.setresgid(name, name, name)
            os.setresuid(name, name, name)
        except OSError:
            continue
        return


def _reads_python() -> bool:
    try:
        os.close(os.open(os.__file__, os.O_RDONLY))
    except OSError:
        return False
    return True


def _limit(kind: int, value: int, reserve: int) -> None:
    """Set a limit, the hard one `reserve` later: a process past the soft one is told which limit it was."""
    hard = resource.getrlimit(kind)[1]
    soft, later = (
        limit if hard == resource.RLIM_INFINITY else min(limit, hard) for limit in (value, value + reserve)
    )
    resource.setrlimit(kind, (soft, later))


def _write_only_here() -> None:
    """Refuse, through Landlock, what its version can refuse outside the working directory."""
    version = _LIBC.syscall(_CREATE_RULESET, None, 0, 1) if os.uname().sysname == "Linux" else -1
    if version < 1:
        return
    later = sum(right for since, right in _LATER_RIGHTS.items() if since <= version)
    fields = [_WRITE_FILE | _CHANGE_DIRECTORIES | later]
    fields += [field for since, field in _LATER_FIELDS.items() if since <= version]
    handled = struct.pack(f"{len(fields)}Q", *fields)
    ruleset = _LIBC.syscall(_CREATE_RULESET, handled, len(handled), 0)
    for path, allowed in ((".", fields[0]), (os.devnull, fields[0] & ~_CHANGE_DIRECTORIES & ~(1 << 13))):
        place = os.open(path, os.O_PATH)
        _LIBC.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
    _LIBC.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
