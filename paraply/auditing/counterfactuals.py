"""What the beginning of a log would give if something of its source or replica were changed.

Each change makes another log of the same transactions, which the appliers of ``paraply compare``
run. Its stamps follow from the logged commits (:mod:`paraply.reference_impl.workloads.stamps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from paraply.auditing.logged_source import Source
from paraply.reference_impl.certification.trackers import CommitOrderTracker, WritesetTracker
from paraply.reference_impl.comparison.appliers import APPLIERS, AS_LOGGED, WRITESET
from paraply.reference_impl.comparison.changed import (
    cut,
    hot_spots,
    keyless_tables,
    with_keys,
    without_row,
    without_table,
)
from paraply.reference_impl.comparison.tasks import TaskLog
from paraply.reference_impl.workloads.stamps import Parents, commit_parents, restamped
from paraply.vocabulary.audit_result import (
    Change,
    Counterfactual,
    LagPoint,
    Prediction,
    SourcePrice,
)
from paraply.vocabulary.timestamps import LogicalTimestamp

ROWS_MAX, TABLES_MAX = 3, 1
"""Rows and tables with most waits that are tried."""
KEYS_MAX = 3
"""Tables without a key, with most changed rows, that are tried with one each."""
PIECE_ROWS = (1_000, 100)
HISTORY_SIZES = (100_000, 1_000_000)
"""Of binlog_transaction_dependency_history_size, above the default; the last is the most."""
DELAYS_US = (100, 1_000, 10_000)
"""Of binlog_group_commit_sync_delay; a longer one must gain more."""
THROUGHPUT_MIN = 0.5
"""No delay is listed with which the source commits less than half as fast."""
SAME_SOURCE_WITHIN = 0.15
"""The simulated source without a delay must give the log's speed-up within this share."""
GAIN_MIN = 1.02
SHARPER_BY = 1.05
"""A table, or smaller pieces, must gain that much more than a row or key, or larger pieces."""
MATTERS_FROM = 1.2
TRACKED = "mysql-writeset"
HISTORY_DEFAULT = 25_000
LAG_POINTS = 20

Predict = Callable[[Source, str, Sequence[int]], Prediction]


