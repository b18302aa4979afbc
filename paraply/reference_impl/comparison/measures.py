"""Speed, order, positions and bounds of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.reference_impl.comparison.runs import NEVER, Run
from paraply.reference_impl.comparison.tasks import RowEvent, Task, TaskLog


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of any run, in ticks.

    Attributes:
        work: ticks of the serial applier.
        critical_path: the longest chain of row events and commits, by conflicts and transaction
            order. It bounds only appliers that keep dependencies and whole transactions.
    """

    work: int
    critical_path: int
    workers: int

    @property
    def makespan_min(self) -> int:
        """Return the minimum number of ticks."""
        return max(self.critical_path, -(-self.work // self.workers))

    @property
    def speedup_max(self) -> float:
        """Return the greatest speed-up."""
        return self.work / self.makespan_min if self.makespan_min else 1.0


def bounds_of(log: TaskLog, workers: int) -> Bounds:
    """Return a log's bounds."""
    done = [0] * len(log.tasks)
    latest = 0
    for task in log.tasks[1:]:
        now = latest if task.is_barrier else done[task.barrier_before]
        for row in task.rows:
            for other in row.follows:
                now = max(now, done[other])
            now += log.costs.row
        done[task.number] = now + log.costs.of_commit(task)
        latest = max(latest, done[task.number])
    return Bounds(work=log.work, critical_path=latest, workers=max(1, workers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Measures of one applier on one log.

    Attributes:
        makespan: ticks, or None after a stall.
        out_of_order: transactions committed before an earlier one.
        overlaps: surviving row events before a conflicting commit.
        misapplied: row events on a wrong version; a strict replica stops there.
        partly_visible: transactions with an early visible part.
        ends_as_serial: whether every row has the log's last writer.
        gap_max: most transactions committed past the first uncommitted one; 0: one position
            suffices.
        gap_ticks: ticks with a gap.
        domain_gap_max: greatest gap within a domain.
        syncs: syncs of the replica's log.
        has_spare_workers: the same is measured with more workers.
    """

    makespan: int | None
    applied: int
    out_of_order: int
    overlaps: int
    misapplied: int
    partly_visible: int
    ends_as_serial: bool
    gap_max: int
    gap_ticks: int
    domain_gap_max: int
    retries: int
    syncs: int
    has_spare_workers: bool

    def speedup(self, work: int) -> float | None:
        """Return the speed-up, None after a stall."""
        if self.makespan is None:
            return None
        return work / self.makespan if self.makespan else 1.0


def measured(log: TaskLog, run: Run) -> Measured:
    """Return the measures of a run."""
    order = sorted(
        (number for number in range(1, len(run.done)) if run.done[number] != NEVER),
        key=lambda number: (run.done[number], number),
    )
    gap_max, gap_ticks = _gaps(order, run)
    return Measured(
        makespan=run.makespan if run.has_finished else None,
        applied=len(order),
        out_of_order=_out_of_order(run),
        overlaps=sum(1 for _ in _overlaps(log, run)),
        misapplied=run.misapplied,
        partly_visible=_partly_visible(log, run),
        ends_as_serial=_ends_as_serial(log, run),
        gap_max=gap_max,
        gap_ticks=gap_ticks,
        domain_gap_max=max((
            _gaps([n for n in order if log.tasks[n].domain == domain], run,
                  [task.number for task in log.tasks[1:] if task.domain == domain])[0]
            for domain in log.domains), default=0) if len(log.domains) > 1 else gap_max,
        retries=run.retries,
        syncs=run.syncs,
        has_spare_workers=run.has_spare_workers,
    )  # fmt: skip


def is_as_serial(log: TaskLog, run: Run) -> bool:
    """Return whether all row events meet what they do serially, and leave the same rows."""
    return (
        not run.misapplied and _ends_as_serial(log, run) and next(_overlaps(log, run), None) is None
    )


def _ends_as_serial(log: TaskLog, run: Run) -> bool:
    return run.has_finished and run.versions == log.last_writers


def _out_of_order(run: Run) -> int:
    latest, count = 0, 0
    for done in run.done[1:]:
        if done == NEVER:
            # It never commits, so every later commit overtakes it.
            latest = 1 << 62
            continue
        count += done < latest
        latest = max(latest, done)
    return count


def _overlaps(log: TaskLog, run: Run) -> Iterator[tuple[int, int]]:
    jobs = run.job_of
    latest = latest_number = 0
    for task in log.tasks[1:]:
        number = task.number
        if task.is_barrier:
            if NEVER != run.begun[number] < latest:
                yield latest_number, number
        elif run.touched[number]:
            barrier = task.barrier_before
            if barrier and not _has_ended(run.done[barrier], run.touched[number][0]):
                yield barrier, number
            stops = log.meetings.stops[number]
            place = stops[0]
            while place < len(run.touched[number]):
                row = task.rows[place]
                for other in row.follows:
                    if jobs and jobs[other] == jobs[number]:
                        continue
                    if not _has_ended(
                        _settled(log.tasks[other], row, run), run.touched[number][place]
                    ):
                        yield other, number
                place = stops[place + 1]
        done = run.done[number]
        if done == NEVER or done > latest:
            latest, latest_number = (1 << 62 if done == NEVER else done), number


def _settled(other: Task, row: RowEvent, run: Run) -> int:
    if not run.settled:
        return run.done[other.number]
    mine = {*row.writes, *row.reads}
    shared = {key for one in other.rows for key in one.writes if key in mine}
    # A reader of a key blocks it until it is done.
    return max(
        (run.settled_at(other.number, key) for key in shared), default=run.done[other.number]
    )


def _has_ended(done: int, moment: int) -> bool:
    return done != NEVER and done <= moment


def _partly_visible(log: TaskLog, run: Run) -> int:
    if not run.settled:
        return 0
    return sum(
        len({run.settled[task.number, key] for row in task.rows for key in row.writes}) > 1
        for task in log.tasks[1:]
    )


def _gaps(order: list[int], run: Run, numbers: list[int] | None = None) -> tuple[int, int]:
    wanted = numbers if numbers is not None else range(1, len(run.done))
    place_of = {number: place for place, number in enumerate(wanted)}
    committed = bytearray(len(place_of) + 1)
    mark = count = gap_max = gap_ticks = 0
    began = NEVER
    for at, number in enumerate(order):
        committed[place_of[number]] = 1
        count += 1
        while committed[mark]:
            mark += 1
        moment = run.done[number]
        if at + 1 < len(order) and run.done[order[at + 1]] == moment:
            continue
        if began != NEVER:
            gap_ticks += moment - began
        gap_max = max(gap_max, count - mark)
        began = moment if count > mark else NEVER
    return gap_max, gap_ticks
