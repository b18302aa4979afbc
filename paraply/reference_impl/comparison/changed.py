"""A log as it were with a row or table that orders less, or without large transactions.

Only what conflicts changes: rows, commits and their costs stay. A transaction that waited for a
lock at the source, and met what is gone, is taken to have waited for that. Stamps of a source are
those of :func:`paraply.reference_impl.workloads.stamps.restamped`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from paraply.reference_impl.comparison.tasks import (
    NOBODY,
    WITHOUT_KEY,
    LogBuilder,
    RowEvent,
    Task,
    TaskLog,
    WholeTable,
)
from paraply.reference_impl.workloads.stamps import Parents
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import WHOLE_ROW

NEAR = 64
"""Transactions between two changes of a row that may wait for each other."""


@dataclass(frozen=True, slots=True)
class HotSpots:
    """What nearby transactions share, most waits first."""

    rows: list[ConflictKey]
    tables: list[str]


def hot_spots(log: TaskLog) -> HotSpots:
    """Return the rows and tables that order most transactions."""
    rows: list[ConflictKey] = []
    tables: Counter[str] = Counter()
    waits, subjects = _waits(log), log.subjects
    for key in sorted(waits, key=lambda key: (-waits[key], key)):
        subject = subjects[key]
        assert isinstance(subject, ConflictKey | WholeTable)
        tables[subject.table] += waits[key]
        if isinstance(subject, ConflictKey):
            rows.append(subject)
    return HotSpots(rows, sorted(tables, key=lambda table: (-tables[table], table)))


def _waits(log: TaskLog) -> Counter[int]:
    found: Counter[int] = Counter()
    for task in log.tasks[1:]:
        for row in task.rows:
            for key, writer in zip((*row.writes, *row.reads), row.expected, strict=True):
                if writer != NOBODY and 0 < task.number - writer <= NEAR:
                    found[key] += 1
    return found


def without_row(log: TaskLog, row: ConflictKey) -> TaskLog:
    """Return the log if each change of a row had a row of its own."""
    gone = {log.numbers[row]} if row in log.numbers else set()
    of_table = {
        number
        for number, subject in enumerate(log.subjects)
        if isinstance(subject, ConflictKey) and subject.table == row.table
    }

    def written(event: RowEvent) -> set[int]:
        # The row's other keys go with it.
        is_change = event.table == row.table and not gone.isdisjoint(event.writes)
        return of_table if is_change else gone

    return _without(log, gone, written)


def without_table(log: TaskLog, table: str) -> TaskLog:
    """Return the log if no change of a table met another one."""
    gone = {
        number
        for number, subject in enumerate(log.subjects)
        if isinstance(subject, ConflictKey | WholeTable) and subject.table == table
    }
    return _without(log, gone, lambda _: gone)


def _without(log: TaskLog, read: set[int], written: Callable[[RowEvent], set[int]]) -> TaskLog:
    builder, subjects = _builder_like(log), log.subjects
    builder.may_meet = log.met

    def instead(keys: Iterable[int], gone: set[int], number: int) -> Iterator[int]:
        for key in keys:
            if key not in gone:
                yield key
            elif not isinstance(subjects[key], WholeTable):
                yield builder.key((subjects[key], "of", number))

    for task in log.tasks[1:]:
        rows, has_met = [], False
        for row in task.rows:
            writes, reads, gone = row.writes, row.reads, written(row)
            if gone.isdisjoint(writes) and read.isdisjoint(reads):
                if log.met.isdisjoint(writes) and log.met.isdisjoint(reads):
                    rows.append(row)
                    continue
            else:
                writes = tuple(instead(writes, gone, task.number))
                reads = tuple(instead(reads, read, task.number))
                has_met = True
            rows.append(RowEvent(table=row.table, writes=writes, reads=reads))
        added = builder.add_changed(task, rows)
        # The log does not say for which lock.
        added.has_waited &= not has_met
    return _finished(builder, log)


def keyless_tables(log: TaskLog) -> list[str]:
    """Return the tables in which rows without a key changed, most changed rows first.

    Those of which the log does not show the rows are not among them.
    """
    changes = Counter(
        row.table for task in log.tasks for row in task.rows if row.identity is not None
    )
    return sorted(
        (
            table
            for table in changes
            if WholeTable(table, WITHOUT_KEY) in log.numbers and table not in log.unfollowed_tables
        ),
        key=lambda table: (-changes[table], table),
    )


def with_keys(log: TaskLog, tables: Collection[str]) -> TaskLog:
    """Return the log if each row of some tables had a key that never changes, and never returns.

    An AUTO_INCREMENT column is such a key.
    """
    builder = _builder_like(log)
    wholes = {builder.key(WholeTable(table, WITHOUT_KEY)) for table in tables}

    def key_of(row: RowEvent) -> tuple[int, ...]:
        if row.table not in tables or row.identity is None:
            return ()
        number = (row.identity,)
        return (builder.key(ConflictKey(table=row.table, index=WHOLE_ROW, values=number)),)

    builder.may_meet = log.met | {
        key for task in log.tasks for row in task.rows for key in key_of(row)
    }
    for task in log.tasks[1:]:
        rows, has_met, is_late = [], False, True
        for row in task.rows:
            own = key_of(row)
            writes = (*own, *(key for key in row.writes if key not in wholes))
            reads = tuple(key for key in row.reads if key not in wholes)
            has_met |= not wholes.isdisjoint((*row.writes, *row.reads))
            writers = [builder.writers[key] for key in own if key in builder.writers]
            is_late &= all(task.number - writer > NEAR for writer in writers)
            if (writes, reads) != (row.writes, row.reads) or not log.met.isdisjoint(writes + reads):
                row = RowEvent(table=row.table, writes=writes, reads=reads)
            rows.append(row)
        added = builder.add_changed(task, rows)
        added.unkeyed_tables = task.unkeyed_tables.difference(tables)
        # The log does not say for which lock. A nearby change of the same row still has it.
        added.has_waited &= not (has_met and is_late)
    found = _finished(builder, log)
    found.keys_of_table = {
        table: keys + (table in tables) for table, keys in log.keys_of_table.items()
    }
    return found


def cut(log: TaskLog, parents: Parents, rows_max: int) -> tuple[TaskLog, list[int | None]]:
    """Return the log with transactions of at most so many row events, and its commit parents.

    One session commits the pieces, each in a commit group of its own but for the neighbours of the
    first and the last. Each piece locks the foreign key parents that the whole transaction does.
    """
    builder, subjects = _builder_like(log), log.subjects
    found: list[int | None] = [None]
    last = [NOBODY] * len(log.tasks)
    """Task -> its last piece."""
    groups: dict[int, int] = {}
    latest = 0
    before_last_piece = NOBODY
    for task in log.tasks[1:]:
        parent = parents[task.number]
        for number, rows in enumerate(_pieces(task, subjects, rows_max)):
            piece = builder.add_changed(task, rows)
            if number or task.group not in groups:
                latest += 1
                groups[task.group] = latest
            piece.group = groups[task.group]
            if parent is not None:
                # What overlapped the whole one overlaps its last piece.
                parent = piece.number - 1 if number else max(last[parent], before_last_piece)
            found.append(parent)
        last[task.number] = piece.number
        if number:
            before_last_piece = piece.number - 1
    return _finished(builder, log), found


def _pieces(task: Task, subjects: Sequence[object], rows_max: int) -> Iterator[list[RowEvent]]:
    if len(task.rows) <= rows_max:
        yield [replace(row) for row in task.rows]
        return
    first = task.rows[0]
    shared = tuple(key for key in first.writes if isinstance(subjects[key], WholeTable))
    for begin in range(0, len(task.rows), rows_max):
        rows = [replace(row) for row in task.rows[begin : begin + rows_max]]
        if begin:
            rows[0].writes += shared
            rows[0].reads += first.reads
        yield rows


def _builder_like(log: TaskLog) -> LogBuilder:
    return LogBuilder(numbers=dict(log.numbers))


def _finished(builder: LogBuilder, log: TaskLog) -> TaskLog:
    found = builder.log()
    found.keys_of_table, found.costs = log.keys_of_table, log.costs
    found.unfollowed_tables = log.unfollowed_tables
    return found
