"""Transactions as a history lists them: who wrote what, and with which logical time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NewType

from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.timestamps import CommitId, LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, WriteSet, share_items

TransactionId = NewType("TransactionId", int)
"""Which transaction of a history. Counts from 1 in source order; 0 is the initial state."""

INITIAL_STATE = TransactionId(0)
"""The writer of every row that no transaction of the history has written yet."""

ISOLATED = "isolated"
"""Flag of a transaction that ran in Galera's total order isolation: a change of a schema."""


class TransactionKind(Enum):
    """What sort of transaction it is; all but ROWS are barriers to parallel apply."""

    ROWS = "rows"
    """Row changes with a write set: conflicts are decided by its items."""
    NO_WRITE_SET = "no_write_set"
    """Changes of which no write set is known (a keyless table, a statement, an empty group)."""
    DDL = "ddl"
    """A statement that changes a schema, an account or a server object."""
    CTAS = "ctas"
    """CREATE TABLE ... SELECT: has a write set, and is a barrier all the same."""
    VIEW_CHANGE = "view_change"
    """A change of the group's members, logged with the timestamp (0, 0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWrite:
    """One changed row; ``before`` is None for an insert, ``after`` is None for a delete.

    A value is None (NULL), a number, text or bytes; ``paraply.vocabulary.log.ABSENT`` stands where
    the source did not record the column. Other SQL types are given as the text a client would see.
    """

    table: str
    """``schema.table``, or any name in a small model."""
    operation: Operation
    """The operation on the row."""
    before: RowImage | None = None
    """The row that the source changed or deleted, one value per column in table order."""
    after: RowImage | None = None
    """The row as the source left it, one value per column in table order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """One transaction of the workload, as its origin executed or logged it.

    What a member decided about it (its verdict, its own timestamp, its GTID) is in the events;
    ``timestamp`` and ``gtid`` here are those that the source's log gave it.
    """

    id: TransactionId
    """Number of the transaction, from 1 in source order."""
    kind: TransactionKind = TransactionKind.ROWS
    """What sort of transaction it is."""
    gtid: str = ""
    """Its GTID in the dialect's own notation, empty where it has none."""
    origin: str = ""
    """The member that executed it first; empty if irrelevant."""
    session: str = ""
    """The client session that issued it; transactions of one session keep their order."""
    write_set: WriteSet = EMPTY_WRITE_SET
    """The items it wrote; numbers first, then text."""
    snapshot_version: SnapshotVersion | None = None
    """Length of the certified prefix it read, in transactions."""
    snapshot_gtids: str = ""
    """The GTID set it read, where the snapshot is one."""
    timestamp: LogicalTimestamp | None = None
    """Its last_committed and sequence_number in the source's log."""
    clock: int = 0
    """Run of the logical clock, from 0: sequence numbers start again with each run."""
    commit_id: CommitId | None = None
    """MariaDB's group commit id, absent for a group of one."""
    domain: int | None = None
    """MariaDB's replication domain."""
    flags: frozenset[str] = frozenset()
    """Flags of the source's log (``allow_parallel``, ``waited``, ``may_have_sbr``)."""
    rows: tuple[RowWrite, ...] = ()
    """Its row changes in the order the source made them."""
    statement: str = ""
    """The statement, for DDL and statement-based changes."""
    position: str = ""
    """Where the log has it, as ``file:offset``."""

    @property
    def keyless_tables(self) -> WriteSet:
        """Return the tables whose rows have no key; the table itself is then the item."""
        return self.write_set & {row.table for row in self.rows}

    @property
    def is_barrier(self) -> bool:
        """Return whether its conflicts cannot be decided by items, so that it must run alone."""
        return self.kind is not TransactionKind.ROWS or not self.write_set

    def conflicts_with(self, other: Transaction) -> bool:
        """Return whether the order of the two matters: a common item, or either is a barrier."""
        return self.is_barrier or other.is_barrier or share_items(self.write_set, other.write_set)
