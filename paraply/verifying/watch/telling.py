"""Serves metrics, and sends findings to a webhook."""

from __future__ import annotations

import queue
import threading
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from paraply.verifying.watch.errors import CANNOT_LISTEN
from paraply.verifying.watch.findings import Finding
from paraply.vocabulary.errors import ParaplyError

_WAITING_MAX = 1_000
_SECONDS_MAX = 10
_TRIES = 3


class MetricsServer:
    """Answers ``GET /metrics`` with a text."""

    def __init__(self, host: str, port: int, text: Callable[[], str]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.partition("?")[0] != "/metrics":
                    self.send_error(404)
                    return
                body = text().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError) as reason:
            raise ParaplyError(CANNOT_LISTEN, address=f"{host}:{port}", reason=reason) from None
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True).start()

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()


class Webhook:
    """Sends each finding as JSON (POST), in order; judging never waits for it.

    ``dropped`` findings could not be sent: the receiver refused them, or was too slow.
    """

    def __init__(self, url: str) -> None:
        self.dropped = 0
        self._url = url
        self._waiting: queue.Queue[Finding | None] = queue.Queue(_WAITING_MAX)
        self._is_ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, finding: Finding) -> None:
        """Send a finding soon."""
        try:
            self._waiting.put_nowait(finding)
        except queue.Full:
            self.dropped += 1

    def close(self) -> None:
        """Send what waits, for some seconds at most."""
        self._is_ended.set()
        with suppress(queue.Full):
            self._waiting.put_nowait(None)
        self._thread.join(_SECONDS_MAX)

    def _run(self) -> None:
        while (finding := self._waiting.get()) is not None:
            for attempt in range(_TRIES):
                if self._post(finding):
                    break
                if self._is_ended.wait(attempt + 1):
                    self.dropped += 1
                    break
            else:
                self.dropped += 1

    def _post(self, finding: Finding) -> bool:
        request = urllib.request.Request(
            self._url,
            data=finding.as_line().encode(),
            headers={"Content-Type": "application/json"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS_MAX) as answer:
                return 200 <= int(answer.status) < 300
        except (OSError, ValueError):
            return False
