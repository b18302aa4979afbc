"""``paraply verify``: row changes per CPU second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random

import numpy as np
import psutil

from ci.bench.generate_log import generate
from ci.bench.measure import Run, interleave, run_here, run_measured
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.properties.two_logs.commits import Commit
from paraply.properties.two_logs.compiled.columns import CommitColumns
from paraply.properties.two_logs.compiled.prefixes import judge_prefixes
from paraply.properties.two_logs.fingerprints import fingerprint
from paraply.properties.two_logs.streaming import judge_streaming
from paraply.verifying.pipeline import VerifyRequest, verify
from paraply.vocabulary.errors import ParaplyError

COMMITS = 10_000
KEYS = 100_000
ROWS = 3
MEGABYTES_MAX = 64.0
READABLE_MEGABYTES_MAX = 8.0
JUDGE_MIN, WHOLE_MIN = 60_000, 11_000
"""A prototype's changes per CPU second, in plain Python."""
COMPILED_JUDGE_MIN, COMPILED_WHOLE_MIN = 1_000_000, 500_000
COMPILED_COMMITS = 300_000
LIVE_ROWS = {"compiled": 1_000_000, "readable": 300_000}
FEW_ROWS = 3_000
TABLE_ROWS = 1_000_000


def made_commits(seed: int) -> list[Commit]:
    """Return commits of three updated rows each."""
    chance = Random(seed)
    held: dict[int, int] = {}
    commits = []
    for number in range(COMMITS):
        changes = {}
        for key in chance.sample(range(KEYS), ROWS):
            value = fingerprint(b"bench", key, number)
            changes[key] = (held.get(key, 1), value)
            held[key] = value
        commits.append(Commit(changes=changes))
    return commits


def swapped(commits: list[Commit]) -> list[Commit]:
    """Swap every fourth pair without a common row."""
    order = list(commits)
    for at in range(0, COMMITS - 1, 4):
        if not order[at].changes.keys() & order[at + 1].changes.keys():
            order[at], order[at + 1] = order[at + 1], order[at]
    return order


def split(commits: list[Commit]) -> list[Commit]:
    """Return a commit per row."""
    return [Commit(changes={key: pair}) for c in commits for key, pair in c.changes.items()]


def many_columns(seed: int) -> CommitColumns:
    """Return columns of commits of three updated rows each."""
    chance = np.random.default_rng(seed)
    rows = COMPILED_COMMITS * ROWS
    at = chance.integers(0, KEYS, rows)
    # A row twice in one commit is as good as any other change here.
    values = chance.integers(1, 1 << 63, (rows + KEYS, 2), np.uint64)
    order = np.argsort(at, kind="stable")
    before = np.empty((rows, 2), np.uint64)
    previous = np.roll(order, 1)
    starts = np.concatenate([[True], np.diff(at[order]) != 0])
    before[order] = np.where(starts[:, None], values[rows + at[order]], values[previous])
    return CommitColumns(
        ends=np.arange(ROWS, rows + 1, ROWS),
        keys=chance.integers(1, 1 << 63, (KEYS, 2), np.uint64)[at],
        before=before,
        after=values[:rows],
        rewritten=np.zeros(rows, np.bool_),
        counts=np.zeros(rows, np.bool_),
    )


def checksum_cpu_seconds() -> float | None:
    """Return a server's CPU seconds for CHECKSUM TABLE of a million rows; None without one."""
    try:
        installation = find_mariadb()
    except ParaplyError:
        return None
    with ServerRoom() as room:
        server = room.start(installation)
        server.run(
            [
                "CREATE DATABASE shop",
                "CREATE TABLE shop.account (id INT PRIMARY KEY, balance BIGINT, version BIGINT)",
                f"INSERT INTO shop.account SELECT seq, seq, 1 FROM shop.seq_1_to_{TABLE_ROWS}",
                "CHECKSUM TABLE shop.account",
            ]
        )
        process = psutil.Process(server.process.pid)
        before = process.cpu_times()
        server.run(["CHECKSUM TABLE shop.account"])
        after = process.cpu_times()
    return float(after.user + after.system - before.user - before.system)


