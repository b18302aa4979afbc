"""A log for the clock: numbered keys, and row event predecessors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from paraply.reference_impl.applier.row_store import item_of
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import Transaction

NOBODY = 0
"""Writer of the initial state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The time of each step, in ticks; the defaults are those of ``docs/compare.md``.

    Attributes:
        row: a row event.
        commit: a commit with its sync.
        ddl: a DDL with its commit.
        undo: from a lost deadlock to the end of the rollback.
    """

    row: int = 1
    commit: int = 1
    ddl: int = 1
    undo: int = 1

    def of_commit(self, task: Task) -> int:
        """Return the time of a commit, or of a whole DDL."""
        return self.ddl if task.is_barrier else self.commit

    def of(self, task: Task) -> int:
        """Return the time of a transaction without any wait."""
        return self.row * len(task.rows) + self.of_commit(task)


@dataclass(slots=True, kw_only=True)
class RowEvent:
    """One row event.

    Attributes:
        writes: changed keys, locked until the commit.
        reads: parent keys of foreign keys, under a shared lock.
        expected: last earlier writer of each of ``writes`` and ``reads``.
        follows: tasks that must commit first, in log order: writers of its keys, readers of written
            keys.
        identity: number of the changed row in a table without a key, if known; no lock.
    """

    table: str
    writes: tuple[int, ...]
    reads: tuple[int, ...] = ()
    expected: tuple[int, ...] = ()
    follows: tuple[int, ...] = ()
    identity: int | None = None


@dataclass(slots=True, kw_only=True)
class Task:
    """One transaction of the log.

    Attributes:
        number: its place in the log, from 1.
        rows: its row events; none for a DDL.
        is_barrier: its keys are unknown: it runs alone.
        barrier_before: the last earlier barrier, or ``NOBODY``.
        stamp: last_committed and sequence_number, if any.
        clock: run of the logical clock.
        group: source commit group; adjacent equal numbers are one.
        is_held_back: it must not run in parallel.
        has_waited: it waited for a lock at the source.
        is_irreversible: it changed a table without transactions, and cannot be rolled back.
        unkeyed_tables: those of which it changed rows without a key, or with unknown keys.
        has_referenced_tables: it changed a table that foreign keys reference.
        logged_at_us: microseconds since 1970 of its commit at the source, if logged.
        session: the client's connection, if logged.
        written_at_us: as ``logged_at_us``, but to the microsecond or not at all.
        arrival: ticks until it reaches the replica.
    """

    number: int
    rows: tuple[RowEvent, ...]
    is_barrier: bool = False
    barrier_before: int = NOBODY
    stamp: LogicalTimestamp | None = None
    clock: int = 0
    group: int = 0
    domain: int = 0
    is_held_back: bool = False
    has_waited: bool = False
    is_irreversible: bool = False
    unkeyed_tables: frozenset[str] = frozenset()
    has_referenced_tables: bool = False
    logged_at_us: int | None = None
    session: int | None = None
    written_at_us: int | None = None
    arrival: int = 0

    @property
    def is_marked(self) -> bool:
        """Return whether optimistic mode does not speculate with it."""
        return self.is_held_back or self.has_waited

    @property
    def has_missing_keys(self) -> bool:
        """Return whether it changed a table without a key, or with unknown keys."""
        return bool(self.unkeyed_tables)

    @property
    def tables(self) -> set[str]:
        """Return the tables that it changes."""
        return {row.table for row in self.rows}


WITHOUT_KEY = "without a key"
AS_A_WHOLE = "as a whole"
"""Why changes share a table: its rows have no key, or what they change is not known."""


@dataclass(frozen=True, slots=True)
class WholeTable:
    """What changes of a table share without a common key."""

    table: str
    why: str

    def __str__(self) -> str:
        return f"{self.table} {self.why}"


@dataclass(slots=True)
class Meetings:
    """What of a log can make a task wait or fail: the keys over which tasks conflict.

    Attributes:
        rows: each task's row events, with those keys alone.
        stops: task -> by place of a row event, the first from there on with such a key.
        writes: task -> such keys that it writes.
        alone: any other written key -> its only writer.
    """

    rows: list[tuple[RowEvent, ...]]
    stops: list[list[int]]
    writes: list[list[int]]
    alone: dict[int, int]


@dataclass(slots=True)
class TaskLog:
    """A log's tasks; ``tasks[0]`` is the initial state."""

    tasks: list[Task]
    numbers: dict[object, int]
    """What each key names -> the key's number."""
    last_writers: dict[int, int]
    """Key -> last writer."""
    conflicts: int = 0
    """Pairs of row event and predecessor."""
    keys_of_table: dict[str, int] = field(default_factory=dict)
    """Table -> number of PRIMARY and UNIQUE keys."""
    unfollowed_tables: frozenset[str] = frozenset()
    """Those with changes of which the log does not show the row."""
    why_not_delayed: str = ""
    """What the log lacks to show its source with another group commit."""
    costs: Costs = field(default_factory=Costs)
    met: set[int] = field(default_factory=set)
    """The keys over which tasks conflict."""
    _meetings: Meetings | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def meetings(self) -> Meetings:
        """Return the row events as far as tasks conflict over them."""
        if self._meetings is None:
            rows = [tuple(_meeting(row, self.met) for row in task.rows) for task in self.tasks]
            self._meetings = Meetings(
                rows=rows,
                stops=list(map(_stops, rows)),
                writes=[[key for row in of_task for key in row.writes] for of_task in rows],
                alone={key: last for key, last in self.last_writers.items() if key not in self.met},
            )
        return self._meetings

    @property
    def subjects(self) -> list[object]:
        """Return what each key names, by number."""
        return list(self.numbers)

    @property
    def count(self) -> int:
        """Return the number of transactions."""
        return len(self.tasks) - 1

    @property
    def work(self) -> int:
        """Return the serial ticks."""
        return sum(map(self.costs.of, self.tasks[1:]))

    @property
    def domains(self) -> list[int]:
        """Return the replication domains."""
        return sorted({task.domain for task in self.tasks[1:]})


