"""Comparison of appliers on one workload."""

from __future__ import annotations

import difflib
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from paraply.auditing.compared_rules import RULES
from paraply.auditing.logged_source import Extent, Source, logged_source, tracked_stamps
from paraply.errors import UNKNOWN_APPLIER
from paraply.reference_impl.comparison.appliers import (
    APPLIERS,
    ComparedApplier,
)
from paraply.reference_impl.comparison.measures import Bounds, Measured, bounds_of
from paraply.reference_impl.comparison.tasks import task_log
from paraply.reference_impl.workloads.stamps import (
    commit_groups,
)
from paraply.reference_impl.workloads.streams import STREAMS, TRANSACTIONS_MAX, transactions_of
from paraply.reference_impl.workloads.zipfian import THETA_DEFAULT
from paraply.sandbox.child import is_locked
from paraply.vocabulary.collector import without_collector
from paraply.vocabulary.errors import ParaplyError, register

BINLOG = "binlog"
"""The workload of a user's log."""
TRANSACTIONS = 2_000
WORKERS = 8
WORKERS_MAX = 1024
FORKS_FROM = 20_000
"""Minimum transactions for several processes."""
PROCESSES_MAX = 4
"""Each copies some hundreds of megabytes per 100,000 transactions."""
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
    return Source(log=log, stamps=tracked_stamps(log), has_commit_ids=True)
