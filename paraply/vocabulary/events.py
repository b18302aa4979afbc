"""Events of transactions, members and readers."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from paraply.vocabulary.timestamps import LogicalTime, LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, Item, WriteSet

DEFAULT_MEMBER = "r1"


class EventKind(Enum):
    """Words of the JSON form and the notation."""

    SUBMITTED = "submitted"
    """The origin executed it and sent its write set."""
    DELIVERED = "delivered"
    """A member received it: total order or relay log."""
    CERTIFIED = "certified"
    """A member decided; a positive event has its timestamp and GTID."""
    EXECUTED_SET_BROADCAST = "executed_set_broadcast"
    """A member reported its executed transactions."""
    GARBAGE_COLLECTED = "garbage_collected"
    """Stable ``items`` left certification info."""
    VIEW_INSTALLED = "view_installed"
    """A member installed a view of the group."""
    ONLINE = "online"
    """A member learned the recovered ``members``."""
    SCHEDULED = "scheduled"
    """The coordinator chose a worker."""
    SLEPT = "slept"
    """A thread sleeps until signalled."""
    WOKEN = "woken"
    """A sleeping thread checks again."""
    BEGUN = "begun"
    """A worker began an attempt."""
    ROW_APPLIED = "row_applied"
    """An attempt changed one row, or failed."""
    ROLLED_BACK = "rolled_back"
    """An attempt was undone."""
    RETRIED = "retried"
    """The next attempt follows."""
    SKIPPED = "skipped"
    """It was already executed."""
    FAILED = "failed"
    """The applier fails with it."""
    PREPARED = "prepared"
    """It survives a crash, undecided."""
    FLUSHED = "flushed"
    """Written to the binary log in this order, unsynced."""
    SYNCED = "synced"
    """Durable in the binary log."""
    ACKNOWLEDGED = "acknowledged"
    """The named replica acknowledged receipt."""
    WAIT_ABANDONED = "wait_abandoned"
    """The wait for acknowledgement ended; ``note`` is the reason."""
    ENGINE_COMMITTED = "engine_committed"
    """Final at this member."""
    VISIBLE = "visible"
    """New snapshots at this member include it."""
    CLIENT_ACKNOWLEDGED = "client_acknowledged"
    """The client received OK."""
    READ = "read"
    """A reader saw ``observed`` in one snapshot."""
    RELAY_ROTATED = "relay_rotated"
    """A new log file; sequence numbers may restart."""
    POSITION_SAVED = "position_saved"
    """Saved ``position``, ``gtid_set`` or ``transactions``."""
    COMPARED = "compared"
    """A table (``note``) was compared with the source's at the same place."""
    STARTED = "started"
    """A member or its applier started."""
    STOPPED = "stopped"
    """Orderly stop of a member or its applier."""
    CRASHED = "crashed"
    """Non-durable state is lost."""
    RECOVERED = "recovered"
    """Returned after a crash with ``transactions``."""


class Outcome(Enum):
    """Result of a decision or row change."""

    POSITIVE = "positive"
    """Certification: no conflict."""
    NEGATIVE = "negative"
    """Certification: conflict, rolled back everywhere."""
    OK = "ok"
    """Row: changed like the source."""
    MISSING_BEFORE_IMAGE = "missing_before_image"
    """Row: missing or different."""
    DUPLICATE_KEY = "duplicate_key"
    """Row: another row has the key."""
    MISSING_PARENT = "missing_parent"
    """Row: foreign key violation."""
    LOCK_WAIT = "lock_wait"
    """Row: waits for ``other``."""
    DIFFERENT = "different"
    """Comparison: unlike the source."""
    DISCARDED = "discarded"
    """Row: unchanged, conflict resolution found it newer."""
    DEADLOCK = "deadlock"
    """Row: deadlock victim."""
    ERROR = "error"
    """Other error, in ``note``."""


class Observation(NamedTuple):
    """One observed row version."""

    item: Item
    writer: TransactionId
    """0 is the initial state."""


class Event(NamedTuple):
    """One event at one member.

    Build it with keywords. A named tuple builds four times faster than a frozen dataclass.
    """

    kind: EventKind
    """What happened."""
    time: LogicalTime
    """Never decreases."""
    member: str = DEFAULT_MEMBER
    """Source, replica or group member."""
    worker: int | None = None
    """From 1; 0 is the coordinator."""
    transaction: TransactionId | None = None
    """The transaction it happened to."""
    attempt: int = 1
    """From 1."""
    outcome: Outcome | None = None
    """How it ended."""
    row: int | None = None
    """Index of the row, from 0."""
    items: WriteSet = EMPTY_WRITE_SET
    """Of the row, or purged."""
    other: TransactionId | None = None
    """Lock holder, or conflict or deadlock winner."""
    timestamp: LogicalTimestamp | None = None
    """Given by this member."""
    gtid: str = ""
    """Given by this member."""
    gtid_set: str = ""
    """Executed, stable or saved; also a position."""
    transactions: tuple[TransactionId, ...] = ()
    """The same set as numbers. BEGUN: merged into one job."""
    version: SnapshotVersion | None = None
    """Certified prefix read or reached."""
    view: int | None = None
    """Number of the view."""
    members: tuple[str, ...] = ()
    """Of the view."""
    group: int | None = None
    """Commit group at this stage, from 1 at each member."""
    session: str = ""
    """Client session of the read or answer."""
    observed: tuple[Observation, ...] = ()
    """Versions in one snapshot."""
    position: str = ""
    """``file:offset`` in a log."""
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
"""Besides kind and time."""

OUTCOMES: dict[EventKind, frozenset[Outcome]] = {
    EventKind.CERTIFIED: frozenset({Outcome.POSITIVE, Outcome.NEGATIVE}),
    EventKind.ROW_APPLIED: frozenset(Outcome)
    - {Outcome.POSITIVE, Outcome.NEGATIVE, Outcome.DIFFERENT},
    EventKind.COMPARED: frozenset({Outcome.OK, Outcome.DIFFERENT}),
}
"""Other kinds have none."""
