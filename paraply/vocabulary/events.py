"""Events: one small fact each about a transaction, member or reader."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from paraply.vocabulary.timestamps import LogicalTime, LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, Item, WriteSet

DEFAULT_MEMBER = "r1"


class EventKind(Enum):
    """What happened, as a word of the JSON form and the notation."""

    SUBMITTED = "submitted"
    """The origin executed the transaction and sent its write set."""
    DELIVERED = "delivered"
    """A member received the transaction from the total order or into its relay log."""
    CERTIFIED = "certified"
    """A member decided the transaction; a positive one has its timestamp and GTID there."""
    EXECUTED_SET_BROADCAST = "executed_set_broadcast"
    """A member broadcast its executed transactions."""
    GARBAGE_COLLECTED = "garbage_collected"
    """A member purged ``items`` of the stable set from certification info."""
    VIEW_INSTALLED = "view_installed"
    """A member installed a view of the group."""
    ONLINE = "online"
    """A member learned which ``members`` of its view have recovered."""
    SCHEDULED = "scheduled"
    """The coordinator assigned the transaction to a worker."""
    SLEPT = "slept"
    """A thread sleeps until signalled."""
    WOKEN = "woken"
    """A sleeping thread was signalled and checks again."""
    BEGUN = "begun"
    """A worker began an attempt."""
    ROW_APPLIED = "row_applied"
    """An attempt changed, or failed to change, one row."""
    ROLLED_BACK = "rolled_back"
    """An attempt was undone with all row changes."""
    RETRIED = "retried"
    """The transaction is retried; its next attempt follows."""
    SKIPPED = "skipped"
    """The transaction was already executed and is skipped."""
    FAILED = "failed"
    """The transaction and its applier failed for good."""
    PREPARED = "prepared"
    """The engine prepared the transaction: it survives a crash, undecided."""
    FLUSHED = "flushed"
    """The transaction was written to the binary log, in this order, unsynced."""
    SYNCED = "synced"
    """The transaction's part of the binary log is durable."""
    ACKNOWLEDGED = "acknowledged"
    """The named replica acknowledged receipt."""
    WAIT_ABANDONED = "wait_abandoned"
    """A commit stopped waiting for acknowledgement; ``note`` is the reason."""
    ENGINE_COMMITTED = "engine_committed"
    """The engine committed the transaction: final at this member."""
    VISIBLE = "visible"
    """New snapshots at this member now see the transaction."""
    CLIENT_ACKNOWLEDGED = "client_acknowledged"
    """The client received OK."""
    READ = "read"
    """A reader saw the versions in ``observed`` in one snapshot."""
    RELAY_ROTATED = "relay_rotated"
    """Reading continues in a new log file; sequence numbers may restart."""
    POSITION_SAVED = "position_saved"
    """The applier saved ``position``, ``gtid_set`` or ``transactions``."""
    COMPARED = "compared"
    """A member's table (``note``) was compared with the source's at the same place."""
    STARTED = "started"
    """A member or its applier started."""
    STOPPED = "stopped"
    """A member or its applier stopped in good order."""
    CRASHED = "crashed"
    """A member lost all non-durable state."""
    RECOVERED = "recovered"
    """A member returned after a crash with ``transactions``."""


class Outcome(Enum):
    """How a decision or a row change ended."""

    POSITIVE = "positive"
    """Certification: no conflict."""
    NEGATIVE = "negative"
    """Certification: a conflict; rolled back everywhere."""
    OK = "ok"
    """Row: changed as at the source."""
    MISSING_BEFORE_IMAGE = "missing_before_image"
    """Row: missing, or differs from the before image."""
    DUPLICATE_KEY = "duplicate_key"
    """Row: another row has the key."""
    MISSING_PARENT = "missing_parent"
    """Row: a foreign key forbids the change."""
    LOCK_WAIT = "lock_wait"
    """Row: ``other`` has the lock; the attempt waits."""
    DIFFERENT = "different"
    """Comparison: the table differs from the source's."""
    DISCARDED = "discarded"
    """Row: unchanged, because conflict resolution found it newer."""
    DEADLOCK = "deadlock"
    """Row: the attempt is a deadlock victim."""
    ERROR = "error"
    """Any other error; see ``note``."""


class Observation(NamedTuple):
    """One row version that a reader saw."""

    item: Item
    """Write-set item of the row."""
    writer: TransactionId
    """Writer of the version; 0 is the initial state."""


