"""``paraply watch``: judge running replicas continuously."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live

from paraply.adapters.servers.binlog_stream import ServerStream
from paraply.adapters.servers.existing import ExistingServer, parse_dsn
from paraply.file_arguments import JsonFile, LogFile
from paraply.number_arguments import positive, positive_seconds
from paraply.reporting.page import add_plain_argument
from paraply.reporting.verify.watch import (
    finding_text,
    watch_metrics,
    watch_summary,
    watch_view,
)
from paraply.verifying.watch.findings import Finding
from paraply.verifying.watch.holding import held_by, workers_of
from paraply.verifying.watch.pair import PairOptions, PairSnapshot
from paraply.verifying.watch.service import Watch, WatchRequest
from paraply.verifying.watch.source import SourceSnapshot
from paraply.verifying.watch.telling import MetricsServer, Webhook

DESCRIPTION = """\
Follow the binary logs of a running source and of its replicas, as a replica does, and judge what
each replica commits: every transaction once, with the same rows, in the source's order. It also
judges the source's metadata as it flows, as paraply audit does: may transactions overlap that
conflict? The servers are only read from. Servers need GTIDs and binlog_format=ROW, replicas
log_slave_updates; the account needs REPLICATION SLAVE and REPLICATION CLIENT (MariaDB: BINLOG
MONITOR), and at the source SELECT on the tables, for their definitions.

Ctrl-C or SIGTERM ends it with a summary. With --state, the next run resumes there.
"""

EPILOG = """\
exit codes, at the end:
  0  holds     all transactions that the targets committed are the source's, in order, and no two
               of the source that conflict may overlap
  1  violated  some were missing, changed, errant, repeated or in the wrong order, or the source's
               metadata lets conflicting ones overlap
  2  unknown   something could not be decided; the summary names it
  3  wrong usage, or a server that cannot be followed

examples:
  paraply watch --source mysql://watch@db1 --target mysql://watch@db2 mysql://watch@db3
  paraply watch --source mariadb://watch@db1 --target mariadb://watch@db2 \\
      --state /var/lib/paraply/db2.json --findings db2.jsonl --metrics 9464
