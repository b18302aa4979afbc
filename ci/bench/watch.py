"""``paraply watch``: transactions per CPU second, with and without the audit of the source.

Also CPU seconds per minute, on logs that are idle and on those that grow slowly.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ci.bench.generate_log import generate
from ci.bench.measure import interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.binlog.event_types import EventType
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch, WatchRequest
from paraply.vocabulary.gtid_names import GtidNames
from tests.verifying.watch.runs import run_until
from tests.verifying.watch.sent_logs import SentLog

MEGABYTES_MAX = 24.0
"""The first 10 fill tables, a hundred rows a transaction."""
CORE_SHARE_MAX = 0.05
"""Of one core, idle or at a thousand transactions a second."""
PACES = (0, 10)
"""Transactions per second of logs that grow slowly."""
PACED_S = 20


class PacedLog(SentLog):
    """Sends its last transactions at a pace, and nothing more at pace 0."""

    def __init__(self, path: Path, name: str, *, is_mariadb: bool, pace: int) -> None:
        super().__init__(path, name=name, is_mariadb=is_mariadb)
        self.at_once = len(self.gtids) - pace * PACED_S - 1
        self._pace = pace

    def events(self, after: GtidNames) -> Iterator[tuple[str | None, bytes]]:
        """Yield the log."""
        sent = 0
        for file, event in super().events(after):
            if file is None and event[4] in (EventType.GTID, EventType.MARIADB_GTID):
                sent += 1
                if sent > self.at_once:
                    self._closed.wait(1 / self._pace if self._pace else PACED_S + 1)
            yield file, event


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
        judged = watch.pairs[0].snapshot().counts.matched
        if watch.source is not None:
            judged = min(judged, watch.source.counts.transactions)
        if not began and judged >= target.at_once - 1:
            began.append((time.monotonic(), time.process_time()))
        return bool(began) and time.monotonic() - began[0][0] >= PACED_S

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
            SentLog(path, name=name, is_mariadb=dialect == "mariadb")
            for name in ("source", "source again", "target")
        )
        transactions = len(target.gtids)

        def watch(
            is_audited: bool,
            source: SentLog = source,
            audited: SentLog = audited,
            target: SentLog = target,
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
                return watch.pairs[0].snapshot().counts.matched == whole

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