class Event(NamedTuple):
    """One event at one member.

    Build it with keywords. A named tuple builds four times faster than a frozen dataclass, and a
    run makes millions.
    """

    kind: EventKind
    time: LogicalTime
    """On the history's clock; never decreases."""
    member: str = DEFAULT_MEMBER
    """Server: source, replica or group member."""
    worker: int | None = None
    """Worker thread from 1; 0 is the coordinator."""
    transaction: TransactionId | None = None
    attempt: int = 1
    """Attempt to apply the transaction, from 1."""
    outcome: Outcome | None = None
    row: int | None = None
    """Index of the transaction's row, from 0."""
    items: WriteSet = EMPTY_WRITE_SET
    """Items of the row, or purged items."""
    other: TransactionId | None = None
    """Holder of the lock, or winner of the conflict or deadlock."""
    timestamp: LogicalTimestamp | None = None
    """last_committed and sequence_number given by this member."""
    gtid: str = ""
    """GTID given by this member."""
    gtid_set: str = ""
    """Executed, stable or saved GTID set or position."""
    transactions: tuple[TransactionId, ...] = ()
    """``gtid_set`` as transactions of this history. BEGUN: transactions merged into one job."""
    version: SnapshotVersion | None = None
    """Length of the certified prefix read or reached."""
    view: int | None = None
    members: tuple[str, ...] = ()
    """Members of the view."""
    group: int | None = None
    """Commit group that passed the stage together, from 1 at each member."""
    session: str = ""
    """Client session that read or received the answer."""
    observed: tuple[Observation, ...] = ()
    """Versions that a reader saw in one snapshot."""
    position: str = ""
    """Place in a log, as ``file:offset``."""
    note: str = ""
    """Reason."""


_OF_A_TRANSACTION = ("transaction",)

REQUIRED_FIELDS: dict[EventKind, tuple[str, ...]] = {
    EventKind.SUBMITTED: _OF_A_TRANSACTION,
    EventKind.DELIVERED: _OF_A_TRANSACTION,
    EventKind.CERTIFIED: ("transaction", "outcome"),
    EventKind.EXECUTED_SET_BROADCAST: (),
    EventKind.GARBAGE_COLLECTED: (),
    EventKind.VIEW_INSTALLED: ("view",),
    EventKind.ONLINE: (),
    EventKind.SCHEDULED: _OF_A_TRANSACTION,
    EventKind.SLEPT: (),
    EventKind.WOKEN: (),
    EventKind.BEGUN: _OF_A_TRANSACTION,
    EventKind.ROW_APPLIED: ("transaction", "outcome"),
    EventKind.ROLLED_BACK: _OF_A_TRANSACTION,
    EventKind.RETRIED: _OF_A_TRANSACTION,
    EventKind.SKIPPED: _OF_A_TRANSACTION,
    EventKind.FAILED: _OF_A_TRANSACTION,
    EventKind.PREPARED: _OF_A_TRANSACTION,
    EventKind.FLUSHED: _OF_A_TRANSACTION,
    EventKind.SYNCED: _OF_A_TRANSACTION,
    EventKind.ACKNOWLEDGED: _OF_A_TRANSACTION,
    EventKind.WAIT_ABANDONED: _OF_A_TRANSACTION,
    EventKind.ENGINE_COMMITTED: _OF_A_TRANSACTION,
    EventKind.VISIBLE: _OF_A_TRANSACTION,
    EventKind.CLIENT_ACKNOWLEDGED: _OF_A_TRANSACTION,
    EventKind.READ: (),
    EventKind.RELAY_ROTATED: (),
    EventKind.POSITION_SAVED: (),
    EventKind.COMPARED: ("outcome",),
    EventKind.STARTED: (),
    EventKind.STOPPED: (),
    EventKind.CRASHED: (),
    EventKind.RECOVERED: (),
}
"""Fields besides kind and time that an event of the kind requires."""

OUTCOMES: dict[EventKind, frozenset[Outcome]] = {
    EventKind.CERTIFIED: frozenset({Outcome.POSITIVE, Outcome.NEGATIVE}),
    EventKind.ROW_APPLIED: frozenset(Outcome)
    - {Outcome.POSITIVE, Outcome.NEGATIVE, Outcome.DIFFERENT},
    EventKind.COMPARED: frozenset({Outcome.OK, Outcome.DIFFERENT}),
}
"""Possible outcomes by kind; other kinds have none."""