"""

BEAT_S = 1.0
EXPLAIN_EVERY_S = 5.0
_FIRST_REPLICA_ID = 0x70000000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.add_argument("--source", required=True, metavar="DSN", help="mysql://USER@HOST:PORT")
    parser.add_argument(
        "--target", required=True, nargs="+", metavar="DSN", help="replicas, each judged separately"
    )
    parser.add_argument(
        "--require",
        choices=("prefix", "atomic"),
        default="prefix",
        help="prefix: every state of a target is one of the source; atomic: replicas may commit "
        "out of order where no rows are common (default: %(default)s)",
    )
    parser.add_argument(
        "--filtered",
        action="append",
        default=[],
        metavar="TABLE",
        help="table that only one side has, on purpose",
    )
    parser.add_argument(
        "--patience",
        type=positive,
        metavar="N",
        help="a transaction is missing after N later ones (default: 1,024, MariaDB 16)",
    )
    parser.add_argument(
        "--no-audit",
        dest="audit",
        action="store_false",
        help="do not judge the source's metadata",
    )
    parser.add_argument(
        "--state",
        type=JsonFile,
        metavar="FILE",
        help="keep the state here, and resume from it after a restart",
    )
    parser.add_argument(
        "--findings",
        type=LogFile,
        metavar="FILE",
        help="append a JSON line per finding, and write the piece of both logs that shows it "
        "into FILE.slices",
    )
    parser.add_argument(
        "--metrics",
        type=_address,
        metavar="[HOST:]PORT",
        help="serve /metrics for Prometheus (default host: 127.0.0.1; port 0: any)",
    )
    parser.add_argument("--webhook", type=_url, metavar="URL", help="POST each finding as JSON")
    parser.add_argument(
        "--for", dest="seconds", type=positive_seconds, metavar="SECONDS", help="end after a time"
    )
    parser.add_argument(
        "--replica-id",
        type=positive,
        metavar="N",
        help="first of the server_id numbers that the connections use (default: by host and "
        "process; they must differ from those of all servers)",
    )
    add_plain_argument(parser)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"write PORT or HOST:PORT, not {text}")
    return host or "127.0.0.1", int(port)


def _url(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"a webhook begins with http:// or https://, not {text}")
    return text


def run(arguments: argparse.Namespace) -> int:
    """Watch until stopped, print the summary, and return the exit code."""
    with ExitStack() as stack:
        telling = _Telling(arguments, stack)
        watch = Watch(_request(arguments), telling.take)
        stack.callback(watch.end)
        telling.watch = watch
        stop = stack.enter_context(_stop_on_signals())
        ends = None if arguments.seconds is None else time.monotonic() + arguments.seconds
        telling.start()
        watch.run(
            lambda: stop.is_set() or (ends is not None and time.monotonic() >= ends),
            telling.beat,
        )
        telling.end()
        reasons = {pair.name: pair.unknown_because() for pair in watch.pairs}
        sys.stdout.write(
            watch_summary(watch.snapshots(), reasons, watch.verdict, watch.source_snapshot())
        )
        return watch.verdict.exit_code


def _request(arguments: argparse.Namespace) -> WatchRequest:
    first = arguments.replica_id
    if first is None:
        seed = f"{socket.gethostname()}/{os.getpid()}".encode()
        first = _FIRST_REPLICA_ID + (zlib.crc32(seed) & 0x0FFFFF00)
    numbers = iter(range(first, first + 2 * len(arguments.target) + 1))

    def stream(option: str, dsn: str) -> ServerStream:
        parsed = parse_dsn(dsn, option=option)
        server = ExistingServer(parsed, name=str(parsed), is_read_only=True)
        return ServerStream(server, replica_id=next(numbers))

    findings = None if arguments.findings is None else Path(arguments.findings)
    return WatchRequest(
        pairs=[
            (stream("--source", arguments.source), stream("--target", target))
            for target in arguments.target
        ],
        audited=stream("--source", arguments.source) if arguments.audit else None,
        options=PairOptions(
            require=arguments.require,
            patience=arguments.patience,
            filtered=frozenset(arguments.filtered),
            slices=None if findings is None else Path(f"{findings}.slices"),
        ),
        state=None if arguments.state is None else Path(arguments.state),
        findings=findings,
    )


@contextmanager
def _stop_on_signals() -> Iterator[threading.Event]:
    stop = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Telling:
    """Everything that a user sees while it runs."""

    def __init__(self, arguments: argparse.Namespace, stack: ExitStack) -> None:
        self.watch: Watch
        self._arguments = arguments
        self._stack = stack
        self._snapshots: list[PairSnapshot] = []
        self._source: SourceSnapshot | None = None
        self._rates: dict[str, float] = {}
        self._held: dict[str, str] = {}
        self._last: deque[Finding] = deque(maxlen=5)
        self._webhook = None if arguments.webhook is None else Webhook(arguments.webhook)
        self._live: Live | None = None
        self._began = self._looked = time.monotonic()
        self._ended = threading.Event()

    def take(self, finding: Finding) -> None:
        """Tell of a finding."""
        self._last.append(finding)
        if self._webhook is not None:
            self._webhook.send(finding)
        if self._live is None:
            print(finding_text(finding), flush=True)

    def start(self) -> None:
        """Open the view and the server of metrics."""
        self._look()
        if self._arguments.metrics is not None:
            host, port = self._arguments.metrics
            server = MetricsServer(host, port, lambda: watch_metrics(self._snapshots, self._source))
            self._stack.callback(server.close)
            print(f"metrics: http://{host}:{server.port}/metrics", file=sys.stderr, flush=True)
        console = Console()
        if console.is_terminal and not self._arguments.plain:
            self._live = Live(console=console, transient=True, auto_refresh=False)
            self._live.start()
            self._stack.callback(self._live.stop)
        else:
            for pair in self._snapshots:
                print(f"watching {pair.name}", file=sys.stderr, flush=True)
        threading.Thread(target=self._explain, daemon=True).start()

    def _look(self) -> None:
        self._snapshots, self._source = self.watch.snapshots(), self.watch.source_snapshot()

    def beat(self) -> None:
        """Look at the numbers, once a second."""
        now = time.monotonic()
        passed = now - self._looked
        if passed < BEAT_S:
            return
        before = {pair.name: pair.counts.matched for pair in self._snapshots}
        self._look()
        self._rates = {
            pair.name: (pair.counts.matched - before[pair.name]) / passed
            for pair in self._snapshots
        }
        self._looked = now
        if self._live is not None:
            self._live.update(
                watch_view(
                    self._snapshots,
                    self._rates,
                    self._held,
                    list(self._last),
                    now - self._began,
                    self._source,
                ),
                refresh=True,
            )

    def _explain(self) -> None:
        streams = {pair.name: pair.target_stream for pair in self.watch.pairs}
        while not self._ended.wait(EXPLAIN_EVERY_S):
            for pair in self._snapshots:
                text = ""
                if pair.behind:
                    text = held_by(pair.oldest, pair.next, workers_of(streams[pair.name]))
                if text and self._live is None and text != self._held.get(pair.name):
                    print(f"{pair.name} waits for {text}", file=sys.stderr, flush=True)
                self._held[pair.name] = text

    def end(self) -> None:
        """Close the view, and send what waits."""
        self._ended.set()
        if self._live is not None:
            self._live.stop()
        if self._webhook is not None:
            self._webhook.close()
            if self._webhook.dropped:
                print(f"webhook: {self._webhook.dropped} findings not sent", file=sys.stderr)
