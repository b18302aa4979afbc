"""Event groups, batches, and domain counters of a replica.

Source: ``rpl_group_info``, ``group_commit_orderer``, ``rpl_parallel_entry``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from paraply.reference_impl.mariadb.source import DDL, TRANSACTIONAL
from paraply.reference_impl.step import Step as Step
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionId, TransactionKind
from paraply.vocabulary.write_set import Item

NEVER = 1 << 63
"""Greater than any ``sub_id``."""


class Speculation(Enum):
    """A group's risk of conflict."""

    NO = "no"
    """Shared commit id, or no concurrent group."""
    OPTIMISTIC = "optimistic"
    """Any error causes a retry."""
    WAIT = "wait"
    """Begins after all earlier commits."""


class Stage(Enum):
    """Stage of an event group."""

    QUEUED = "queued"
    ADMITTED = "admitted"
    """Its GTID event is executed."""
    APPLYING = "applying"
    ENDED = "ended"
    """Its XID event is next."""
    COMMITTING = "committing"
    IN_QUEUE = "in queue"
    """Queued for group commit after its predecessor."""
    FLUSHED = "flushed"
    UNDOING = "undoing"
    """The rollback is next."""
    RETRYING = "retrying"
    """Repeats after all earlier commits."""
    FAILING = "failing"
    DONE = "done"


@dataclass(slots=True, eq=False)
class Batch:
    """Groups that may run concurrently (a GCO)."""

    wait_count: int
    """Earlier groups that must have started to commit."""
    is_mixed: bool = False
    """MULTI_BATCH: several commit ids."""
    is_closed: bool = False
    """FORCE_SWITCH: a DDL closed it."""


@dataclass(slots=True, eq=False)
class EventGroup:
    """One transaction, its order and attempt."""

    transaction: Transaction
    sub_id: int
    """Place in the relay log."""
    entry: Entry
    batch: Batch
    speculation: Speculation
    worker: int
    before: EventGroup | None
    """Predecessor in its entry."""
    stage: Stage = Stage.QUEUED
    attempt: int = 1
    next_row: int = 0
    waits_for_row: Item | None = None
    has_started_commit: bool = False
    """Counted in ``committing_count``."""
    killed_by: TransactionId | None = None
    """Transaction that needs its row."""
    undone_because: str = ""
    has_timed_out: bool = False
    has_failed: bool = False
    """Valid when DONE, also for an earlier error."""
    is_skipped: bool = False

    @property
    def id(self) -> TransactionId:
        """Return the transaction's number."""
        return self.transaction.id

    @property
    def row(self) -> RowWrite | None:
        """Return the next row change, if any."""
        rows = self.transaction.rows
        return rows[self.next_row] if self.next_row < len(rows) else None

    @property
    def is_ddl(self) -> bool:
        """Return whether it is logged as DDL."""
        return DDL in self.transaction.flags

    @property
    def is_transactional(self) -> bool:
        """Return whether a rollback is possible."""
        return TRANSACTIONAL in self.transaction.flags

    @property
    def is_statement(self) -> bool:
        """Return whether it commits implicitly."""
        return self.transaction.kind is TransactionKind.DDL

    @property
    def is_in_commit(self) -> bool:
        """Return whether its log place is fixed."""
        return self.stage in (Stage.IN_QUEUE, Stage.FLUSHED)

    def begin_again(self) -> None:
        """Restart without speculation."""
        self.attempt += 1
        self.next_row, self.waits_for_row, self.killed_by = 0, None, None
        self.speculation = Speculation.NO


@dataclass(slots=True, eq=False)
class Entry:
    """Counters and workers of one domain."""

    slots: list[int | None]
    """Workers in turn, None for an empty slot."""
    next_slot: int = 0
    groups: list[EventGroup] = field(default_factory=list)
    batch: Batch | None = None
    queued_count: int = 0
    committing_count: int = 0
    """Unrevoked commit starts."""
    largest_started: int = 0
    stop_after: int = NEVER
    """Last group before STOP SLAVE."""
    stop_on_error: int = NEVER
    """First failed group."""

    def after(self, group: EventGroup) -> EventGroup | None:
        """Return the next queued group."""
        place = self.groups.index(group) + 1
        return self.groups[place] if place < len(self.groups) else None
