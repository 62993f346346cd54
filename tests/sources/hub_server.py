"""A local server that speaks as much of the hub's protocol as `datasets.load_dataset` asks for.

It serves one repository at one commit. Faults are switched on by name, each for as many
answers as it is given.
"""

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"

Fault = Literal["429", "500", "gated", "missing", "half", "no_revision"]


@dataclass
class Hub:
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
    url: str = ""

    def spoils(self, fault: Fault) -> bool:
        """Whether this answer is one of those that the fault spoils."""
        left = self.faults.get(fault, 0)
        self.faults[fault] = max(left - 1, 0)
        return left > 0


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub at its `url`, until the block is left."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the requests are kept in `hub.asked`."""

    def do_HEAD(self) -> None:  # noqa: N802 - the name is the library's
        self._answer()

    def do_GET(self) -> None:  # noqa: N802
        self._answer()

    def do_POST(self) -> None:  # noqa: N802
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        if self.hub.spoils("429"):
            return self._send(429, {"error": "slow down"}, {"Retry-After": self.hub.retry_after})
        if self.hub.spoils("500"):
            return self._send(500, {"error": "oops"}, {})
        if self.hub.spoils("missing") or self.hub.repo not in path:
            return self._refuse(401, "RepoNotFound")
        if self.hub.spoils("no_revision"):
            return self._refuse(404, "RevisionNotFound")
        rest = path.partition(self.hub.repo)[2]
        if path.startswith("/api/"):
            return self._api(rest, body)
        found = re.fullmatch(r"/resolve/([^/]+)/(.+)", rest)
        return self._file(found[2]) if found else self._refuse(404, "EntryNotFound")

    def _api(self, rest: str, body: bytes) -> None:
        hub = self.hub
        if rest.startswith("/tree/"):
            folder = rest.partition("/tree/")[2].partition("/")[2]
            return self._send(200, _tree(hub.files, folder, recursive="recursive" in self.path), {})
        if rest.startswith("/paths-info/"):
            text = body.decode()
            wanted = json.loads(text)["paths"] if text.startswith("{") else parse_qs(text).get("paths", [])
            known = [_entry(name, hub.files[name]) for name in wanted if name in hub.files]
            folders = {name for name in wanted if any(path.startswith(f"{name}/") for path in hub.files)}
            return self._send(200, [*known, *map(_folder, folders)], {})
        info = {"id": hub.repo, "sha": hub.commit, "private": False, "gated": bool(hub.token), "disabled": False,
                "tags": [], "downloads": 0, "likes": 0, "siblings": [{"rfilename": n} for n in hub.files]}  # fmt: skip
        return self._send(200, info, {})

    def _file(self, name: str) -> None:
        hub = self.hub
        authorised = not hub.token or self.headers.get("Authorization") == f"Bearer {hub.token}"
        if not authorised:
            return self._refuse(403 if self.headers.get("Authorization") else 401, "GatedRepo")
        if name not in hub.files:
            return self._refuse(404, "EntryNotFound")
        payload = hub.files[name]
        headers = {"ETag": f'"{hashlib.sha256(payload).hexdigest()}"', "X-Repo-Commit": hub.commit,
                   "X-Linked-Size": str(len(payload)), "Accept-Ranges": "bytes"}  # fmt: skip
        return self._bytes(payload, headers, cut=self.command == "GET" and hub.spoils("half"))

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, {"error": code}, {"X-Error-Code": code, "X-Error-Message": code})

    def _send(self, status: int, document: Any, headers: dict[str, str]) -> None:
        self._bytes(json.dumps(document).encode(), {"Content-Type": "application/json", **headers}, status=status)

    def _bytes(self, payload: bytes, headers: dict[str, str], *, status: int = 200, cut: bool = False) -> None:
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
        if cut:
            self.close_connection = True


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
