"""A history: one run, recorded or simulated, as read by every property, report and campaign.

It has a header with its origin, the transactions in source order, and the events in time order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.events import OUTCOMES, REQUIRED_FIELDS, Event, EventKind
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.transactions import Transaction, TransactionId

FORMAT_VERSION = 1
"""Version of the history format; a reader rejects a greater one."""

INCONSISTENT_HISTORY = register(
    "P504",
    "the history contradicts itself: {reason}",
    "correct the recorder that wrote it: docs/history-format.md has the rules for each field",
)

OptionValue = str | int | bool
"""The value of one option of a subject."""


class Clock(Enum):
    """What the time of an event counts."""

    STEPS = "steps"
    """Steps of a simulated or controlled run; equal times happened in one step."""
    MICROSECONDS = "us"
    """Microseconds of one server's clock, from any start."""
    ORDER = "order"
    """Only the order is known (a log): one event each."""


class EvidenceTier(Enum):
    """The available evidence, which limits the possible conclusions (ARCHITECTURE.md)."""

    SOURCE_LOG = "T0"
    """The source's log only, perhaps with a schema: no events."""
    COMMIT_ORDER = "T1"
    """And the replica's own log, or the order in which it committed."""
    COMMIT_WINDOWS = "T2"
    """And when each transaction began and committed."""
    ROW_OUTCOMES = "T3"
    """And what each row change did."""
    CONTROLLED_RUN = "T4"
    """The harness played the database, on a schedule of its choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHeader:
    """The origin of a history, and how to repeat it."""

    format_version: int = FORMAT_VERSION
    """Version of this format; 1."""
    subject: str = ""
    """What ran: the name of a reference subject, of an applier, or of a server and version."""
    dialect: str = ""
    """Which rules it follows (``wl8440``, ``mysql_8_0``, ``mariadb_10_11``)."""
    seed: int | None = None
    """Seed of the random schedule, where there was one."""
    program: str = ""
    """The choices of the run, as base64url text (``paraply.vocabulary.programs``)."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Options of the subject by name (``workers``, ``preserve_commit_order``)."""
    schema: tuple[TableSchema, ...] = ()
    """The tables, as far as they are known."""
    members: tuple[str, ...] = ()
    """The servers that took part, the source first; empty where the events name them all."""
    clock: Clock = Clock.STEPS
    """What the time of an event counts."""
    tier: EvidenceTier = EvidenceTier.CONTROLLED_RUN
    """What the evidence can show."""
    recorded_by: str = ""
    """The program that wrote it, with its version."""


@dataclass(frozen=True, kw_only=True)
class History:
    """A header, the transactions in source order, and the events in time order.

    Equal parts make equal histories. :meth:`check` validates the parts. ``is_complete`` is False if
    the recording broke off; missing events are then no evidence.
    """

    header: HistoryHeader = field(default_factory=HistoryHeader)
    transactions: tuple[Transaction, ...] = ()
    events: tuple[Event, ...] = ()
    is_complete: bool = True

    @cached_property
    def _by_id(self) -> dict[TransactionId, Transaction]:
        return {transaction.id: transaction for transaction in self.transactions}

    def transaction(self, transaction_id: TransactionId | int) -> Transaction:
        """Return a transaction by its number; ``KeyError`` if the history has none such."""
        return self._by_id[TransactionId(transaction_id)]

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Return the members: those of the header, then others as events first name them."""
        return tuple(
            dict.fromkeys([*self.header.members, *(event.member for event in self.events)])
        )

    @cached_property
    def kinds(self) -> frozenset[EventKind]:
        """Return the kinds of events that the history has."""
        return frozenset(event.kind for event in self.events)

    def events_of(self, *kinds: EventKind, member: str | None = None) -> Iterator[Event]:
        """Yield the events of the kinds given, at one member where one is named, in order."""
        for event in self.events:
            if event.kind in kinds and (member is None or event.member == member):
                yield event

    def check(self, *, where: str = "") -> History:
        """Return the history if its parts are consistent; else raise ``ParaplyError`` P504.

        Transaction numbers rise from 1 or more, times do not fall, events name existing
        transactions and have the fields and outcomes of their kind.
        """
        for fault in self.faults():
            raise ParaplyError(INCONSISTENT_HISTORY, where=where, reason=fault)
        return self

    def faults(self) -> Iterator[str]:
        """Yield what does not fit, as one sentence each."""
        previous = 0
        for transaction in self.transactions:
            if transaction.id <= previous:
                yield f"transaction {transaction.id} follows transaction {previous}"
            previous = transaction.id
        now = None
        for number, event in enumerate(self.events, start=1):
            if now is not None and event.time < now:
                yield f"event {number} has time {event.time} after time {now}"
            now = event.time
            yield from self._faults_of(number, event)

    def _faults_of(self, number: int, event: Event) -> Iterator[str]:
        for name in REQUIRED_FIELDS[event.kind]:
            if getattr(event, name) is None:
                yield f"event {number} ({event.kind.value}) has no {name}"
        if event.outcome is not None and event.outcome not in OUTCOMES.get(event.kind, ()):
            yield f"event {number} ({event.kind.value}) has outcome {event.outcome.value}"
        if event.worker is not None and event.worker < 0:
            yield f"event {number} ({event.kind.value}) has worker {event.worker}"
        if event.attempt < 1:
            yield f"event {number} ({event.kind.value}) has attempt {event.attempt}"
        for name, named in (("transaction", event.transaction), ("other", event.other)):
            if named is not None and named not in self._by_id:
                yield f"event {number} ({event.kind.value}) names {name} {named}, not listed"
        for named in event.transactions:
            if named not in self._by_id:
                yield f"event {number} ({event.kind.value}) lists transaction {named}, not listed"
        for item, writer in event.observed:
            if writer and writer not in self._by_id:
                yield f"event {number} saw {item} written by transaction {writer}, not listed"
        if event.row is not None and event.transaction in self._by_id:
            rows = self._by_id[event.transaction].rows
            if not 0 <= event.row < len(rows):
                yield f"event {number} names row {event.row} of {len(rows)}"
