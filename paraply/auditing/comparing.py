"""Comparison of appliers on one workload."""

from __future__ import annotations

import difflib
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from paraply.adapters.binlog.input_files import open_inputs
from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.text.dump import read_text_transactions
from paraply.adapters.binlog.transactions import read_transactions
from paraply.auditing.compared_rules import RULES
from paraply.errors import NOTHING_READ, UNKNOWN_APPLIER
from paraply.reference_impl.certification.trackers import CommitOrderTracker, WritesetTracker
from paraply.reference_impl.comparison.appliers import (
    APPLIERS,
    AS_LOGGED,
    COMMIT_ORDER,
    WRITESET,
    ComparedApplier,
)
from paraply.reference_impl.comparison.logged import LoggedTasks
from paraply.reference_impl.comparison.measures import Bounds, Measured, bounds_of, measured
from paraply.reference_impl.comparison.runs import Run
from paraply.reference_impl.comparison.tasks import TaskLog, task_log
from paraply.reference_impl.workloads.stamps import (
    commit_groups,
    commit_parents,
    restamped,
    timestamps,
    tracked_tasks,
)
from paraply.reference_impl.workloads.streams import STREAMS, TRANSACTIONS_MAX, transactions_of
from paraply.reference_impl.workloads.zipfian import THETA_DEFAULT
from paraply.sandbox.child import is_locked
from paraply.vocabulary.collector import without_collector
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.timestamps import LogicalTimestamp

BINLOG = "binlog"
"""The workload of a user's log."""
TRANSACTIONS = 2_000
WORKERS = 8
WORKERS_MAX = 1024
FORKS_FROM = 20_000
"""Minimum transactions for several processes."""
PROCESSES_MAX = 4
"""Each copies some hundreds of megabytes per 100,000 transactions."""
SAME_WITHIN = 0.01
"""Times that differ by this share at most are one prediction."""
ALL = {**APPLIERS, **RULES}

