"""A proxy before an S3 server that answers some requests with 503, and counts what it sends.

It is a process of its own: clients may hold the interpreter's lock while they wait for an answer.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

SLOW_DOWN = (
    b'<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code>'
    b"<Message>Please reduce your request rate.</Message></Error>"
)


COUNTS = "/-counts-and-forgets"


@dataclass
class Counts:
    """What a proxy did since it was asked last.

    Attributes:
        sent: bytes of objects sent, by path.
        refused: number of requests answered with 503.
        requests: number of all requests.
    """

    sent: dict[str, int] = field(default_factory=dict)
    refused: int = 0
    requests: int = 0


@dataclass(frozen=True)
class FaultyS3:
    """A running proxy."""

    url: str

    def counts(self) -> Counts:
        """Return what it did since it was asked last."""
        with urlopen(f"{self.url}{COUNTS}", timeout=60) as answer:
            return Counts(**json.load(answer))


class ProxyServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, target: str, share: float, seed: int, handler: type | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or ProxyHandler)
        self.target = urlsplit(target)
        self.share = share
        self.sent: Counter[str] = Counter()
        self.requests = self.refused = 0
        self._choices = random.Random(seed)
        self._lock = threading.Lock()

    def counts(self) -> bytes:
        with self._lock:
            found = {"sent": self.sent, "refused": self.refused, "requests": self.requests}
            data = json.dumps(found).encode()
            self.sent, self.refused, self.requests = Counter(), 0, 0
            return data

    def refuses(self) -> bool:
        """Draw whether the next request is refused."""
        with self._lock:
            self.requests += 1
            is_refused = self._choices.random() < self.share
            self.refused += is_refused
            return is_refused

    def count(self, path: str, size: int) -> None:
        with self._lock:
            self.sent[urlsplit(path).path] += size


class ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProxyServer
    dropped = ("transfer-encoding", "expect", "connection", "content-length")

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def _forward(self):
        body = self._body()
        if self.path == COUNTS:
            self._answer(200, [], self.server.counts())
            return
        if self.server.refuses():
            self._answer(503, [("Content-Type", "application/xml")], SLOW_DOWN)
            return
        target = self.server.target
        connection = http.client.HTTPConnection(target.hostname, target.port, timeout=60)
        headers = {
            name: value for name, value in self.headers.items()
            if name.lower() not in self.dropped
        }  # fmt: skip
        headers["Content-Length"] = str(len(body))
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if self.command == "GET":
            self.server.count(self.path, len(data))
        self._answer(answer.status, answer.getheaders(), data)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _forward  # noqa: N815 - the library's names

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def _answer(self, status, headers, data):
        self.send_response_only(status)
        is_head = self.command == "HEAD"
        for name, value in headers:
            kept = name.lower() == "content-length" and is_head
            if kept or name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        if not is_head:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if not is_head:
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def faulty_s3(target: str, share: float, seed: int = 0):
    """Yield a running proxy."""
    process = subprocess.Popen(
        [sys.executable, __file__, target, str(share), str(seed)],
        cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield FaultyS3(process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    server = ProxyServer(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
