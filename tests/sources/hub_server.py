"""A local server that speaks as much of the hub's protocol as `datasets.load_dataset` asks for.

It serves any number of data sets, each at one commit. Faults are switched on by name, each
for as many answers as it is given.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"

Fault = Literal[
    "429",
    "500",
    "429 of files",
    "missing",
    "half",
    "no_revision",
    "page",
    "page untold",
    "page of files",
    "garbled",
]


PAGE = b"<!doctype html><html><body>Please log in to this network.</body></html>"


@dataclass
class DataSet:
    """One data set, what is asked of it, and what goes wrong."""

    repo: str
    files: Mapping[str, bytes]
    commit: str = COMMIT
    """What the revision asked for resolves to."""
    token: str = ""
    """The only token that may read the files; empty for an open data set."""
    faults: dict[Fault, int] = field(default_factory=dict)
    """How many answers each fault still spoils."""
    retry_after: str = "0"
    asked: list[str] = field(default_factory=list)
    """Requests as they came, method and path."""

    def spoils(self, fault: Fault) -> bool:
        """Whether this answer is one of those that the fault spoils."""
        left = self.faults.get(fault, 0)
        self.faults[fault] = max(left - 1, 0)
        return left > 0


@contextmanager
def serving(data_sets: Sequence[DataSet]) -> Iterator[str]:
    """The address of a hub with these data sets, until the block is left."""
    handler = type("Handler", (_Handler,), {"hub": {each.repo: each for each in data_sets}})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Mapping[str, DataSet]
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the requests are kept in `asked`."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = unquote(urlsplit(self.path).path)
        found = re.fullmatch(r"(?P<api>/api)?/datasets/(?P<repo>[^/]+/[^/]+)(?P<rest>/.*)?", path)
        data = self.hub.get(found["repo"]) if found else None
        if data is None or found is None:
            return self._refuse(404, "EntryNotFound")
        data.asked.append(f"{self.command} {path}")
        for fault, spoil in self._spoilers(data).items():
            if data.spoils(fault):
                return spoil()
        rest = found["rest"] or ""
        return self._api(data, rest, body) if found["api"] else self._file(data, rest)

    def _spoilers(self, data: DataSet) -> Mapping[Fault, Any]:
        return {
            "429": lambda: self._send(429, {"error": "slow down"}, {"Retry-After": data.retry_after}),
            "500": lambda: self._send(500, {"error": "oops"}, {"Retry-After": data.retry_after}),
            "missing": lambda: self._refuse(401, "RepoNotFound"),
            "page": lambda: self._bytes(200, PAGE, {"Content-Type": "text/html; charset=utf-8"}),
            "page untold": lambda: self._bytes(200, PAGE, {}),
            "no_revision": lambda: self._refuse(404, "RevisionNotFound"),
        }

    def _api(self, data: DataSet, rest: str, body: bytes) -> None:
        if rest == "/auth-check":
            return None if self._refused(data) else self._send(200, {})
        if rest.startswith("/tree/"):
            folder = rest.removeprefix("/tree/").partition("/")[2]
            return self._send(200, _tree(data.files, folder, recursive="recursive" in self.path))
        if rest.startswith("/paths-info/"):
            text = body.decode()
            wanted = json.loads(text)["paths"] if text.startswith("{") else parse_qs(text).get("paths", [])
            return self._send(200, [_entry(name, data.files[name]) for name in wanted if name in data.files])
        known = {"id": data.repo, "sha": data.commit, "private": False, "gated": bool(data.token)}
        siblings = [{"rfilename": name} for name in data.files]
        return self._send(200, {**known, "tags": [], "downloads": 0, "likes": 0, "siblings": siblings})

    def _file(self, data: DataSet, rest: str) -> None:
        if self._refused(data):
            return None
        if data.spoils("429 of files"):
            return self._send(429, {"error": "slow down"}, {"Retry-After": data.retry_after})
        if data.spoils("page of files"):
            return self._bytes(200, PAGE, {"Content-Type": "text/html"})
        name = rest.removeprefix("/resolve/").partition("/")[2]
        if name not in data.files:
            return self._refuse(404, "EntryNotFound")
        payload = data.files[name]
        headers = {
            "ETag": f'"{hashlib.sha256(payload).hexdigest()}"',
            "X-Repo-Commit": data.commit,
            "X-Linked-Size": str(len(payload)),
            "Accept-Ranges": "bytes",
        }
        content = self.command == "GET" and not name.endswith(".md")
        if content and data.spoils("garbled"):
            payload = b"?" * len(payload)
        return self._bytes(200, payload, headers, cut=content and data.spoils("half"))

    def _refused(self, data: DataSet) -> bool:
        shown = self.headers.get("Authorization", "")
        if wrong := bool(data.token) and shown != f"Bearer {data.token}":
            self._refuse(403 if shown else 401, "GatedRepo")
        return wrong

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, {"error": code}, {"X-Error-Code": code, "X-Error-Message": code})

    def _send(self, status: int, document: Any, headers: Mapping[str, str] | None = None) -> None:
        self._bytes(
            status, json.dumps(document).encode(), {"Content-Type": "application/json", **(headers or {})}
        )

    def _bytes(self, status: int, payload: bytes, headers: dict[str, str], *, cut: bool = False) -> None:
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if span and status == 200:
            first, last = int(span[1]), int(span[2] or len(payload) - 1)
            headers = {**headers, "Content-Range": f"bytes {first}-{last}/{len(payload)}"}
            payload, status = payload[first : last + 1], 206
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload[: len(payload) // 2] if cut else payload)
        self.close_connection = self.close_connection or cut


def _entry(name: str, payload: bytes) -> dict[str, Any]:
    return {"type": "file", "path": name, "size": len(payload), "oid": hashlib.sha1(payload).hexdigest()}


def _folder(name: str) -> dict[str, Any]:
    return {"type": "directory", "path": name, "size": 0, "oid": "0" * 40}


def _tree(files: Mapping[str, bytes], folder: str, *, recursive: bool) -> list[dict[str, Any]]:
    below = {name: payload for name, payload in files.items() if not folder or name.startswith(f"{folder}/")}
    rest = {name: name[len(folder) + 1 if folder else 0 :] for name in below}
    direct = [_entry(name, below[name]) for name, inner in rest.items() if recursive or "/" not in inner]
    inner = {f"{folder}/{rest[name].partition('/')[0]}".lstrip("/") for name in below if "/" in rest[name]}
    return [*direct, *map(_folder, sorted(inner))]
