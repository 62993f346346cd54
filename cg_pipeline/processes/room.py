"""A room without a door: namespaces and mounts that leave a program nothing but Python and a small directory.

No network, no other process, no shared memory; of the file system only Python, the system's
programs and libraries and a few devices, all read-only, and `/program`, a directory in memory.
No /proc, no /sys, no home directory, no socket of another program.

Why hide files rather than refuse to write them: a read-only mount refuses every way of changing
a file, also those that Landlock does not know (modes, times, extended attributes); and what is
not there needs no rule about who may read it. It also shows Python where its own directory is
closed to others, so that no right to read what others own has to be kept.
"""

import ctypes
import os
import struct
import sys
from typing import Any

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_PID, _NEW_NET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_NO_SUID, _NO_DEVICES, _BIND, _WITH_ALL_BELOW, _PRIVATE = 2, 4, 0x1000, 0x4000, 0x40000
_DETACH = 2
_SET_ATTRIBUTES, _HERE, _ALL_BELOW, _READ_ONLY_NO_SUID = 442, -100, 0x8000, 1 | 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41, "riscv64": 41}
"""The one system call here without a name in the C library, and with a number of each machine's own."""
_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/nix/store", "/etc/ld.so.cache")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_LIBC: Any = ctypes.CDLL(None, use_errno=True)


def leave() -> str:
    """Move to new namespaces, the next child into a new process namespace too; why that fails, or nothing."""
    if not hasattr(_LIBC, "unshare"):
        return "there are no namespaces"
    user, group = os.getuid(), os.getgid()
    own = _NEW_USER if user else 0
    try:
        _done(_LIBC.unshare(_NEW_MOUNTS | _NEW_IPC | _NEW_PID | _NEW_NET | own), "unshare")
        if own:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")
    except OSError as error:
        return str(error)
    return ""


def furnish(n_bytes: int) -> None:
    """Make the room and go in; the working directory is then `/program`, of so many bytes.

    The room is a directory within the new root: whoever is in it makes no further user
    namespace, for the kernel lets nobody do that whose root is not the root of the mounts.

    Raises:
        OSError: the system does not allow it.
    """
    os.umask(0o022)
    place = os.getcwd()  # noqa: PTH109 - pathlib is slow to load
    _mount("none", "/", "", _WITH_ALL_BELOW | _PRIVATE)
    _mount("tmpfs", place, "tmpfs", _NO_SUID | _NO_DEVICES, "size=1m,mode=755")
    os.chdir(place)
    for path in (*_shown(), *_DEVICES):
        _show(path)
    os.mkdir("room/program")  # noqa: PTH102
    attributes = ctypes.create_string_buffer(struct.pack("4Q", _READ_ONLY_NO_SUID, 0, 0, 0))
    _done(_LIBC.syscall(_SET_ATTRIBUTES, _HERE, b".", _ALL_BELOW, attributes, 32), "mount_setattr")
    _mount(
        "tmpfs", "room/program", "tmpfs", _NO_SUID | _NO_DEVICES, f"size={n_bytes},nr_inodes=4096,mode=777"
    )
    _done(_LIBC.syscall(_PIVOT_ROOT.get(os.uname().machine, -1), b".", b"."), "pivot_root")
    _done(_LIBC.umount2(b".", _DETACH), "umount2")
    os.chdir("/")
    os.chroot("room")
    os.chdir("/program")


def _shown() -> list[str]:
    """Directories of Python and of the system, none twice and none within another."""
    library = os.path.dirname(os.__file__)  # noqa: PTH120
    python = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, library)
    wanted = {path for one in (*python, *_SYSTEM) for path in (os.path.abspath(one), os.path.realpath(one))}  # noqa: PTH100
    shown: list[str] = []
    for path in sorted(wanted - {"/"}, key=len):
        if os.path.exists(path) and not path.startswith(tuple(f"{one}/" for one in shown)):  # noqa: PTH110
            shown.append(path)
    return shown


def _show(path: str) -> None:
    """Bind what lies at a path, links followed, to the same path of the room."""
    there = f"room{path}"
    if os.path.isdir(path):  # noqa: PTH112
        os.makedirs(there, exist_ok=True)  # noqa: PTH103
    else:
        os.makedirs(os.path.dirname(there), exist_ok=True)  # noqa: PTH103, PTH120
        os.close(os.open(there, os.O_CREAT | os.O_WRONLY))
    _mount(os.path.realpath(path), there, "", _BIND | _WITH_ALL_BELOW)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    where = target.encode()
    result = _LIBC.mount(source.encode(), where, kind.encode(), ctypes.c_ulong(flags), options.encode())
    _done(result, f"mount {source} on {target}")


def _done(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _write(path: str, line: str) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)