class _ChangeOf(Protocol):
    def __call__(self, log: TaskLog, parents: Parents, /) -> tuple[TaskLog, Parents]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting that the log's servers have: its applier, and what to set."""

    applier: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How the log's servers may apply it.

    Attributes:
        now: the way that goes by the metadata alone.
        settings: other ways, of which a later one must gain more.
        workload: the way in which a changed workload is applied.
        forgets: whether its source keeps 25,000 items of write sets by default.
        always_tracks: whether its source always tracks write sets.
        delay: the source's option that delays group commits, or ''.
        workers: those with which a change is tried.
    """

    now: str
    settings: tuple[Setting, ...]
    workload: str
    forgets: bool = False
    always_tracks: bool = False
    delay: str = ""
    workers: int


@dataclass(frozen=True, slots=True)
class _Case:
    """One way to apply one log, with some workers."""

    source: Source
    applier: str
    workers: int
    speed: float
    """A safe speed-up that rests on known keys, or 0. It compares with one worker that applies the
    log as it is."""


def counterfactuals(
    source: Source, ways: Ways, known: Sequence[Prediction], predict: Predict
) -> list[Counterfactual]:
    """Return the changes that gain something, greatest gain first.

    A setting is compared with the present way, any other change with the best way to apply the log
    as it is. ``known`` are the predictions for that log. Why a delay of group commits is not
    predicted, where it may matter, is written to ``source.unpredicted_delay``.
    """
    found = _Found(source, ways, known, predict)
    found.try_settings()
    if ways.forgets:
        found.try_history()
    if ways.delay:
        found.try_delay()
    found.try_workload()
    return sorted(found.listed, key=lambda one: -one.gain)


class _Found:
    def __init__(
        self, source: Source, ways: Ways, known: Sequence[Prediction], predict: Predict
    ) -> None:
        self.source, self.ways, self.predict = source, ways, predict
        self.known = {one.applier: one for one in known}
        self.listed: list[Counterfactual] = []
        self._lags: dict[tuple[int, str, int, float], list[float]] = {}

    def best_of(self, appliers: Iterable[str]) -> _Case:
        """Return the fastest of some known ways, with at most as many workers as are tried."""
        cases = [
            _Case(self.source, name, workers, speed)
            for name in appliers
            for workers, speed in sorted(self.known[name].speedup.items())
            if workers <= self.ways.workers
        ]
        return max(cases, key=_speed, default=_Case(self.source, self.ways.now, 1, 0.0))

    def tried(self, source: Source, applier: str) -> _Case:
        """Return a case with as many workers as are tried."""
        workers = self.ways.workers
        is_known = source is self.source and applier in self.known
        found = self.known[applier] if is_known else self.predict(source, applier, (workers,))
        serially = self.source.log.work / max(1, source.log.work)
        return _Case(source, applier, workers, found.speedup.get(workers, 0.0) * serially)

    def try_settings(self) -> None:
        now = self.best_of([self.ways.now])
        best = 0.0
        for setting in self.ways.settings:
            then = self.best_of([setting.applier])
            if then.speed >= SHARPER_BY * best:
                self.note("setting", setting.change, now, then)
                best = then.speed

    def try_history(self) -> None:
        if len(self.source.log.numbers) <= HISTORY_DEFAULT:
            return  # It holds all of them.
        before = self.tried(self.source, TRACKED)
        for size in HISTORY_SIZES:
            source = self.tracked(self.source, size)
            change = f"binlog_transaction_dependency_history_size={size} on the source"
            if not self.ways.always_tracks:
                change += ", with binlog_transaction_dependency_tracking=WRITESET"
            if source.stamps[WRITESET] != before.source.stamps[WRITESET] and self.note(
                "history", change, before, self.tried(source, TRACKED)
            ):
                return
            if len(self.source.log.numbers) <= size:
                return  # A larger one would remember no more.

    def try_delay(self) -> None:
        now, way = self.best_of([self.ways.now]), self.ways.now
        if not now.speed or self.ways.workers < MATTERS_FROM * now.speed:
            return
        why_not = self.source.log.why_not_delayed
        if not why_not:
            before, same = self.tried(self.source, way), self.tried(self.delayed(0)[0], way)
            if abs(same.speed - before.speed) > SAME_SOURCE_WITHIN * before.speed:
                why_not = "its transactions do not depend on each other as in commit order"
        if why_not:
            # By write sets it would gain little.
            if not self.is_by_writeset():
                self.source.unpredicted_delay = f"{self.ways.delay} is not predicted: {why_not}"
            return
        speed = 0.0
        for delay in DELAYS_US:
            source, price = self.delayed(delay)
            then = self.tried(source, way)
            if price.throughput >= THROUGHPUT_MIN and then.speed >= SHARPER_BY * speed:
                speed = then.speed
                self.note("delay", f"{self.ways.delay}={delay} on the source", now, then, price)

    def delayed(self, delay: int) -> tuple[Source, SourcePrice]:
        """Return the log with a delay, and its price."""
        return delayed(self.source, delay, is_tracking=self.ways.always_tracks)

    def is_by_writeset(self) -> bool:
        """Return whether the source tracked write sets."""
        stamps = self.source.stamps
        is_as_tracked = AS_LOGGED in stamps and stamps[AS_LOGGED] == stamps.get(WRITESET)
        return self.ways.always_tracks or is_as_tracked

    def try_workload(self) -> None:
        log, way = self.source.log, self.ways.workload
        now = max(self.best_of(self.known), self.tried(self.source, way), key=_speed)
        if self.ways.workers < MATTERS_FROM * now.speed:
            return
        hot = hot_spots(log)
        self.note_fastest("row", now, [
            (f"a row of its own for each change of {row}",
             self.changed(partial(without_row, row=row)))
            for row in hot.rows[:ROWS_MAX]
        ])  # fmt: skip
        self.try_keys(now)
        finer_speed = self.speed_of("row", "key")
        tables = hot.tables[:TABLES_MAX] if len(_tables(log)) > 1 else []
        self.note_fastest("table", now, [
            (f"changes of {table} that do not meet each other",
             self.changed(partial(without_table, table=table)))
            for table in tables
        ], above=SHARPER_BY * finer_speed)  # fmt: skip
        largest = max((len(task.rows) for task in log.tasks), default=0)
        speed = 0.0
        for size in PIECE_ROWS:
            if size < largest:
                pieces = self.tried(self.restamped(self.source, partial(cut, rows_max=size)), way)
                if pieces.speed >= SHARPER_BY * speed:
                    speed = pieces.speed
                    self.note("pieces", f"transactions of at most {size:,} rows", now, pieces)

    def try_keys(self, now: _Case) -> None:
        keyless = keyless_tables(self.source.log)

        def case(tables: list[str]) -> tuple[str, Source]:
            named = ", ".join(tables) if len(tables) <= KEYS_MAX else f"{len(tables)} tables"
            return f"a PRIMARY KEY on {named}", self.changed(partial(with_keys, tables=tables))

        self.note_fastest("key", now, [case([table]) for table in keyless[:KEYS_MAX]])
        if len(keyless) > 1:
            # A transaction of two such tables gains from both keys only.
            self.note_fastest("key", now, [case(keyless)], above=SHARPER_BY * self.speed_of("key"))

    def speed_of(self, *kinds: Change) -> float:
        """Return the greatest speed-up of the changes listed so far, 0 without one."""
        return max((one.then for one in self.listed if one.kind in kinds), default=0.0)

    def note_fastest(
        self, kind: Change, now: _Case, tried: Sequence[tuple[str, Source]], above: float = 0.0
    ) -> None:
        """List the fastest of some changes, if it is faster than ``above``."""
        cases = [(text, self.tried(source, self.ways.workload)) for text, source in tried]
        best = max(cases, key=lambda one: one[1].speed, default=None)
        if best is not None and best[1].speed > above:
            self.note(kind, best[0], now, best[1])

    def note(
        self,
        kind: Change,
        change: str,
        now: _Case,
        then: _Case,
        price: SourcePrice | None = None,
    ) -> bool:
        """List a change if it gains something; but for settings, it replaces one of its kind."""
        if not now.speed or then.speed < GAIN_MIN * now.speed:
            return False
        matters = then.speed >= MATTERS_FROM * now.speed
        self.listed = [one for one in self.listed if one.kind != kind or kind == "setting"]
        self.listed.append(
            Counterfactual(
                kind=kind,
                change=change,
                now_applier=now.applier,
                now_workers=now.workers,
                now=round(now.speed, 4),
                applier=then.applier,
                workers=then.workers,
                then=round(then.speed, 4),
                lag=tuple(self.lag(now, then)) if matters else (),
                price=price,
            )
        )
        return True

    # Changed logs.

    def tracked(self, source: Source, size: int) -> Source:
        """Return a log as stamped by WRITESET with a history of some size."""
        parents = commit_parents(source.log, source.stamps[AS_LOGGED])
        stamps: Sequence[LogicalTimestamp | None]
        stamps = restamped(source.log, parents, WritesetTracker(size))
        freest = source.freest and self.tracked(source.freest, size)
        return replace(source, stamps={WRITESET: stamps}, freest=freest)

    def changed(self, change: Callable[[TaskLog], TaskLog]) -> Source:
        """Return the log with a change that keeps its transactions."""
        return self.restamped(self.source, lambda log, parents: (change(log), parents))

    def restamped(self, source: Source, change: _ChangeOf) -> Source:
        """Return a changed log with what its source stamps on it."""
        freest = source.freest and self.restamped(source.freest, change)
        stamps = APPLIERS[self.ways.workload].stamps
        if not stamps:
            log, _ = change(source.log, [0] * len(source.log.tasks))
            return replace(source, log=log, stamps={}, freest=freest)
        log, parents = change(source.log, commit_parents(source.log, source.stamps[AS_LOGGED]))
        tracker = WritesetTracker() if stamps == WRITESET else CommitOrderTracker()
        found: Sequence[LogicalTimestamp | None] = restamped(log, parents, tracker)
        return replace(source, log=log, stamps={stamps: found}, freest=freest)

    # Lag.

    def lag(self, now: _Case, then: _Case) -> Iterator[LagPoint]:
        """Yield the lag over the log's time, if a step takes so long that the way now keeps up."""
        times = _times(now.source.log)
        if len(set(times)) < LAG_POINTS:
            return
        span = times[-1] - times[0]
        makespan = now.source.makespans.get((now.applier, now.workers))
        if makespan is None:
            makespan = now.source.moments(APPLIERS[now.applier], now.workers).makespan
        step = span / makespan
        both = zip(self.lags(now, step, span), self.lags(then, step, span), strict=True)
        for place, (before, after) in enumerate(both, start=1):
            yield LagPoint(
                second=round(place * span / LAG_POINTS / 1e6, 3),
                now=round(before / 1e6, 3),
                then=round(after / 1e6, 3),
            )

    def lags(self, case: _Case, step: float, span: int) -> list[float]:
        """Return the greatest lag of each slice of the log's time, in microseconds."""
        key = id(case.source), case.applier, case.workers, step
        if case.source is not self.source:
            return _lags(case, step, span)
        if key not in self._lags:
            self._lags[key] = _lags(case, step, span)
        return self._lags[key]


