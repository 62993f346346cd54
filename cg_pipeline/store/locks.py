"""A lock between processes: shared or exclusive, with a deadline, freed by the kernel when its holder dies.

*Why flock:* a lock file with a process id in it outlives `kill -9`; the kernel's lock does
not. *Why a gate:* readers may share the lock, so a stream of them could keep a writer out
for ever. Everyone passes the gate first, and a writer keeps it until it has the lock:
readers who come later wait behind it.
"""

import fcntl
import logging
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

log = logging.getLogger(__name__)

_SAY_AFTER_S = 2.0


@contextmanager
def hold(path: Path, *, exclusive: bool, timeout_s: float) -> Iterator[None]:
    """Hold the lock at `path` for the length of a `with` block.

    Raises:
        TimeoutError: it was not free before the deadline; the message names who holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = Deadline(timeout_s)
    gate_path = path.with_name(f"{path.name}.gate")
    with gate_path.open("ab") as gate, path.open("ab") as lock:
        _acquire(gate, path, exclusive, deadline)
        _acquire(lock, path, exclusive, deadline)
        fcntl.flock(gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)


class Deadline:
    """How long one caller has waited, and whether that is enough."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._start = time.monotonic()
        self._said = False

    @property
    def waited_s(self) -> float:
        """Seconds since the wait began."""
        return time.monotonic() - self._start

    def passed(self) -> bool:
        """Whether the caller should give up."""
        return self.waited_s >= self.timeout_s

    def pause(self, what: str, holder: str) -> None:
        """Sleep a few milliseconds, at random so that waiters do not march in step; say so once."""
        if not self._said and self.waited_s > _SAY_AFTER_S:
            self._said = True
            log.warning("Waiting for %s, held by %s; giving up after %g s.", what, holder, self.timeout_s)
        time.sleep(random.uniform(0.005, 0.05))


def _acquire(handle: BinaryIO, path: Path, exclusive: bool, deadline: Deadline) -> None:
    mode = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    while True:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if deadline.passed():
                raise TimeoutError(
                    f"Waited {deadline.waited_s:.1f} s for {path}, held by {holders(path)}; "
                    f"expected it to be free within {deadline.timeout_s:g} s. "
                    "Let that process finish or stop it, or allow a longer lock timeout."
                ) from None
            deadline.pause(str(path), holders(path))


def holders(path: Path) -> str:
    """Who holds the lock, in words: `process 1201`, as far as the kernel tells."""
    try:
        status = path.stat()
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return "a process this system does not name"
    identity = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    held = [
        line.split() for line in lines if "FLOCK" in line and identity in line.split() and "->" not in line
    ]
    pids = sorted({int(words[4]) for words in held})
    if not pids:
        return "a process that has just let go, or is not visible from here"
    return ("process " if len(pids) == 1 else "processes ") + ", ".join(map(str, pids))
