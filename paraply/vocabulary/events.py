"""Events: what happened to transactions, members and readers, one small fact each."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from paraply.vocabulary.timestamps import LogicalTime, LogicalTimestamp, SnapshotVersion
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import EMPTY_WRITE_SET, Item, WriteSet

DEFAULT_MEMBER = "r1"
"""The member of events in histories with only one."""


class EventKind(Enum):
    """What happened; the words are those of the JSON form and of the notation."""

    SUBMITTED = "submitted"
    """The origin executed the transaction, took its snapshot and sent its write set."""
    DELIVERED = "delivered"
    """A member received the transaction: from the total order, or into its relay log."""
    CERTIFIED = "certified"
    """A member decided the transaction; a positive one has its timestamp and GTID there."""
    EXECUTED_SET_BROADCAST = "executed_set_broadcast"
    """A member told the group which transactions it has executed."""
    GARBAGE_COLLECTED = "garbage_collected"
    """A member purged certification info of the stable set; ``items`` are those purged."""
    VIEW_INSTALLED = "view_installed"
    """A member installed a view of the group."""
    ONLINE = "online"
    """A member learned which members of its view have recovered; ``members`` lists them."""
    SCHEDULED = "scheduled"
    """The coordinator gave the transaction to a worker."""
    SLEPT = "slept"
    """A thread sleeps until others have done enough; it does not wake on its own."""
    WOKEN = "woken"
    """A thread that slept was signalled, and looks again."""
    BEGUN = "begun"
    """A worker began an attempt to apply the transaction."""
    ROW_APPLIED = "row_applied"
    """An attempt changed, or failed to change, one row."""
    ROLLED_BACK = "rolled_back"
    """An attempt was undone; none of its row changes remain."""
    RETRIED = "retried"
    """The transaction was taken up again; its next attempt follows."""
    SKIPPED = "skipped"
    """The transaction was passed over without execution: it was executed already."""
    FAILED = "failed"
    """The transaction was given up for good, and the applier with it."""
    PREPARED = "prepared"
    """The storage engine prepared the transaction: it survives a crash, undecided."""
    FLUSHED = "flushed"
    """The transaction was written to the binary log, in this order, not yet synced."""
    SYNCED = "synced"
    """The transaction's part of the binary log is durable."""
    ACKNOWLEDGED = "acknowledged"
    """The member named, a replica, acknowledged receipt of the transaction."""
    WAIT_ABANDONED = "wait_abandoned"
    """A commit stopped waiting for acknowledgement and continues; ``note`` is the reason."""
    ENGINE_COMMITTED = "engine_committed"
    """The storage engine committed the transaction: its changes are final at this member."""
    VISIBLE = "visible"
    """From here on a new snapshot at this member sees the transaction."""
    CLIENT_ACKNOWLEDGED = "client_acknowledged"
    """The client received OK for its transaction."""
    READ = "read"
    """A reader saw, in one snapshot, the versions in ``observed``."""
    RELAY_ROTATED = "relay_rotated"
    """Reading continues in a new log file; sequence numbers may start again."""
    POSITION_SAVED = "position_saved"
    """The applier's position was saved, in ``position``, ``gtid_set`` or ``transactions``."""
    COMPARED = "compared"
    """A member's table, named in ``note``, was compared with the source's at the same place."""
    STARTED = "started"
    """A member, or an applier on it, started."""
    STOPPED = "stopped"
    """A member, or an applier on it, stopped in good order."""
    CRASHED = "crashed"
    """A member lost whatever was not durable."""
    RECOVERED = "recovered"
    """A member came back after a crash; ``transactions`` are those it then has."""


class Outcome(Enum):
    """How a decision or a row change ended."""

    POSITIVE = "positive"
    """Certification: no conflict."""
    NEGATIVE = "negative"
    """Certification: a conflict; the transaction is rolled back everywhere."""
    OK = "ok"
    """Row: changed as the source changed it."""
    MISSING_BEFORE_IMAGE = "missing_before_image"
    """Row: the row to change or delete is not there, or differs from the before image."""
    DUPLICATE_KEY = "duplicate_key"
    """Row: another row holds the key."""
    MISSING_PARENT = "missing_parent"
    """Row: a foreign key points to, or is pointed at by, a row that forbids the change."""
    LOCK_WAIT = "lock_wait"
    """Row: another transaction holds the lock (``other``); the attempt waits."""
    DIFFERENT = "different"
    """Comparison: the table's rows are not those of the source."""
    DISCARDED = "discarded"
    """Row: left as it is, because conflict resolution found the row to be newer."""
    DEADLOCK = "deadlock"
    """Row: waiting would close a cycle; the attempt is the victim."""
    ERROR = "error"
    """Any other error; ``note`` has it."""


class Observation(NamedTuple):
    """One row version that a reader saw."""

    item: Item
    """The row, by its write-set item."""
    writer: TransactionId
    """The transaction that wrote the version; 0 for the initial state."""


class Event(NamedTuple):
    """One thing that happened, at one member, at one moment.

    Build it with keywords. It is a named tuple because a run makes millions of them: a frozen
    dataclass of this width takes four times as long to build.
    """

    kind: EventKind
    """What happened."""
    time: LogicalTime
    """When, on the history's clock; never smaller than that of the event before."""
    member: str = DEFAULT_MEMBER
    """The server it happened at: source, replica or group member."""
    worker: int | None = None
    """The worker thread, from 1; 0 is the coordinator; absent if irrelevant."""
    transaction: TransactionId | None = None
    """The transaction it happened to."""
    attempt: int = 1
    """Which attempt to apply the transaction, from 1; each retry is one more."""
    outcome: Outcome | None = None
    """How it ended."""
    row: int | None = None
    """Which of the transaction's rows, from 0."""
    items: WriteSet = EMPTY_WRITE_SET
    """The items concerned: of the row, or those purged."""
    other: TransactionId | None = None
    """The other transaction: the lock's holder, the winner of the conflict, the deadlock's."""
    timestamp: LogicalTimestamp | None = None
    """The last_committed and sequence_number that this member gave the transaction."""
    gtid: str = ""
    """The GTID that this member gave the transaction."""
    gtid_set: str = ""
    """A GTID set or position in the dialect's notation: executed, stable, saved."""
    transactions: tuple[TransactionId, ...] = ()
    """The same set as transactions of this history, where the subject counts them; of BEGUN: what
    was merged into one job, to be applied and committed as one."""
    version: SnapshotVersion | None = None
    """Length of the certified prefix that was read or reached."""
    view: int | None = None
    """Number of the view."""
    members: tuple[str, ...] = ()
    """The members of the view."""
    group: int | None = None
    """The commit group, from 1 at each member, that passed the stage together."""
    session: str = ""
    """The client session that read or received the answer."""
    observed: tuple[Observation, ...] = ()
    """What a reader saw, in one snapshot."""
    position: str = ""
    """A place in a log, as ``file:offset``."""
    note: str = ""
    """Why, in a few words."""


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
"""The fields, beside kind and time, without which an event of the kind says nothing."""

OUTCOMES: dict[EventKind, frozenset[Outcome]] = {
    EventKind.CERTIFIED: frozenset({Outcome.POSITIVE, Outcome.NEGATIVE}),
    EventKind.ROW_APPLIED: frozenset(Outcome)
    - {Outcome.POSITIVE, Outcome.NEGATIVE, Outcome.DIFFERENT},
    EventKind.COMPARED: frozenset({Outcome.OK, Outcome.DIFFERENT}),
}
"""The outcomes that an event of the kind may have; kinds not named here have none."""