def delayed(source: Source, delay: int, *, is_tracking: bool) -> tuple[Source, SourcePrice]:
    """Return a log with a delay, in microseconds, before each sync of its source, and the price.

    ``is_tracking``: the source tracks write sets, whatever its log shows.
    """
    commits = source.commits
    then = commits.delayed(delay)
    log, parents = commits.rewritten(source.log, then)
    is_by_writeset = is_tracking or not commits.is_by_commit_order
    tracker = WritesetTracker() if is_by_writeset else CommitOrderTracker()
    stamps: Sequence[LogicalTimestamp | None] = restamped(log, parents, tracker)
    freest = source.freest and delayed(source.freest, delay, is_tracking=is_tracking)[0]
    changed = replace(source, log=log, stamps={AS_LOGGED: stamps}, freest=freest)
    return changed, commits.price(then)


def _speed(case: _Case) -> float:
    return case.speed


def _tables(log: TaskLog) -> set[str]:
    return {row.table for task in log.tasks for row in task.rows}


def _times(log: TaskLog) -> list[int]:
    """Return rising commit times, or nothing if some are unknown."""
    found: list[int] = []
    for task in log.tasks[1:]:
        if task.logged_at_us is None:
            return []
        found.append(max(task.logged_at_us, found[-1] if found else 0))
    return found


def _lags(case: _Case, step: float, span: int) -> list[float]:
    tasks = case.source.log.tasks[1:]
    times = _times(case.source.log)
    for task, time in zip(tasks, times, strict=True):
        task.arrival = round((time - times[0]) / step)
    done = case.source.moments(APPLIERS[case.applier], case.workers).done[1:]
    found = [0.0] * LAG_POINTS
    for task, time, end in zip(tasks, times, done, strict=True):
        place = min(LAG_POINTS - 1, (time - times[0]) * LAG_POINTS // span)
        found[place] = max(found[place], (end - task.arrival) * step)
        task.arrival = 0
    return found
