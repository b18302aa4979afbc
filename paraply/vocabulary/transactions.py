"""Transactions of a history, with their writes and logical times."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NewType

from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.timestamps import CommitId, LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, WriteSet, share_items

TransactionId = NewType("TransactionId", int)
"""Number in source order from 1; 0 is the initial state."""

INITIAL_STATE = TransactionId(0)
"""Writer of every row that no transaction has written yet."""

ISOLATED = "isolated"
"""Flag of a schema change in Galera's total order isolation."""


class TransactionKind(Enum):
    """Sort of transaction; all but ROWS are barriers to parallel apply."""

    ROWS = "rows"
    """Row changes with a write set."""
    NO_WRITE_SET = "no_write_set"
    """Changes without known write set (keyless table, statement, empty group)."""
    DDL = "ddl"
    """Changes a schema, an account or a server object."""
    CTAS = "ctas"
    """CREATE TABLE ... SELECT: a barrier despite its write set."""
    VIEW_CHANGE = "view_change"
    """A change of the group's members, logged with (0, 0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWrite:
    """One changed row; an insert has no ``before``, a delete no ``after``.

    A value is None (NULL), a number, text or bytes; ``paraply.vocabulary.log.ABSENT`` if
    unrecorded. Other SQL types are text as a client sees it.
    """

    table: str
    """``schema.table``, or any name in a small model."""
    operation: Operation
    before: RowImage | None = None
    """Row before the change, one value per column in table order."""
    after: RowImage | None = None
    """Row after the change, one value per column in table order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction of the workload, as its origin executed or logged it.

    ``timestamp`` and ``gtid`` are those of the source's log; events have the members' own.
    """

    id: TransactionId
    """Number in source order, from 1."""
    kind: TransactionKind = TransactionKind.ROWS
    gtid: str = ""
    """GTID in the dialect's notation."""
    origin: str = ""
    """Member that executed it first."""
    session: str = ""
    """Client session; its transactions keep their order."""
    write_set: WriteSet = EMPTY_WRITE_SET
    """Written items; numbers first, then text."""
    snapshot_version: SnapshotVersion | None = None
    """Length of the certified prefix it read, in transactions."""
    snapshot_gtids: str = ""
    """GTID set it read."""
    timestamp: LogicalTimestamp | None = None
    """last_committed and sequence_number in the source's log."""
    clock: int = 0
    """Run of the logical clock, from 0; each run restarts sequence numbers."""
    commit_id: CommitId | None = None
    """MariaDB's group commit id, absent for a group of one."""
    domain: int | None = None
    """MariaDB's replication domain."""
    flags: frozenset[str] = frozenset()
    """Flags of the source's log (``allow_parallel``, ``waited``, ``may_have_sbr``)."""
    rows: tuple[RowWrite, ...] = ()
    """Row changes in source order."""
    statement: str = ""
    """SQL of DDL and statement-based changes."""
    position: str = ""
    """Place in the log, as ``file:offset``."""

    @property
    def keyless_tables(self) -> WriteSet:
        """Return the tables without key; the table itself is then the item."""
        return self.write_set & {row.table for row in self.rows}

    @property
    def is_barrier(self) -> bool:
        """Return whether items cannot decide its conflicts, so it must run alone."""
        return self.kind is not TransactionKind.ROWS or not self.write_set

    def conflicts_with(self, other: Transaction) -> bool:
        """Return whether order matters: a common item, or a barrier."""
        return self.is_barrier or other.is_barrier or share_items(self.write_set, other.write_set)
