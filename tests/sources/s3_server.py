"""A local server that answers as a public S3 bucket does: lists of keys by page, and files."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 2


class Bucket:
    """Files by key, what was asked, and how many answers fail first."""

    def __init__(self, files: Mapping[str, bytes], failures: int = 0, status: int = 503) -> None:
        self.files = files
        self.failures = failures
        self.status = status
        self.asked: list[str] = []

    def page(self, prefix: str, token: str) -> bytes:
        keys = sorted(key for key in self.files if key.startswith(prefix))
        start = int(token or 0)
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key>"
            f"<LastModified>2026-0{1 + i % 9}-02T03:04:05.000Z</LastModified>"
            f"<Size>{len(self.files[key])}</Size></Contents>"
            for i, key in enumerate(keys)
            if start <= i < start + PAGE
        )
        more = start + PAGE < len(keys)
        after = f"<NextContinuationToken>{start + PAGE}</NextContinuationToken>" if more else ""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>'
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<IsTruncated>{str(more).lower()}</IsTruncated>{entries}{after}</ListBucketResult>"
        ).encode()


@contextmanager
def serving(bucket: Bucket) -> Iterator[str]:
    """The bucket's address, until the block is left."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            bucket.asked.append(unquote(self.path))
            if bucket.failures > 0:
                bucket.failures -= 1
                self.respond(bucket.status, b"<Error/>")
            elif "list-type" in asked:
                self.respond(200, bucket.page(asked["prefix"], asked.get("continuation-token", "")))
            elif (key := unquote(parts.path).lstrip("/")) in bucket.files:
                self.respond(200, bucket.files[key])
            else:
                self.respond(404, b"<Error><Code>NoSuchKey</Code></Error>")

        def respond(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