@benchmark("verify")
def verify_logs(options: Options) -> Report:
    """Judge synthetic commits and generated logs."""
    report = Report(
        benchmark="verify",
        input=f"{COMMITS:,} made commits of {ROWS} rows, {COMPILED_COMMITS:,} for the compiled "
        f"judge; logs against themselves; seed {options.seed}",
    )
    requests = {
        name: _request(options, most, engine)
        for name, most, engine in (
            ("log, readable engine", READABLE_MEGABYTES_MAX, "readable"),
            ("log, compiled engine", MEGABYTES_MAX, "auto"),
        )
    }
    results = {name: verify(request) for name, request in requests.items()}
    source, columns = made_commits(options.seed), many_columns(options.seed)
    judged = {"serial": source, "swapped": swapped(source), "split": split(source)}
    changes = dict.fromkeys(judged, 2 * COMMITS * ROWS)
    changes["serial, compiled judge"] = 2 * COMPILED_COMMITS * ROWS
    changes |= {name: seen.source.changes + seen.target.changes for name, seen in results.items()}

    def compiled() -> None:
        found = judge_prefixes(columns, columns, window=COMPILED_COMMITS)
        assert found is not None

    def judging(target: list[Commit]) -> Callable[[], Run]:
        return lambda: run_here(lambda: judge_streaming(source, target))

    def reading(request: VerifyRequest) -> Callable[[], Run]:
        return lambda: run_here(lambda: verify(request))

    compiled()
    runs = interleave(
        {name: judging(target) for name, target in judged.items()}
        | {"serial, compiled judge": lambda: run_here(compiled)}
        | {name: reading(request) for name, request in requests.items()},
        options.rounds,
    )
    least = dict.fromkeys(judged, JUDGE_MIN) | {
        "serial, compiled judge": COMPILED_JUDGE_MIN,
        "log, readable engine": WHOLE_MIN,
        "log, compiled engine": COMPILED_WHOLE_MIN,
    }
    for name, result in runs.items():
        speed = changes[name] / result.cpu_seconds
        report.add(name, "row changes of both logs", speed, "per CPU s")
        report.goals.append(Goal(name=f"{name}: per CPU second", wanted=least[name], got=speed))
    for engine, rows in LIVE_ROWS.items():
        report.add(
            engine, "memory", _megabytes_per_million(engine, rows, options), "MB per 10^6 rows"
        )
    checksum = checksum_cpu_seconds()
    if checksum is None:
        report.remarks.append("no MariaDB: CHECKSUM TABLE was not measured")
    else:
        name = "log, compiled engine"
        seen, whole = results[name], checksum * results[name].target.judged
        report.add("CHECKSUM TABLE of 10^6 rows", "CPU", checksum, "s")
        report.add(
            f"at each of {seen.target.judged:,} commits", "CPU", whole / runs[name].cpu_seconds,
            "times verify",
        )  # fmt: skip
    return report


def _request(options: Options, most: float, engine: str) -> VerifyRequest:
    size = int(min(options.megabytes, most) * 1e6)
    path = options.folder / f"verify-{size}-{options.seed}.binlog"
    if not path.exists():
        generate(path, dialect="mariadb", size_bytes=size, seed=options.seed)
    return VerifyRequest(source=(str(path),), target=(str(path),), engine=engine)


def _megabytes_per_million(engine: str, rows: int, options: Options) -> float:
    """Return the growth of peak memory with rows, those of both logs' columns included."""
    peaks = [
        run_measured(
            [sys.executable, "-m", "ci.bench.live_rows", str(count), engine],
            seconds_max=options.seconds_max,
        ).peak_bytes
        for count in (FEW_ROWS, rows)
    ]
    return (peaks[1] - peaks[0]) / (rows - FEW_ROWS)
