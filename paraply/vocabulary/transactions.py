"""Transactions of a history."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NewType

from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.timestamps import CommitId, LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, WriteSet, share_items

TransactionId = NewType("TransactionId", int)
"""From 1 in source order; 0 is the initial state."""

INITIAL_STATE = TransactionId(0)

ISOLATED = "isolated"
"""A schema change in Galera's total order isolation."""


class TransactionKind(Enum):
    """All but ROWS are barriers."""

    ROWS = "rows"
    """Row changes with a write set."""
    NO_WRITE_SET = "no_write_set"
    """A keyless table, a statement or an empty group."""
    DDL = "ddl"
    """Also changes of accounts and server objects."""
    CTAS = "ctas"
    """CREATE TABLE ... SELECT: a barrier despite its write set."""
    VIEW_CHANGE = "view_change"
    """A group change, logged with (0, 0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWrite:
    """One changed row; an insert has no ``before``, a delete no ``after``.

    Values in table order are None (NULL), a number, text, bytes or
    ``paraply.vocabulary.log.ABSENT``; other SQL types are client text.
    """

    table: str
    """``schema.table``, or any name in models."""
    operation: Operation
    before: RowImage | None = None
    after: RowImage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction, as its origin executed or logged it.

    ``timestamp`` and ``gtid`` are the source's; events have the members' own.
    """

    id: TransactionId
    """From 1 in source order."""
    kind: TransactionKind = TransactionKind.ROWS
    """What sort of transaction it is."""
    gtid: str = ""
    """In the dialect's notation."""
    origin: str = ""
    """First executing member."""
    session: str = ""
    """Transactions of a session keep their order."""
    write_set: WriteSet = EMPTY_WRITE_SET
    """Numbers first, then text."""
    snapshot_version: SnapshotVersion | None = None
    """Length of the certified prefix read."""
    snapshot_gtids: str = ""
    """GTID set it read."""
    timestamp: LogicalTimestamp | None = None
    """In the source's log."""
    clock: int = 0
    """Logical clock run, from 0; numbers restart."""
    commit_id: CommitId | None = None
    """MariaDB's; absent for a group of one."""
    domain: int | None = None
    """MariaDB's."""
    flags: frozenset[str] = frozenset()
    """In the source's log, like ``allow_parallel``."""
    rows: tuple[RowWrite, ...] = ()
    """In source order."""
    statement: str = ""
    """Of DDL and statement-based changes."""
    position: str = ""
    """``file:offset`` in the log."""

    @property
    def keyless_tables(self) -> WriteSet:
        """Return the tables without key, which are items themselves."""
        return self.write_set & {row.table for row in self.rows}

    @property
    def is_barrier(self) -> bool:
        """Return whether it must run alone."""
        return self.kind is not TransactionKind.ROWS or not self.write_set

    def conflicts_with(self, other: Transaction) -> bool:
        """Return whether order matters: a common item, or a barrier."""
        return self.is_barrier or other.is_barrier or share_items(self.write_set, other.write_set)
