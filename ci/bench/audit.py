"""Benchmark ``audit``: a whole audit against mariadb-binlog -v and a naive checker.

The audit does everything. ``mariadb-binlog -v`` decodes the same file to /dev/null. The naive
checker builds a networkx graph of conflicts from keyed transactions.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

from ci.bench.generate_log import generate
from ci.bench.measure import Run, interleave, run_here, run_measured
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.transactions import read_transactions
from paraply.properties.logs.naive_conflict_graph import check_all_pairs
from paraply.properties.logs.overlap_rules import COMMIT_GROUP
from paraply.vocabulary.log import LoggedTransaction

DECODER = "mariadb-binlog"
SPEED_GOAL = 0.5
"""Bytes per second, relative to the decoder."""
NAIVE_GOAL = 50.0
MEMORY_GOAL_MB = 300.0
SMALL_MEGABYTES = 50.0
NAIVE_SLICES = (500, 1_000, 2_000)
_HOLDS_OR_UNKNOWN = frozenset({0, 2})


def _log(options: Options, megabytes: float) -> Path:
    path = options.folder / f"audit-{megabytes:g}mb-seed{options.seed}.000001"
    if not path.exists():
        made = path.with_suffix(".part")
        generate(made, dialect="mariadb", size_bytes=int(megabytes * 1e6), seed=options.seed)
        made.rename(path)
    return path


def _audit(path: Path, options: Options) -> Run:
    command = (sys.executable, "-m", "paraply", "audit", "--engine", "compiled", str(path))
    return run_measured(command, exit_codes=_HOLDS_OR_UNKNOWN, seconds_max=options.seconds_max)


def _decode(path: Path, options: Options) -> Run:
    return run_measured((DECODER, "-v", str(path)), seconds_max=options.seconds_max)


def _transactions(path: Path, count: int) -> list[LoggedTransaction]:
    registry = SchemaRegistry()

    def on_table_map(table: TableMap) -> None:
        registry.observe_table_map(table.table_schema())

    kept: list[LoggedTransaction] = []
    read = read_transactions([str(path)], on_table_map=on_table_map)
    for txn in follow(KeyBuilder(registry), read):
        if txn.commit_id is not None or kept:
            txn.rows = txn.rows[:]
            kept.append(txn)
            if len(kept) == count:
                break
    return kept


def _naive_rates(path: Path) -> list[tuple[int, float]]:
    transactions = _transactions(path, NAIVE_SLICES[-1])
    rates = []
    for size in NAIVE_SLICES:
        chosen = transactions[:size]
        run = run_here(partial(check_all_pairs, chosen, COMMIT_GROUP))
        rates.append((size, size / run.seconds))
    return rates


@benchmark("audit")
def audit(options: Options) -> Report:
    """Audit one large log."""
    path = _log(options, options.megabytes)
    size = path.stat().st_size
    count = _count(path)
    report = Report(
        benchmark="audit",
        input=f"{size:,} bytes, {count:,} transactions (MariaDB format, seed {options.seed})",
    )
    # The first run compiles the kernels; only later runs count.
    _audit(_log(options, min(SMALL_MEGABYTES, options.megabytes)), options)
    contestants = {"audit": lambda: _audit(path, options)}
    if shutil.which(DECODER):
        contestants[DECODER] = lambda: _decode(path, options)
    else:
        report.remarks.append(f"{DECODER} is not installed: no comparison with it")
    runs = interleave(contestants, options.rounds)
    for name, taken in runs.items():
        report.add(name, "throughput", size / 1e6 / taken.seconds, "MB/s")
        report.add(name, "CPU time", taken.cpu_seconds, "s")
        report.add(name, "peak memory", taken.peak_bytes / 1e6, "MB")
    ours = runs["audit"]
    report.add("audit", "transactions", count / ours.seconds, "1/s")
    if DECODER in runs:
        ratios = sorted(
            theirs.seconds / mine.seconds
            for mine, theirs in zip(ours.runs, runs[DECODER].runs, strict=True)
        )
        report.goals.append(
            Goal(
                name=f"speed of the audit / speed of {DECODER} -v (median of paired runs)",
                wanted=SPEED_GOAL,
                got=ratios[len(ratios) // 2],
            )
        )
    _compare_with_naive(report, path, count, count / ours.seconds)
    _compare_memory(report, options, ours.peak_bytes)
    return report


def _count(path: Path) -> int:
    with path.open("rb") as log:
        log.seek(-200, 2)
        tail = log.read()
    # The log ends with XID (31 bytes) and ROTATE.
    at = tail.rfind(b"\x10\x01\x00\x00\x00\x1f\x00\x00\x00")
    return int.from_bytes(tail[at + 15 : at + 23], "little")


def _compare_with_naive(report: Report, path: Path, count: int, ours: float) -> None:
    rates = _naive_rates(path)
    for size, rate in rates:
        report.add(f"networkx, {size:,} txns", "transactions", rate, "1/s")
    largest, rate = rates[-1]
    report.goals.append(
        Goal(
            name=f"transactions/s of the audit / of networkx all pairs on {largest:,} of them",
            wanted=NAIVE_GOAL,
            got=ours / rate,
        )
    )
    report.remarks.append(
        f"networkx was run on slices up to {largest:,} transactions, already decoded and keyed; "
        "its cost per transaction grows with their number, so on all "
        f"{count:,} it would be about {ours / rate * count / largest:,.0f} times slower "
        "(extrapolated, in proportion)"
    )


def _compare_memory(report: Report, options: Options, peak_bytes: int) -> None:
    report.goals.append(
        Goal(
            name="peak memory of the audit in MB",
            wanted=MEMORY_GOAL_MB,
            got=peak_bytes / 1e6,
            at_most=True,
        )
    )
    if options.megabytes <= SMALL_MEGABYTES:
        return
    small = _audit(_log(options, SMALL_MEGABYTES), options)
    report.add(f"audit, {SMALL_MEGABYTES:g} MB", "peak memory", small.peak_bytes / 1e6, "MB")
    report.remarks.append(
        "memory grows with the log only until the horizon of the judges is full "
        "(a million key touches), and with the rows that are live"
    )
