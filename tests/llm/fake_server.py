"""A completions server on 127.0.0.1 that answers by script or by rule: real sockets, no model.

Each request takes the next step of the script; the last step repeats. With a rule, a function
of path and request, the rule answers. What was asked is kept in `requests`, headers in `headers`,
and `most_at_once` is how many requests were under way together.
"""

import json
import re
import threading
from collections.abc import Callable
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


def raw_completion(
    text: str, *, finish: str | None = "stop", tokens: tuple[int, int] | None = (10, 5), **choice: Any
) -> Step:
    """A well-formed raw completion with one choice."""
    body: dict[str, Any] = {"id": "1", "object": "text_completion", "model": "fake", "created": 0}
    body["choices"] = [{"index": 0, "finish_reason": finish, "text": text, **choice}]
    if tokens:
        body["usage"] = dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
    return step(json.dumps(body))


def tokens_of(text: str) -> list[str]:
    """Words with the space before them, and single other characters: what the fake calls tokens."""
    return re.findall(r" ?\w+|[^\w]", text)


def logprob_of(token: str) -> float:
    """Of a token, wherever it stands: minus its number of letters, over ten."""
    return -len(token.strip()) / 10


def measuring(path: str, request: dict[str, Any]) -> Step:
    """A rule: a server that echoes, with the log-probability of every token, as vLLM does."""
    found = tokens_of(request["prompt"])
    if not request.get("echo"):
        return raw_completion(" and", finish="length", tokens=(len(found), 1))
    logprobs = [None, *map(logprob_of, found[1:]), -0.5]
    return raw_completion(
        request["prompt"] + " and",
        finish="length",
        tokens=(len(found), 1),
        logprobs={"tokens": [*found, " and"], "token_logprobs": logprobs},
    )


@dataclass
class FakeServer:
    """`with FakeServer(steps) as server:` – `server.url` is the base URL."""

    steps: list[Step] = field(default_factory=list)
    rule: Callable[[str, dict[str, Any]], Step] | None = None
    n_at_once: int = 0
    most_at_once: int = 0
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
            if self.rule is None:
                return self.steps[min(len(self.requests), len(self.steps)) - 1]
        return self.rule(path.removeprefix("/v1"), json.loads(body))

    def count(self, change: int) -> None:
        """One request more, or one less, is under way."""
        with self._lock:
            self.n_at_once += change
            self.most_at_once = max(self.most_at_once, self.n_at_once)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.count(1)
                try:
                    self.answer()
                finally:
                    server.count(-1)

            def answer(self) -> None:
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
