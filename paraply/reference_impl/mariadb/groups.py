"""An event group on its way through the replica, its batch, and its domain's counters.

Source: facts on ``rpl_group_info``, ``group_commit_orderer`` and ``rpl_parallel_entry``.
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
    """How much is known about a group when it is given to a worker."""

    NO = "no"
    """It is free of conflicts with whatever may run beside it: a shared commit id, or nobody."""
    OPTIMISTIC = "optimistic"
    """Perhaps; any error of the attempt is taken for a conflict, and it is tried again."""
    WAIT = "wait"
    """It begins when all before it have committed; later ones may begin beside it."""


class Stage(Enum):
    """Where an event group stands; QUEUED to DONE for one that meets no trouble."""

    QUEUED = "queued"
    ADMITTED = "admitted"
    """Its GTID event is executed: it will run, or has something to wait for first."""
    APPLYING = "applying"
    ENDED = "ended"
    """All rows are applied; its XID event is next."""
    COMMITTING = "committing"
    """It has started its commit, and waits for the one before."""
    IN_QUEUE = "in queue"
    """Queued for the binary log's group commit; the one before is queued too, or done."""
    FLUSHED = "flushed"
    """A leader wrote it to the binary log; the engine commits follow in that order."""
    UNDOING = "undoing"
    """Its commit start is revoked; the rollback is next."""
    RETRYING = "retrying"
    """Rolled back; it begins again when all before it have committed."""
    FAILING = "failing"
    """Given up or skipped: it waits for those before it, then wakes those after."""
    DONE = "done"


@dataclass(slots=True, eq=False)
class Batch:
    """Groups that may run beside each other (a GCO)."""

    wait_count: int
    """Groups of the domain that were queued before the batch: all must have started to commit."""
    is_mixed: bool = False
    """MULTI_BATCH: not all of it has one commit id."""
    is_closed: bool = False
    """FORCE_SWITCH: a DDL is in it or follows it; nothing more may join."""


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
    """The group before it in its entry, whose commit it waits for."""
    stage: Stage = Stage.QUEUED
    attempt: int = 1
    next_row: int = 0
    waits_for_row: Item | None = None
    has_started_commit: bool = False
    """Counted in ``committing_count``."""
    killed_by: TransactionId | None = None
    """Who needs a row that it holds; the kill takes effect at its next wait or event."""
    undone_because: str = ""
    """Why its attempt is being rolled back."""
    has_timed_out: bool = False
    """A lock wait timeout ended one of its attempts: an error from outside of the log."""
    has_failed: bool = False
    """Valid when DONE: the group did not commit because of an error, its own or one before."""
    is_skipped: bool = False
    """It never ran."""

    @property
    def id(self) -> TransactionId:
        """Return the number of its transaction."""
        return self.transaction.id

    @property
    def row(self) -> RowWrite | None:
        """Return the row change to apply next; None after the last."""
        rows = self.transaction.rows
        return rows[self.next_row] if self.next_row < len(rows) else None

    @property
    def is_ddl(self) -> bool:
        """Return whether the log says that it is a DDL."""
        return DDL in self.transaction.flags

    @property
    def is_transactional(self) -> bool:
        """Return whether it can be rolled back."""
        return TRANSACTIONAL in self.transaction.flags

    @property
    def is_statement(self) -> bool:
        """Return whether it is a statement that commits by itself."""
        return self.transaction.kind is TransactionKind.DDL

    @property
    def is_in_commit(self) -> bool:
        """Return whether its place in the binary log is fixed."""
        return self.stage in (Stage.IN_QUEUE, Stage.FLUSHED)

    def begin_again(self) -> None:
        """Go back to the first row for the next attempt, which takes no risk."""
        self.attempt += 1
        self.next_row, self.waits_for_row, self.killed_by = 0, None, None
        self.speculation = Speculation.NO


@dataclass(slots=True, eq=False)
class Entry:
    """What one domain's groups are counted in, and which workers they are dealt to."""

    slots: list[int | None]
    """Workers by turn; a slot without worker takes an idle one of the pool."""
    next_slot: int = 0
    groups: list[EventGroup] = field(default_factory=list)
    batch: Batch | None = None
    queued_count: int = 0
    committing_count: int = 0
    """Groups that have started to commit, without those that took it back."""
    largest_started: int = 0
    stop_after: int = NEVER
    """STOP SLAVE: groups past this one are skipped."""
    stop_on_error: int = NEVER
    """Groups past the first that failed are skipped."""

    def after(self, group: EventGroup) -> EventGroup | None:
        """Return the next group of the entry, if it is queued already."""
        place = self.groups.index(group) + 1
        return self.groups[place] if place < len(self.groups) else None


class Step(NamedTuple):
    """Something that can happen now."""

    label: str
    act: Callable[[], None]
