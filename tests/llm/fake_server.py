"""A chat-completions server on 127.0.0.1 that answers by script: real sockets, no model.

Each request takes the next step of the script; the last step repeats. What was asked is kept
in `requests`, headers in `headers`.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = tuple[int, dict[str, str], bytes, float]
"""HTTP status, headers, body, and seconds of silence before any of them."""

GOOD = {"name": "Dates and calendars", "explanation": "They concern days. No benchmark asks for them."}


def step(body: bytes | str, status: int = 200, delay_s: float = 0.0, **headers: str) -> Step:
    """A response; header names are written with underscores."""
    raw = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"content-type": "application/json", **named}, raw, delay_s


def completion(
    content: str | None,
    *,
    finish: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] | None = (10, 5),
) -> Step:
    """A well-formed completion with one choice."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    body: dict[str, Any] = {"id": "1", "object": "chat.completion", "model": "fake", "created": 0}
    body["choices"] = [{"index": 0, "finish_reason": finish, "message": message}]
    if tokens:
        body["usage"] = dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
    return step(json.dumps(body))


def good(**fields: str) -> Step:
    """A valid answer, with fields replaced."""
    return completion(json.dumps({**GOOD, **fields}))


def failure(
    status: int, message: str = "it broke", *, code: str = "", param: str = "", **headers: str
) -> Step:
    """An error in OpenAI's form."""
    error = {"message": message, "code": code or None, "param": param or None}
    return step(json.dumps({"error": error}), status, 0.0, **headers)


@dataclass
class FakeServer:
    """`with FakeServer(steps) as server:` – `server.url` is the base URL."""

    steps: list[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def __enter__(self) -> "FakeServer":
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads, self._http.block_on_close = True, False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def take(self, path: str, headers: dict[str, str], body: bytes) -> Step:
        """Record one request and choose its step."""
        with self._lock:
            self.requests.append(json.loads(body))
            self.headers.append(headers)
            self.paths.append(path)
            return self.steps[min(len(self.requests), len(self.steps)) - 1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, answer_headers, body, delay_s = server.take(self.path, headers, sent)
                server._closing.wait(delay_s)
                try:
                    self.send_response(status)
                    for name, value in {**answer_headers, "content-length": str(len(body))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:  # the client has given up, as some tests want
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None: ...

        return Handler
