"""``paraply watch``: transactions per CPU second, with and without the audit of the source."""

from __future__ import annotations

from ci.bench.generate_log import generate
from ci.bench.measure import interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.verifying.watch.pair import PairOptions
from paraply.verifying.watch.service import Watch, WatchRequest
from tests.verifying.watch.runs import run_until
from tests.verifying.watch.sent_logs import SentLog

MEGABYTES_MAX = 24.0
"""The first 10 fill tables, a hundred rows a transaction."""
CORE_SHARE_MAX = 0.05
"""Of one core, at a thousand transactions a second."""


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
    return report
