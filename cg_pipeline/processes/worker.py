"""A helper process that answers one line with one line, within a time limit.

For work that cannot be interrupted in a thread (symbolic algebra on huge powers). A signal
would only work in the main thread, where an asset or a thread pool may not be. The process is
started at the first question, kept for the next, and ended and replaced when it is too slow.
"""

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

_ROOT = str(Path(__file__).parents[2])
_START_S = 120.0
"""Longest start: a busy machine may take long to load a library."""


class Worker:
    """`python -m module`, which must write a line when ready and then answer every line with one."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        atexit.register(self.stop)

    def ask(self, question: Any, limit_s: float) -> Any:
        """The answer to a question, both JSON values.

        Raises:
            TimeoutError: there was none within the limit, or the process ended without one.
            RuntimeError: the process does not start.
        """
        with self._lock:
            try:
                process = self._running()
                assert process.stdin
                process.stdin.write(json.dumps(question).encode() + b"\n")
                process.stdin.flush()
                return json.loads(self._line(limit_s))
            except (OSError, ValueError) as error:
                self.stop()
                raise TimeoutError(
                    f"{self.module} gave no answer within {limit_s:g} s; expected one line of JSON. "
                    "The question is left undecided."
                ) from error

    def stop(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):  # a broken pipe cannot be flushed
                    if pipe:
                        pipe.close()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            path = os.pathsep.join([_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", self.module],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._await_start()
        return self._process

    def _await_start(self) -> None:
        try:
            self._line(_START_S)
        except OSError as error:
            self.stop()
            raise RuntimeError(
                f"python -m {self.module} did not start within {_START_S:g} s; expected one line when ready. "
                "Run it by hand to see why."
            ) from error

    def _line(self, limit_s: float) -> bytes:
        """The next line the process writes; `TimeoutError` after the limit, `EOFError` at its end."""
        assert self._process
        assert self._process.stdout
        deadline, line = time.monotonic() + limit_s, b""
        while not line.endswith(b"\n"):
            if not select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError
            if not (chunk := os.read(self._process.stdout.fileno(), 1 << 16)):
                raise BrokenPipeError
            line += chunk
        return line
