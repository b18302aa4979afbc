"""An event group on a replica, its batch, and its domain's counters.

Source: ``rpl_group_info``, ``group_commit_orderer`` and ``rpl_parallel_entry``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from paraply.reference_impl.mariadb.source import DDL, TRANSACTIONAL
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

NEVER = 1 << 63
"""A ``sub_id`` that no group reaches."""


class Speculation(Enum):
    """Risk of conflict when a worker receives a group."""

    NO = "no"
    """Free of conflicts with groups beside it: a shared commit id, or no other group."""
    OPTIMISTIC = "optimistic"
    """Possible conflict; any error counts as one and causes a retry."""
    WAIT = "wait"
    """Begins after all earlier commits; later groups may begin beside it."""


class Stage(Enum):
    """Stage of an event group; QUEUED to DONE without trouble."""

    QUEUED = "queued"
    ADMITTED = "admitted"
    """Its GTID event is executed; it may still wait before it runs."""
    APPLYING = "applying"
    ENDED = "ended"
    """All rows are applied; its XID event is next."""
    COMMITTING = "committing"
    """It has started its commit, and waits for the previous group."""
    IN_QUEUE = "in queue"
    """In the queue for group commit; its predecessor is queued or done."""
    FLUSHED = "flushed"
    """In the binary log; engine commits follow in that order."""
    UNDOING = "undoing"
    """Its commit start is revoked; the rollback is next."""
    RETRYING = "retrying"
    """Rolled back; it repeats after all earlier commits."""
    FAILING = "failing"
    """Given up or skipped: waits for earlier groups, then wakes later ones."""
    DONE = "done"


@dataclass(slots=True, eq=False)
class Batch:
    """Groups that may run concurrently (a GCO)."""

    wait_count: int
    """Groups of the domain queued before the batch: all must have started to commit."""
    is_mixed: bool = False
    """MULTI_BATCH: it has several commit ids."""
    is_closed: bool = False
    """FORCE_SWITCH: contains or precedes a DDL; no further group may join."""


@dataclass(slots=True, eq=False)
class EventGroup:
    """One transaction with its place in its domain's order, and its attempt."""

    transaction: Transaction
    sub_id: int
    """Place in the relay log, over all domains."""
    entry: Entry
    batch: Batch
    speculation: Speculation
    worker: int
    before: EventGroup | None
    """The previous group of its entry; its commit comes first."""
    stage: Stage = Stage.QUEUED
    attempt: int = 1
    next_row: int = 0
    waits_for_row: Item | None = None
    has_started_commit: bool = False
    """Counted in ``committing_count``."""
    killed_by: TransactionId | None = None
    """The transaction that needs its row; the kill takes effect at its next wait or event."""
    undone_because: str = ""
    """Reason for its rollback."""
    has_timed_out: bool = False
    """Whether a lock wait timeout ended an attempt: an outside error."""
    has_failed: bool = False
    """Valid when DONE: its own or an earlier error prevented the commit."""
    is_skipped: bool = False

    @property
    def id(self) -> TransactionId:
        """Return its transaction's number."""
        return self.transaction.id

    @property
    def row(self) -> RowWrite | None:
        """Return the next row change; None after the last."""
        rows = self.transaction.rows
        return rows[self.next_row] if self.next_row < len(rows) else None

    @property
    def is_ddl(self) -> bool:
        """Return whether the log marks it as DDL."""
        return DDL in self.transaction.flags

    @property
    def is_transactional(self) -> bool:
        """Return whether a rollback is possible."""
        return TRANSACTIONAL in self.transaction.flags

    @property
    def is_statement(self) -> bool:
        """Return whether it is a statement with an implicit commit."""
        return self.transaction.kind is TransactionKind.DDL

    @property
    def is_in_commit(self) -> bool:
        """Return whether its place in the binary log is fixed."""
        return self.stage in (Stage.IN_QUEUE, Stage.FLUSHED)

    def begin_again(self) -> None:
        """Restart at the first row, without speculation."""
        self.attempt += 1
        self.next_row, self.waits_for_row, self.killed_by = 0, None, None
        self.speculation = Speculation.NO


@dataclass(slots=True, eq=False)
class Entry:
    """Counters and workers of one domain."""

    slots: list[int | None]
    """Workers in turn; an empty slot takes an idle one of the pool."""
    next_slot: int = 0
    groups: list[EventGroup] = field(default_factory=list)
    batch: Batch | None = None
    queued_count: int = 0
    committing_count: int = 0
    """Groups that have started to commit, minus those revoked."""
    largest_started: int = 0
    stop_after: int = NEVER
    """STOP SLAVE: later groups are skipped."""
    stop_on_error: int = NEVER
    """Groups after the first failed one are skipped."""

    def after(self, group: EventGroup) -> EventGroup | None:
        """Return the next queued group of the entry."""
        place = self.groups.index(group) + 1
        return self.groups[place] if place < len(self.groups) else None


class Step(NamedTuple):
    """A possible next step."""

    label: str
    act: Callable[[], None]
