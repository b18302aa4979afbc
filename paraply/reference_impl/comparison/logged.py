"""A real log's transactions as tasks, with an audit's keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set

from paraply.reference_impl.comparison.identities import RowIdentities
from paraply.reference_impl.comparison.tasks import (
    AS_A_WHOLE,
    WITHOUT_KEY,
    LogBuilder,
    RowEvent,
    Task,
    TaskLog,
    WholeTable,
)
from paraply.reference_impl.mariadb.source import ALLOW_PARALLEL, TRANSACTIONAL, WAITED
from paraply.vocabulary.keys import ConflictKey, RowKeys
from paraply.vocabulary.log import ANY_ROWS, LoggedKind, LoggedTransaction, RowChange, table_of
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.timestamps import LogicalTimestamp

_UNDOES = frozenset({"rolled_back", "partly_rolled_back"})
"""Flags of transactions of which the logged rows may be undone."""


class LoggedTasks:
    """Adds a log's transactions in order.

    A row event locks every PRIMARY and UNIQUE key of its images; the first one adds foreign keys.
    An update or delete of a row without a key reads, and locks, the whole table; an insert does
    not. What is unknown conflicts with the whole table, or with nothing if ``unknown_is_free``.
    XA, statements, DDL, view changes and incidents are barriers.
    """

    def __init__(self, keys: RowKeys, *, unknown_is_free: bool = False) -> None:
        self.keys = keys
        self.unknown_is_free = unknown_is_free
        self.unknown_tables: set[str] = set()
        """Tables of which keys or rows are unknown."""
        self.identities = RowIdentities()
        self.builder = LogBuilder()
        self.keys_of_table: dict[str, int] = {}
        self.groups = 0
        self.has_stamps = self.has_commit_ids = self.is_relayed = False
        self._keyless_tables: set[str] = set()
        self._last: dict[int, tuple[Hashable, int]] = {}

    def add(self, txn: LoggedTransaction) -> Task:
        """Add one transaction."""
        is_empty = txn.kind is LoggedKind.EMPTY
        is_barrier = txn.is_barrier or "ddl" in txn.flags
        rows = () if is_empty else self._rows(txn)
        task = self.builder.add(rows, is_barrier=is_barrier)
        if is_barrier:
            # All later ones wait for it. A statement may change any row, XA ROLLBACK undoes some.
            self.identities.forget()
        if not _UNDOES.isdisjoint(txn.flags):
            self.identities.unfollowed |= task.tables
        task.unkeyed_tables = txn.unkeyed_tables
        task.has_referenced_tables = any(map(self.keys.referencing, task.tables))
        task.logged_at_us = txn.committed_at_us or (txn.event_time_s * 1_000_000 or None)
        task.session, task.written_at_us = txn.session, txn.committed_at_us
        self.is_relayed |= txn.is_relayed
        if txn.last_committed is not None and txn.sequence_number is not None:
            self.has_stamps = True
            task.stamp = LogicalTimestamp.as_recorded(txn.last_committed, txn.sequence_number)
        self.has_commit_ids |= txn.commit_id is not None
        task.clock = txn.clock
        task.domain = txn.domain or 0
        task.group = self._group(txn)
        task.has_waited = txn.domain is not None and WAITED in txn.flags
        task.is_held_back = txn.domain is not None and ALLOW_PARALLEL not in txn.flags
        task.is_irreversible = txn.domain is not None and TRANSACTIONAL not in txn.flags
        return task

    def log(self) -> TaskLog:
        """Return the tasks."""
        log = self.builder.log()
        log.keys_of_table = self.keys_of_table
        unknown = {table.lower() for table in self.unknown_tables}
        log.unfollowed_tables = frozenset(
            table
            for table in self._keyless_tables
            if table in self.identities.unfollowed or table.lower() in unknown
        )
        log.why_not_delayed = self._why_not_delayed(log)
        return log

    def _why_not_delayed(self, log: TaskLog) -> str:
        tasks = log.tasks[1:]
        if any(task.written_at_us is None for task in tasks):
            return "the log has no commit times in microseconds"
        if self.is_relayed:
            return "a replica wrote the log, whose workers have other times than the sessions"
        if any(task.session is None for task in tasks):
            return "the log does not name the session of each transaction"
        return ""

    def _group(self, txn: LoggedTransaction) -> int:
        mark: Hashable = None
        if txn.commit_id is not None:
            mark = (txn.clock, txn.commit_id)
        elif txn.domain is None and txn.last_committed is not None:
            mark = (txn.clock, txn.last_committed)
        domain = txn.domain or 0
        last_mark, group = self._last.get(domain, (None, 0))
        if mark is None or mark != last_mark or txn.is_barrier:
            self.groups += 1
            group = self.groups
        self._last[domain] = (None if txn.is_barrier else mark, group)
        return group

    def _rows(self, txn: LoggedTransaction) -> list[RowEvent]:
        left = set(txn.keys)
        rows = [self._row(row, left) for row in txn.rows]
        tables = {row.table for row in rows}
        for table in sorted(txn.undecoded_tables - tables):
            rows.append(RowEvent(table=table, writes=()))
            tables.add(table)
        if not rows:
            return rows
        first = rows[0]
        first.writes += self._numbers(left)
        first.reads += self._numbers(txn.shared_keys)
        unknown = txn.partly_keyed_tables | txn.reached_tables | txn.unidentified_tables
        self.unknown_tables |= _tables(unknown - {ANY_ROWS})
        blurred = frozenset() if self.unknown_is_free else unknown - {ANY_ROWS}
        tables |= txn.aspects - {ANY_ROWS}
        searched = {key.table for key in txn.searched_rows}
        for table in sorted(txn.unkeyed_tables - unknown):
            whole = (self.builder.key(WholeTable(table, WITHOUT_KEY)),)
            if table in searched:
                first.writes += whole
            else:
                first.reads += whole
        for table in sorted(tables | blurred):
            whole = (self.builder.key(WholeTable(table, AS_A_WHOLE)),)
            if table in blurred:
                first.writes += whole
            else:
                first.reads += whole
        return rows

    def _row(self, row: RowChange, left: set[ConflictKey]) -> RowEvent:
        found: dict[ConflictKey, None] = {}
        for image in (row.before, row.after):
            known = None if image is None else self.keys.keys_of(row.table, image)
            found.update(dict.fromkeys(known or ()))
        left.difference_update(found)
        schema = self.keys.schema_of(row.table)
        self.keys_of_table.setdefault(row.table, len(schema.unique_keys) if schema else 0)
        # The transaction's keys already include values that minimal images omit.
        event = RowEvent(table=row.table, writes=tuple(map(self.builder.key, found)))
        if _may_lack_key(schema):
            self._keyless_tables.add(row.table)
            event.identity = self.identities.number_of(row)
        return event

    def _numbers(self, keys: Iterable[ConflictKey]) -> tuple[int, ...]:
        return tuple(map(self.builder.key, sorted(keys, key=str)))


def _may_lack_key(schema: TableSchema | None) -> bool:
    """Return whether rows of a table may have no key: it has none, or NULL is allowed in each."""
    if schema is None or not schema.keys_complete:
        return False
    return not any(
        all(not schema.columns[part.column].nullable for part in key.parts)
        for key in schema.unique_keys
    )


def _tables(names: Set[str]) -> set[str]:
    """Return the tables of names and of their aspects, which are in lower case."""
    aspects_first = sorted(names, key=lambda name: table_of(name) == name)
    return {*{table_of(name).lower(): table_of(name) for name in aspects_first}.values()}
