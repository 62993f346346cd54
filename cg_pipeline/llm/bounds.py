"""Bounds on a response, whatever its status: how long it may take, and how long an error may be.

Why here and not where a body is read: the openai client reads the bodies of errors itself, whole.
Why hooks and not a transport: a client with a transport of its own takes no proxy from the environment.

What is not bounded: header lines that trickle in, and a chunk's own header. No bytes of a body
come of them, so nothing here is asked; a silence in between ends the request after `timeout_s`.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

MAX_ERROR_BYTES = 1 << 20
"""As sent; what comes after it is left unread, and the status is judged all the same."""

_DEADLINE = "cg_deadline"


def bounding(timeout_s: float) -> dict[str, list[Callable[..., Any]]]:
    """Hooks for a client: a request sent by it and its body take `timeout_s`, and one read more at most."""

    def start(request: httpx2.Request) -> None:
        request.extensions[_DEADLINE] = time.monotonic() + timeout_s

    def bound(response: httpx2.Response) -> None:
        max_bytes = MAX_ERROR_BYTES if response.is_error else None
        deadline = response.request.extensions[_DEADLINE]
        response.stream = _Bounded(response.stream, response.request, deadline, max_bytes)

    return {"request": [start], "response": [bound]}


class _Bounded(httpx2.SyncByteStream):
    """A body that ends with an exception at the deadline, and quietly after so many bytes."""

    def __init__(self, stream: Any, request: httpx2.Request, deadline: float, max_bytes: int | None) -> None:
        self._stream, self._request = stream, request
        self._deadline, self._max_bytes = deadline, max_bytes

    def __iter__(self) -> Iterator[bytes]:
        n_bytes = 0
        for chunk in self._stream:
            if time.monotonic() > self._deadline:
                raise httpx2.ReadTimeout("the body took too long", request=self._request)
            yield chunk
            n_bytes += len(chunk)
            if self._max_bytes is not None and n_bytes >= self._max_bytes:
                return

    def close(self) -> None:
        self._stream.close()
