"""A history: one recorded or simulated run."""

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
"""A reader rejects a greater version."""

INCONSISTENT_HISTORY = register(
    "P504",
    "the history contradicts itself: {reason}",
    "correct the recorder that wrote it: docs/history-format.md has the rules for each field",
)

OptionValue = str | int | bool


class Clock(Enum):
    """Unit of event times."""

    STEPS = "steps"
    """Equal times are one step."""
    MICROSECONDS = "us"
    """Of one server, from any start."""
    ORDER = "order"
    """Order only, one event each."""


class EvidenceTier(Enum):
    """Evidence limits conclusions (ARCHITECTURE.md)."""

    SOURCE_LOG = "T0"
    """The source's log without events."""
    COMMIT_ORDER = "T1"
    """Adds the replica's commit order."""
    COMMIT_WINDOWS = "T2"
    """Adds begins and commits."""
    ROW_OUTCOMES = "T3"
    """Adds row outcomes."""
    CONTROLLED_RUN = "T4"
    """The harness acts as the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHeader:
    """The origin of a history, for repetition."""

    format_version: int = FORMAT_VERSION
    """Version of this format; 1."""
    subject: str = ""
    """Subject, applier, or server and version."""
    dialect: str = ""
    """Like ``wl8440`` or ``mariadb_10_11``."""
    seed: int | None = None
    """Of the random schedule."""
    program: str = ""
    """Choices as base64url text (``vocabulary.programs``)."""
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """By name, like ``workers``."""
    schema: tuple[TableSchema, ...] = ()
    """The tables, as far as they are known."""
    members: tuple[str, ...] = ()
    """Source first; empty if the events name all."""
    clock: Clock = Clock.STEPS
    """What the time of an event counts."""
    tier: EvidenceTier = EvidenceTier.CONTROLLED_RUN
    """What the evidence can show."""
    recorded_by: str = ""
    """Program and version."""


@dataclass(frozen=True, kw_only=True)
class History:
    """A header, transactions in source order, and events in time order.

    If not ``is_complete``, missing events are no evidence.
    """

    header: HistoryHeader = field(default_factory=HistoryHeader)
    transactions: tuple[Transaction, ...] = ()
    events: tuple[Event, ...] = ()
    is_complete: bool = True

    @cached_property
    def _by_id(self) -> dict[TransactionId, Transaction]:
        return {transaction.id: transaction for transaction in self.transactions}

    def transaction(self, transaction_id: TransactionId | int) -> Transaction:
        """Return a transaction by number; else ``KeyError``."""
        return self._by_id[TransactionId(transaction_id)]

    @cached_property
    def members(self) -> tuple[str, ...]:
        """Return the header's members, then others by first event."""
        return tuple(
            dict.fromkeys([*self.header.members, *(event.member for event in self.events)])
        )

    @cached_property
    def kinds(self) -> frozenset[EventKind]:
        """Return the kinds of its events."""
        return frozenset(event.kind for event in self.events)

    def events_of(self, *kinds: EventKind, member: str | None = None) -> Iterator[Event]:
        """Yield events of some kinds, optionally at one member."""
        for event in self.events:
            if event.kind in kinds and (member is None or event.member == member):
                yield event

    def check(self, *, where: str = "") -> History:
        """Return the history, or raise ``ParaplyError`` P504.

        Transaction numbers rise from 1 and times do not fall. Events match transactions and their
        kinds, keys their tables.
        """
        for fault in self.faults():
            raise ParaplyError(INCONSISTENT_HISTORY, where=where, reason=fault)
        return self

    def faults(self) -> Iterator[str]:
        """Yield inconsistencies as sentences."""
        for table in self.header.schema:
            for column in table.key_columns():
                if not 0 <= column < len(table.columns):
                    yield f"a key of {table.name} has column {column} of {len(table.columns)}"
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