@dataclass(slots=True)
class LogBuilder:
    """Adds transactions in log order."""

    numbers: dict[object, int] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=lambda: [Task(number=NOBODY, rows=())])
    writers: dict[int, int] = field(default_factory=dict)
    readers: dict[int, list[int]] = field(default_factory=dict)
    """Key -> recent readers."""
    barrier: int = NOBODY
    conflicts: int = 0
    met: set[int] = field(default_factory=set)
    """Keys over which two tasks conflict."""
    may_meet: set[int] | None = None
    """Keys over which tasks may conflict, if known."""

    def key(self, key: object) -> int:
        """Return the number of a key."""
        return self.numbers.setdefault(key, len(self.numbers))

    def add(self, rows: Iterable[RowEvent], *, is_barrier: bool = False) -> Task:
        """Add a transaction without its other fields."""
        number = len(self.tasks)
        done = tuple(rows)
        for row in done:
            self._follow(number, row)
        task = Task(number=number, rows=done, is_barrier=is_barrier, barrier_before=self.barrier)
        self.tasks.append(task)
        if is_barrier:
            self.barrier = number
        return task

    def add_changed(self, task: Task, rows: Iterable[RowEvent]) -> Task:
        """Add a task of another log with other row events, numbered and ordered anew."""
        done = self.add(rows, is_barrier=task.is_barrier)
        self.tasks[-1] = replace(
            task, number=done.number, rows=done.rows, barrier_before=done.barrier_before
        )
        return self.tasks[-1]

    def _follow(self, number: int, row: RowEvent) -> None:
        if self.may_meet is not None and self.may_meet.isdisjoint((*row.writes, *row.reads)):
            self.writers.update(dict.fromkeys(row.writes, number))
            # One of a changed log may belong to the log as it is, too.
            row.expected = row.expected or (NOBODY,) * (len(row.writes) + len(row.reads))
            return
        found: set[int] = set()
        expected = []
        mine = {NOBODY, number}
        for key in row.writes:
            writer = self.writers.get(key, NOBODY)
            expected.append(writer)
            before = {writer, *self.readers.pop(key, ())} if key in self.readers else {writer}
            if not before <= mine:
                self.met.add(key)
                found |= before
            self.writers[key] = number
        for key in row.reads:
            writer = self.writers.get(key, NOBODY)
            expected.append(writer)
            if writer not in mine:
                self.met.add(key)
                found.add(writer)
            self.readers.setdefault(key, []).append(number)
        found -= mine
        row.expected = tuple(expected)
        row.follows = tuple(sorted(found)) if len(found) > 1 else tuple(found)
        self.conflicts += len(found)

    def log(self) -> TaskLog:
        """Return the tasks."""
        return TaskLog(self.tasks, self.numbers, self.writers, self.conflicts, met=self.met)


_UNMET = RowEvent(table="", writes=())


def _meeting(row: RowEvent, met: set[int]) -> RowEvent:
    if met.isdisjoint(row.writes) and met.isdisjoint(row.reads):
        return _UNMET
    keys = (*row.writes, *row.reads)
    if met.issuperset(keys):
        return row
    return RowEvent(
        table=row.table,
        writes=tuple(key for key in row.writes if key in met),
        reads=tuple(key for key in row.reads if key in met),
        expected=tuple(one for key, one in zip(keys, row.expected, strict=True) if key in met),
        follows=row.follows,
    )


def _stops(rows: Sequence[RowEvent]) -> list[int]:
    found = [len(rows)] * (len(rows) + 1)
    for place in reversed(range(len(rows))):
        row = rows[place]
        found[place] = place if row.writes or row.reads else found[place + 1]
    return found


def task_log(
    log: Sequence[Transaction],
    *,
    stamps: Sequence[LogicalTimestamp] | None = None,
    groups: Sequence[int] | None = None,
) -> TaskLog:
    """Return the tasks of transactions with rows.

    ``stamps`` and ``groups`` have one entry per transaction; default stamps are the transactions'
    own.
    """
    builder = LogBuilder()
    for place, transaction in enumerate(log):
        rows = (
            RowEvent(table=row.table, writes=(builder.key(item_of(row)),))
            for row in transaction.rows
        )
        task = builder.add(rows, is_barrier=transaction.is_barrier)
        task.stamp = stamps[place] if stamps is not None else transaction.timestamp
        task.group = groups[place] if groups is not None else place + 1
        task.clock = transaction.clock
        task.domain = transaction.domain or 0
    return builder.log()
