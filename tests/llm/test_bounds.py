"""A connection reads and writes for as long as its request has left, however it is called."""

import httpcore2
import httpx2
import pytest

from cg_pipeline.llm.bounds import bounding


class Stream(httpcore2.NetworkStream):
    """Remembers how long it was given."""

    def __init__(self) -> None:
        self.given: list[float | None] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.given.append(timeout)
        return b"x" * max_bytes

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.given.append(timeout)

    def close(self) -> None:
        pass


def bound_stream(timeout_s: float) -> Stream:
    stream, request = Stream(), httpx2.Request("GET", "http://here")
    [start] = bounding(timeout_s)["request"]
    start(request)
    request.extensions["trace"]("connection.connect_tcp.complete", {"return_value": stream})
    return stream


def test_time_is_bounded_by_position_and_by_name() -> None:
    """A SOCKS handshake names its arguments."""
    stream = bound_stream(5.0)
    assert stream.read(3) == b"xxx"
    assert stream.read(max_bytes=2, timeout=99.0) == b"xx"
    assert stream.read(2, 99.0) == b"xx"
    stream.write(buffer=b"a", timeout=1.0)
    assert all(given is not None and given <= 5.0 for given in stream.given)
    assert stream.given[-1] == 1.0


def test_nothing_is_read_after_the_time() -> None:
    stream = bound_stream(0.0)
    with pytest.raises(httpcore2.ReadTimeout, match="too long"):
        stream.read(max_bytes=1)
