"""Guarantees for a session that reads on replicas and writes at the source.

Replicas may lag behind the session. Source: Terry et al., "Session Guarantees for Weakly Consistent
Replicated Data" (1994), over the log's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.readers.replica_reads import prefixes_that_explain, writers_of
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import (
    BETWEEN_DOMAINS,
    client_reads,
    client_reads_and_writes,
    session_writes,
)
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import INITIAL_STATE, TransactionId
from paraply.vocabulary.write_set import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class AcknowledgedWriteUnseen(Violation):
    """A session misses its acknowledged write."""

    session: str
    member: str
    item: Item
    written_by: TransactionId
    seen: TransactionId

    def __str__(self) -> str:
        return (
            f"session {self.session} was told that T{self.written_by} is done, and then read "
            f"{self.item} of T{self.seen} at {self.member}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReadWentBack(Violation):
    """A session sees less than before."""

    session: str
    member: str
    item: Item
    missed: TransactionId
    shown_before: TransactionId

    def __str__(self) -> str:
        return (
            f"session {self.session} had seen T{self.shown_before}, and then missed {self.item} of "
            f"T{self.missed} at {self.member}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWriteLoggedEarlier(Violation):
    """A write precedes the session's acknowledged one."""

    session: str
    transaction: TransactionId
    after: TransactionId

    def __str__(self) -> str:
        return (
            f"session {self.session} issued T{self.transaction} after it was told that "
            f"T{self.after} is done; the log has it before"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteLoggedBeforeWhatWasRead(Violation):
    """A write precedes what the session read."""

    session: str
    transaction: TransactionId
    read: TransactionId

    def __str__(self) -> str:
        return (
            f"session {self.session} issued T{self.transaction} after it had read of "
            f"T{self.read}; the log has it before"
        )


@dataclass(slots=True)
class _Session:
    shown: TransactionId = INITIAL_STATE
    done: TransactionId = INITIAL_STATE
    """Its last acknowledged transaction."""
    own: dict[Item, TransactionId] = field(default_factory=dict)
    """Its last acknowledged write per row."""
    reads: int = 0


def _session_steps(history: History) -> Iterator[tuple[Event, str, _Session]]:
    """Yield each event with its session's prior state."""
    sessions: dict[str, _Session] = {}
    writers = writers_of(history)
    kinds = (EventKind.READ, EventKind.SUBMITTED, EventKind.CLIENT_ACKNOWLEDGED)
    for event in history.events_of(*kinds):
        issued = None if event.transaction is None else history.transaction(event.transaction)
        name = event.session or (issued.session if issued is not None else "")
        if not name:
            continue
        session = sessions.setdefault(name, _Session())
        yield event, name, session
        if event.kind is EventKind.READ:
            least = prefixes_that_explain(event.observed, writers).least
            session.shown = max(session.shown, least)
            session.reads += 1
        elif event.kind is EventKind.CLIENT_ACKNOWLEDGED and issued is not None:
            session.done = max(session.done, issued.id)
            for item in issued.write_set:
                session.own[item] = max(issued.id, session.own.get(item, INITIAL_STATE))


def _reads_own_row(history: History) -> bool:
    return any(
        event.kind is EventKind.READ and any(item in session.own for item, _ in event.observed)
        for event, _, session in _session_steps(history)
    )


@always(of=client_reads_and_writes, source="Terry et al.: read your writes", witness=_reads_own_row)
def sessions_read_their_writes(history: History) -> tuple[AcknowledgedWriteUnseen, ...]:
    """A session sees, wherever it reads, each of its own acknowledged writes."""
    return tuple(
        AcknowledgedWriteUnseen(
            session=name,
            member=event.member,
            item=item,
            written_by=session.own[item],
            seen=writer,
        )
        for event, name, session in _session_steps(history)
        if event.kind is EventKind.READ
        for item, writer in event.observed
        if writer < session.own.get(item, INITIAL_STATE)
    )


def _reads_twice(history: History) -> bool:
    return any(
        event.kind is EventKind.READ and session.reads
        for event, _, session in _session_steps(history)
    )


@always(
    exemptions=(BETWEEN_DOMAINS,),
    of=client_reads,
    source="Terry et al.: monotonic reads",
    witness=_reads_twice,
)
def session_reads_never_go_back(history: History) -> tuple[SessionReadWentBack, ...]:
    """Of two reads of a session, on whichever replicas, the later never shows less."""
    writers = writers_of(history)
    found = []
    for event, name, session in _session_steps(history):
        if event.kind is not EventKind.READ:
            continue
        read = prefixes_that_explain(event.observed, writers)
        if read.limit is not None and read.limit <= session.shown:
            found.append(
                SessionReadWentBack(
                    session=name,
                    member=event.member,
                    item=read.limit_item,
                    missed=read.limit,
                    shown_before=session.shown,
                )
            )
    return tuple(found)


def _writes_again(history: History) -> bool:
    return any(
        event.kind is EventKind.SUBMITTED and session.done
        for event, _, session in _session_steps(history)
    )


@always(of=session_writes, source="Terry et al.: monotonic writes", witness=_writes_again)
def session_writes_are_logged_in_order(
    history: History,
) -> tuple[SessionWriteLoggedEarlier, ...]:
    """A write of a session follows its earlier acknowledged writes in the log."""
    return tuple(
        SessionWriteLoggedEarlier(session=name, transaction=event.transaction, after=session.done)
        for event, name, session in _session_steps(history)
        if event.kind is EventKind.SUBMITTED
        and event.transaction is not None
        and event.transaction < session.done
    )


def _writes_after_reading(history: History) -> bool:
    return any(
        event.kind is EventKind.SUBMITTED and session.shown
        for event, _, session in _session_steps(history)
    )


@always(
    of=client_reads_and_writes,
    source="Terry et al.: writes follow reads",
    witness=_writes_after_reading,
)
def session_writes_follow_its_reads(
    history: History,
) -> tuple[WriteLoggedBeforeWhatWasRead, ...]:
    """A write of a session follows in the log all that the session had read."""
    return tuple(
        WriteLoggedBeforeWhatWasRead(
            session=name, transaction=event.transaction, read=session.shown
        )
        for event, name, session in _session_steps(history)
        if event.kind is EventKind.SUBMITTED
        and event.transaction is not None
        and event.transaction < session.shown
    )