UNKNOWN_WORKLOAD = register(
    "P330",
    "there is no workload '{name}'{suggestion}",
    "choose one of: {known}",
)
LOG_AND_WORKLOAD = register(
    "P331",
    "{reason}",
    "give binary logs with --workload binlog, or none with the name of a generated workload",
)
COMPARISON_OUT_OF_RANGE = register(
    "P332",
    "{option} {value} is out of range",
    "choose {range}",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """What to compare.

    ``workload`` is generated or ``binlog``. 0 ``workers`` apply serially. ``transactions`` is
    generated, or a log's maximum (0: all). ``theta`` is key skew, in [0, 1). ``appliers`` are names
    or beginnings up to a dash (empty: all). ``schema`` is a dump.
    """

    workload: str
    workers: int = WORKERS
    transactions: int = TRANSACTIONS
    seed: int = 0
    theta: float = THETA_DEFAULT
    appliers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    schema: str | None = None


@dataclass(slots=True, kw_only=True)
class Source:
    """A log with its source's metadata."""

    log: TaskLog
    stamps: dict[str, Sequence[LogicalTimestamp | None]]
    """One stamp per transaction, by applier."""
    has_commit_ids: bool
    remarks: list[str] = field(default_factory=list)
    unknown_tables: tuple[str, ...] = ()
    """Tables of which keys or rows are unknown; they conflict as a whole."""
    is_contradicted: bool = False
    """Whether the log contradicts the schema dump."""
    freest: Source | None = None
    """The same log if unknown keys conflict with nothing; absent if all is known or the input
    cannot be read again."""
    makespans: dict[tuple[str, int], int] = field(default_factory=dict, init=False)
    """Ticks by applier and number of workers, as far as they were predicted."""

    def run(
        self,
        applier: ComparedApplier,
        workers: int,
        advance: Callable[[float], None] = lambda _: None,
    ) -> Measured:
        """Measure the log as applied with the applier's own stamps."""
        return measured(self.log, self.moments(applier, workers, advance))

    def moments(
        self,
        applier: ComparedApplier,
        workers: int,
        advance: Callable[[float], None] = lambda _: None,
    ) -> Run:
        """Apply the log with the applier's own stamps."""
        stamps = self.stamps.get(applier.stamps)
        if stamps is not None:
            for task, stamp in zip(self.log.tasks[1:], stamps, strict=True):
                task.stamp = stamp
        return applier.run(self.log, workers, advance)

    def rests_on_unknown(
        self, applier: ComparedApplier, workers: int, makespan: int | None
    ) -> bool:
        """Return whether other keys in the unknown tables could give another time."""
        if not self.unknown_tables:
            return False
        if self.freest is None or makespan is None:
            return True
        free = self.freest.moments(applier, workers)
        return not free.has_finished or abs(free.makespan - makespan) > SAME_WITHIN * makespan


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One applier's line."""

    applier: ComparedApplier
    measured: Measured
    rests_on_unknown: bool = False
    """Whether its time depends on unknown keys: then it is none to rely on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison."""

    request: CompareRequest
    transactions: int
    row_events: int
    conflicts: int
    barriers: int
    domains: int
    bounds: Bounds
    lines: tuple[Compared, ...]
    remarks: tuple[str, ...]


def compare(
    request: CompareRequest, advance: Callable[[float], None] = lambda _: None
) -> Comparison:
    """Run one log through appliers; ``advance`` receives the share done.

    Raises ``ParaplyError`` P304, P330, P331, P332, or reading errors.
    """
    check(request)
    chosen = appliers_named(request.appliers)
    with without_collector():  # A million small objects form no cycle.
        source = source_of(request)
        log = source.log
        bounds = bounds_of(log, request.workers)
        runs = [one for one in chosen if not one.stamps or one.stamps in source.stamps]
        lines = _lines(runs, source, request.workers, advance)
    return Comparison(
        request=request,
        transactions=log.count,
        row_events=sum(len(task.rows) for task in log.tasks),
        conflicts=log.conflicts,
        barriers=sum(task.is_barrier for task in log.tasks),
        domains=len(log.domains),
        bounds=bounds,
        lines=tuple(lines),
        remarks=tuple(source.remarks),
    )


def _lines(
    runs: Sequence[ComparedApplier],
    source: Source,
    workers: int,
    advance: Callable[[float], None],
) -> list[Compared]:
    processes = min(PROCESSES_MAX, os.cpu_count() or 1, len(runs))
    may_fork = "fork" in multiprocessing.get_all_start_methods() and not is_locked()
    if source.log.count < FORKS_FROM or processes < 2 or not may_fork:
        return [
            _line(applier, source, workers, _share_of(advance, place, len(runs), source.log.count))
            for place, applier in enumerate(runs)
        ]
    # Children have the log by being copies of this process: it is not sent to them.
    _SHARED[:] = [(runs, source, workers)]
    try:
        # Unlike multiprocessing.Pool it raises where a child was killed, and does not wait for it.
        fork = multiprocessing.get_context("fork")
        with ProcessPoolExecutor(processes, mp_context=fork) as pool:
            lines = []
            for place, found in enumerate(pool.map(_line_at, range(len(runs))), start=1):
                what, is_unknown = found
                lines.append(
                    Compared(applier=runs[place - 1], measured=what, rests_on_unknown=is_unknown)
                )
                advance(place / len(runs))
            return lines
    finally:
        _SHARED.clear()


_SHARED: list[tuple[Sequence[ComparedApplier], Source, int]] = []
"""Data for child processes."""


def _line_at(place: int) -> tuple[Measured, bool]:
    runs, source, workers = _SHARED[0]
    line = _line(runs[place], source, workers, lambda _: None)
    return line.measured, line.rests_on_unknown


def _line(
    applier: ComparedApplier, source: Source, workers: int, advance: Callable[[float], None]
) -> Compared:
    found = source.run(applier, workers, advance)
    return Compared(
        applier=applier,
        measured=found,
        rests_on_unknown=source.rests_on_unknown(applier, workers, found.makespan),
    )


def _share_of(
    advance: Callable[[float], None], place: int, runs: int, count: int
) -> Callable[[float], None]:
    return lambda done: advance((place + done / max(1, count)) / runs)


def check(request: CompareRequest) -> None:
    """Raise ``ParaplyError`` P330, P331 or P332 if invalid."""
    known = (*STREAMS, BINLOG)
    if request.workload not in known:
        close = difflib.get_close_matches(request.workload, known, n=1)
        raise ParaplyError(
            UNKNOWN_WORKLOAD, name=request.workload, known=", ".join(known),
            suggestion=f"; did you mean {close[0]}?" if close else "",
        )  # fmt: skip
    if request.workload == BINLOG and not request.files:
        raise ParaplyError(LOG_AND_WORKLOAD, reason="the workload binlog needs a binary log")
    if request.workload != BINLOG and request.files:
        reason = f"the workload {request.workload} is generated, and {request.files[0]} is a log"
        raise ParaplyError(LOG_AND_WORKLOAD, reason=reason)
    for option, value, is_in_range, values in (
        ("--workers", request.workers, 0 <= request.workers <= WORKERS_MAX,
         f"a number in [0, {WORKERS_MAX}]"),
        ("--transactions", request.transactions, 0 <= request.transactions <= TRANSACTIONS_MAX,
         f"a number in [0, {TRANSACTIONS_MAX:,}]"),
        ("--theta", request.theta, 0 <= request.theta < 1, "a number in [0, 1)"),
    ):  # fmt: skip
        if not is_in_range:
            raise ParaplyError(COMPARISON_OUT_OF_RANGE, option=option, value=value, range=values)


def appliers_named(names: Sequence[str]) -> list[ComparedApplier]:
    """Return the named appliers; ``mysql`` means all of MySQL's.

    Raises ``ParaplyError`` P304.
    """
    found = set()
    for name in names:
        matching = [one for one in ALL if one == name or one.startswith(f"{name}-")]
        if not matching:
            close = difflib.get_close_matches(name, ALL, n=1)
            raise ParaplyError(
                UNKNOWN_APPLIER, name=name, known=", ".join(ALL),
                suggestion=f"; did you mean {close[0]}?" if close else "",
            )  # fmt: skip
        found.update([name] if name in ALL else matching)
    return [applier for name, applier in ALL.items() if not names or name in found]


def source_of(request: CompareRequest) -> Source:
    """Return the requested log, generated or read."""
    if request.workload == BINLOG:
        return logged_source(
            request.files, request.schema, Extent(transactions_max=request.transactions)
        )
    transactions = transactions_of(
        STREAMS[request.workload], count=request.transactions, seed=request.seed,
        theta=request.theta,
    )  # fmt: skip
    groups = commit_groups(transactions, seed=request.seed)
    log = task_log(transactions, groups=groups)
    return Source(log=log, stamps=_stamps(log), has_commit_ids=True)


def _stamps(log: TaskLog) -> dict[str, Sequence[LogicalTimestamp | None]]:
    groups = [task.group for task in log.tasks[1:]]
    return {
        stamps: timestamps(tracked_tasks(log), groups, tracker)
        for stamps, tracker in (
            (COMMIT_ORDER, CommitOrderTracker()), (WRITESET, WritesetTracker()),
        )
    }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much of a log to take; 0 is all."""

    transactions_max: int = 0
    rows_max: int = 0

    def ends_before(self, transactions: int, rows: int) -> bool:
        """Return whether that many transactions and rows are enough."""
        return bool(
            (self.transactions_max and transactions >= self.transactions_max)
            or (self.rows_max and rows >= self.rows_max)
        )


def logged_source(files: Sequence[str], schema: str | None, extent: Extent) -> Source:
    """Return the beginning of a log as tasks, with the stamps that its source could have written.

    Raises ``ParaplyError`` for unreadable files.
    """
    source = _logged(files, schema, extent)
    if not source.unknown_tables:
        return source
    source.remarks.append(
        "keys or rows of these tables are unknown: a time that rests on them is not shown: "
        + ", ".join(source.unknown_tables)
    )
    if all(Path(file).is_file() for file in files):
        source.freest = _logged(files, schema, extent, unknown_is_free=True)
    return source


def _logged(
    files: Sequence[str], schema: str | None, extent: Extent, *, unknown_is_free: bool = False
) -> Source:
    registry = SchemaRegistry()
    if schema is not None:
        load_schema_file(registry, schema)
    keys = KeyBuilder(registry)
    tasks = LoggedTasks(keys, unknown_is_free=unknown_is_free)
    inputs, report = open_inputs(files), LogReport()

    def on_table_map(table: TableMap) -> None:
        registry.observe_table_map(table.table_schema())

    transactions = (
        read_text_transactions(inputs.sources, report=report)
        if inputs.is_text
        else read_transactions(inputs.sources, report=report, on_table_map=on_table_map)
    )
    remarks: list[str] = []
    count = rows = 0
    for txn in transactions:
        if extent.ends_before(count, rows):
            remarks.append(f"the first {count:,} transactions of the log only")
            break
        keys.complete_transaction(txn)
        tasks.add(txn)
        count, rows = count + 1, rows + len(txn.rows)
    faults = list(report.diagnostics())
    if not count and faults:
        raise ParaplyError(NOTHING_READ, reason=faults[0].text, remedy=faults[0].remedy)
    remarks += [f"not all could be read: {fault.text}" for fault in faults]
    log = tasks.log()
    stamps: dict[str, Sequence[LogicalTimestamp | None]] = {}
    if tasks.has_stamps:
        stamps[AS_LOGGED] = [task.stamp for task in log.tasks[1:]]
    if tasks.has_stamps:
        parents = commit_parents(log, stamps[AS_LOGGED])
        stamps[WRITESET] = restamped(log, parents, WritesetTracker())
    else:
        # What COMMIT_ORDER would have written is known from commit groups only.
        stamps = _stamps(log)
    return Source(
        log=log,
        stamps=stamps,
        has_commit_ids=tasks.has_commit_ids,
        remarks=remarks,
        unknown_tables=tuple(sorted(tasks.unknown_tables)),
        is_contradicted=bool(registry.doubts.distrusted),
    )
