"""Bounds on a request, whatever comes of it: how long it may take in all, and how long an error may be.

Why here and not where a body is read: the openai client reads the bodies of errors itself, whole, and
nobody but the transport sees header lines that trickle in.
Why hooks and not a transport: a client with a transport of its own takes no proxy from the environment.
Why each read: a time-out of the transport is for one read, and a server that sends a byte before each
is over never meets it. A connection serves one request at a time, in the thread that sent it.

What is bounded apart: connecting and the handshake, which take `timeout_s` each at most.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpcore2  # below the transport: a connection is handed to whoever traces a request
import httpx2

MAX_ERROR_BYTES = 1 << 20
"""As sent; what comes after it is left unread, and the status is judged all the same."""


def bounding(timeout_s: float) -> dict[str, list[Callable[..., Any]]]:
    """Hooks for a client: each request sent by it is answered within `timeout_s`, or given up."""
    of_thread = threading.local()

    def left_s() -> float:
        return of_thread.deadline - time.monotonic()

    def start(request: httpx2.Request) -> None:
        of_thread.deadline = time.monotonic() + timeout_s
        request.extensions["trace"] = watch

    def watch(_event: str, told: dict[str, Any]) -> None:
        if isinstance(stream := told.get("return_value"), httpcore2.NetworkStream):
            _bound(stream, left_s)

    def cut(response: httpx2.Response) -> None:
        if response.is_error:
            response.stream = _Cut(response.stream)

    return {"request": [start], "response": [cut]}


def _bound(stream: Any, left_s: Callable[[], float]) -> None:
    """Let a connection that was just made read and write for as long as its request has left."""
    plain_read, plain_write = stream.read, stream.write

    def within(timeout: float | None) -> float:
        left = left_s()
        if left <= 0:
            raise httpcore2.ReadTimeout("the request took too long")
        return left if timeout is None else min(timeout, left)

    def read(max_bytes: int, timeout: float | None = None) -> bytes:
        return plain_read(max_bytes, within(timeout))

    def write(buffer: bytes, timeout: float | None = None) -> None:
        plain_write(buffer, within(timeout))

    stream.read, stream.write = read, write


class _Cut(httpx2.SyncByteStream):
    """A body that ends quietly after so many bytes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        n_bytes = 0
        for chunk in self._stream:
            yield chunk
            n_bytes += len(chunk)
            if n_bytes >= MAX_ERROR_BYTES:
                return

    def close(self) -> None:
        self._stream.close()
