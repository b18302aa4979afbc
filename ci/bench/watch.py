"""``paraply watch``: transactions per CPU second, with and without the audit of the source.

Also CPU seconds per minute, on logs that are idle and on those that grow slowly.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from ci.bench.generate_log import generate
from ci.bench.measure import interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.live_events import EventBlock
from paraply.adapters.servers.packets import PAUSE_S
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch, WatchRequest
from paraply.vocabulary.gtid_names import GtidNames
from tests.verifying.watch.runs import run_until
from tests.verifying.watch.sent_logs import SentLog

MEGABYTES_MAX = 24.0
"""The first 10 fill tables, a hundred rows a transaction."""
CORE_SHARE_MAX = 0.05
"""Of one core, idle or at a thousand transactions a second."""
PACES = (0, 10, 1_000)
"""Transactions per second of logs that grow with time."""
PACED_S = 20
PACED_MAX = 6_000
"""Transactions that are sent at a pace."""
BLOCK_BYTES = 1 << 16


class BlockLog(SentLog):
    """Sends blocks of events that are cut before, as a connection does."""

    def __init__(self, path: Path, name: str, *, is_mariadb: bool) -> None:
        super().__init__(path, name=name, is_mariadb=is_mariadb, block_bytes=BLOCK_BYTES)
        self._sent: list[tuple[str | None, bytes]] = []
        for each in super().events(GtidNames()):
            self._sent.append(each)
            if each[0] is None and not isinstance(each[1], EventBlock):
                break  # It is at its end.

    def events(self, after: GtidNames) -> Iterator[tuple[str | None, bytes]]:
        """Yield the log, to a connection that has nothing of it."""
        self._closed.clear()
        yield from self._sent
        while not self._closed.wait(PAUSE_S):
            yield self._sent[-1]


class PacedLog(BlockLog):
    """Sends its last transactions at a pace, and nothing more at pace 0."""

    def __init__(self, path: Path, name: str, *, is_mariadb: bool, pace: int) -> None:
        super().__init__(path, name, is_mariadb=is_mariadb)
        paced = min(pace * PACED_S, PACED_MAX)
        self.at_once = len(self.gtids) - paced
        self.seconds = paced / pace if pace else PACED_S
        self.goes_on = threading.Event()
        """Set: it sends the transactions that come at the pace."""
        self._tick_s = max(PAUSE_S, 1 / pace) if pace else PACED_S + 1
        self._block_bytes = 0
        events = list(self._events(GtidNames(), is_endless=False))
        begins = [
            at
            for at, (file, event) in enumerate(events)
            if file is None and event[4] in (EventType.GTID, EventType.MARIADB_GTID)
        ]
        step = max(1, round(pace * self._tick_s))
        ends = [*begins[self.at_once :: step], len(events)]
        self._sent = [
            events[0],
            *(
                (None, EventBlock(b"".join(event for _, event in events[first:last])))
                for first, last in pairwise([1, *ends])
                if first < last
            ),
        ]

    def events(self, after: GtidNames) -> Iterator[tuple[str | None, bytes]]:
        """Yield the log."""
        self._closed.clear()
        yield from self._sent[:2]
        while not self.goes_on.wait(PAUSE_S) and not self._closed.is_set():
            yield self._heartbeat()
        due = time.monotonic()
        for each in self._sent[2:]:
            due += self._tick_s
            if self._closed.wait(max(0.0, due - time.monotonic())):
                return
            yield each
        while not self._closed.wait(1.0):
            yield self._heartbeat()


def paced(path: Path, *, is_mariadb: bool, is_audited: bool, pace: int) -> float:
    """Return the share of a core."""
    source, audited, target = (
        PacedLog(path, name, is_mariadb=is_mariadb, pace=pace)
        for name in ("source", "source again", "target")
    )
    watch = Watch(
        WatchRequest(
            pairs=[(source, target)],
            audited=audited if is_audited else None,
            options=PairOptions(),
        )
    )
    began: list[tuple[float, float]] = []

    def is_over() -> bool:
        judged = watch.pairs[0].matched
        if watch.source is not None:
            judged = min(judged, watch.source.counts.transactions)
        if not began and judged >= target.at_once:
            began.append((time.monotonic(), time.process_time()))
            for log in (source, audited, target):
                log.goes_on.set()
        return bool(began) and time.monotonic() - began[0][0] >= target.seconds - 1

    watch.run(is_over, lambda: None)
    ((started, used),) = began
    return (time.process_time() - used) / (time.monotonic() - started)


@benchmark("watch")
def watch_logs(options: Options) -> Report:
    """Watch a generated log against itself, as fast as it is read."""
    report = Report(benchmark="watch", input=f"a log against itself; seed {options.seed}")
    for dialect in ("mariadb", "mysql"):
        path = options.folder / f"watch-{dialect}-{options.seed}.binlog"
        if not path.exists():
            size = int(min(options.megabytes, MEGABYTES_MAX) * 1e6)
            generate(path, dialect=dialect, size_bytes=size, seed=options.seed)
        source, audited, target = (
            BlockLog(path, name, is_mariadb=dialect == "mariadb")
            for name in ("source", "source again", "target")
        )
        transactions = len(target.gtids)

        def watch(
            is_audited: bool,
            source: BlockLog = source,
            audited: BlockLog = audited,
            target: BlockLog = target,
        ) -> None:
            request = WatchRequest(
                pairs=[(source, target)],
                audited=audited if is_audited else None,
                options=PairOptions(),
            )
            watch = Watch(request)

            def is_done(watch: Watch) -> bool:
                whole = len(target.gtids)
                if watch.source is not None and watch.source.counts.transactions < whole:
                    return False
                return watch.pairs[0].matched == whole

            run_until(watch, is_done)

        runs = interleave(
            {
                f"{dialect}, no audit": lambda: run_here(lambda: watch(False)),
                dialect: lambda: run_here(lambda: watch(True)),
            },
            options.rounds,
        )
        for name, result in runs.items():
            share = result.cpu_seconds / transactions * 1_000
            report.add(name, "transactions", transactions / result.cpu_seconds, "per CPU s")
            report.goals.append(
                Goal(
                    name=f"{name}: share of a core at 1,000 transactions/s",
                    wanted=CORE_SHARE_MAX,
                    got=share,
                    at_most=True,
                )
            )
        for pace in PACES:
            for is_audited in (False, True):
                share = paced(
                    path, is_mariadb=dialect == "mariadb", is_audited=is_audited, pace=pace
                )
                name = f"{dialect}, {pace}/s" + ("" if is_audited else ", no audit")
                report.add(name, "CPU", share * 60, "s per minute")
                report.goals.append(
                    Goal(
                        name=f"{name}: share of a core",
                        wanted=CORE_SHARE_MAX,
                        got=share,
                        at_most=True,
                    )
                )
    return report
