"""Certification after a retry with a specified GTID."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import is_rest
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import certification, recorded, specified_gtids
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRefused(Violation):
    """A retry after a rollback is rejected forever."""

    member: str
    transaction: TransactionId
    gtid: str

    def __str__(self) -> str:
        return (
            f"{self.member} refused T{self.transaction} at its second attempt, because it had "
            f"certified {self.gtid} at the first, which was rolled back"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryNotCertified(Violation):
    """A retry is announced and never certified."""

    member: str
    transaction: TransactionId
    attempt: int

    def __str__(self) -> str:
        return f"{self.member} never certified T{self.transaction} at its attempt {self.attempt}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedGtidCertified(Violation):
    """A transaction is certified under an executed GTID."""

    member: str
    transaction: TransactionId
    executed: TransactionId
    gtid: str

    def __str__(self) -> str:
        return (
            f"{self.member} certified T{self.transaction} as {self.gtid}, which is "
            f"T{self.executed}'s and executed"
        )


def _something_is_retried(history: History) -> bool:
    return any(event.attempt > 1 for event in history.events_of(EventKind.CERTIFIED))


def _a_gtid_comes_twice(history: History) -> bool:
    executed: set[str] = set()
    for event in history.events:
        gtid = history.transaction(event.transaction).gtid if event.transaction else ""
        if not gtid:
            continue
        if event.kind is EventKind.ENGINE_COMMITTED:
            executed.add(gtid)
        elif event.kind is EventKind.CERTIFIED and gtid in executed:
            return True
    return False


@always(
    of=recorded(EventKind.CERTIFIED, EventKind.RETRIED),
    source="MySQL bug 34157846",
    witness=_something_is_retried,
)
def retries_are_certified_again(history: History) -> list[RetryRefused | RetryNotCertified]:
    """A transaction that was certified and rolled back is certified when it is tried again."""
    refused = [
        RetryRefused(
            member=event.member,
            transaction=event.transaction,
            gtid=history.transaction(event.transaction).gtid,
        )
        for event in history.events_of(EventKind.CERTIFIED)
        if event.attempt > 1 and event.outcome is Outcome.NEGATIVE and event.transaction is not None
    ]
    return [*refused, *_never_certified(history)]


def _never_certified(history: History) -> Iterator[RetryNotCertified]:
    decided = {
        (event.member, event.transaction, event.attempt)
        for event in history.events_of(EventKind.CERTIFIED)
    }
    crashed = {event.member for event in history.events_of(EventKind.CRASHED)}
    for event in history.events_of(EventKind.RETRIED):
        is_open = event.member in crashed or not history.is_complete
        key = (event.member, event.transaction, event.attempt)
        if event.transaction is not None and not is_open and key not in decided:
            yield RetryNotCertified(
                member=event.member, transaction=event.transaction, attempt=event.attempt
            )


@always(
    of=specified_gtids, source="MySQL manual, GTID_NEXT; bug 103641", witness=_a_gtid_comes_twice
)
def executed_gtids_are_refused(history: History) -> list[ExecutedGtidCertified]:
    """No transaction is certified under a GTID that is executed on the member."""
    found = []
    executed: dict[tuple[str, str], TransactionId] = {}
    for event in history.events:
        if event.transaction is None:
            continue
        gtid = history.transaction(event.transaction).gtid
        if not gtid:
            continue
        owner = executed.get((event.member, gtid))
        if event.kind is EventKind.ENGINE_COMMITTED:
            executed.setdefault((event.member, gtid), event.transaction)
        elif event.kind is EventKind.CERTIFIED and event.outcome is Outcome.POSITIVE and owner:
            found.append(
                ExecutedGtidCertified(
                    member=event.member,
                    transaction=event.transaction,
                    executed=owner,
                    gtid=gtid,
                )
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedNotExecuted(Violation):
    """A member at rest has executed another number of transactions than it certified."""

    member: str
    executed: int
    certified: int

    def __str__(self) -> str:
        return (
            f"{self.member} came to rest having executed {self.executed} of the "
            f"{self.certified} transactions that it last certified as free of conflicts"
        )


def _rests(history: History) -> Iterator[CertifiedNotExecuted]:
    """Yield what members that stayed up state at rest, and what they last certified."""
    certified: dict[str, dict[TransactionId, bool]] = {}
    away: set[str] = set()
    for event in history.events:
        if event.kind in (EventKind.CRASHED, EventKind.RECOVERED):
            away.add(event.member)
        elif event.kind is EventKind.CERTIFIED and event.transaction is not None:
            mine = certified.setdefault(event.member, {})
            mine[event.transaction] = event.outcome is Outcome.POSITIVE
        elif is_rest(event) and event.version is not None and event.member not in away:
            yield CertifiedNotExecuted(
                member=event.member,
                executed=event.version,
                certified=sum(certified.get(event.member, {}).values()),
            )


def counted_at_rest(history: History) -> bool:
    """Members certify, and state at rest how many certified transactions they executed."""
    return certification(history) and any(True for _ in _rests(history))


@always(
    of=counted_at_rest,
    source="WL#8440, replication path: certified transactions are applied or committed",
    witness=lambda history: sum(one.certified > 0 for one in _rests(history)),
)
def certified_transactions_are_executed(history: History) -> tuple[CertifiedNotExecuted, ...]:
    """A member at rest has executed all that it certified, but what it rejected when retried."""
    return tuple(one for one in _rests(history) if one.executed != one.certified)


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificationMiscounted(Violation):
    """A certification has another attempt number than the next."""

    member: str
    transaction: TransactionId
    attempt: int
    expected: int

    def __str__(self) -> str:
        return (
            f"{self.member} certified T{self.transaction} in attempt {self.attempt}; this is "
            f"attempt {self.expected}"
        )


def controlled_retries(history: History) -> bool:
    """A controlled run of members that certify counts attempts."""
    return history.header.tier is EvidenceTier.CONTROLLED_RUN and certification(history)


def _counted(history: History) -> Iterator[CertificationMiscounted]:
    """Yield each certification since a member's start, and the attempt that it has to be."""
    last: dict[tuple[str, TransactionId], int] = {}
    for event in history.events_of(EventKind.STARTED, EventKind.CRASHED, EventKind.CERTIFIED):
        if event.kind is not EventKind.CERTIFIED:
            last = {key: attempt for key, attempt in last.items() if key[0] != event.member}
        elif event.transaction is not None:
            key = event.member, event.transaction
            yield CertificationMiscounted(
                member=event.member,
                transaction=event.transaction,
                attempt=event.attempt,
                expected=last.get(key, 0) + 1,
            )
            last[key] = event.attempt


@always(
    of=controlled_retries,
    source="MySQL bug 34157846; replica_transaction_retries",
    witness=lambda history: sum(1 for _ in _counted(history)),
)
def certifications_are_counted_one_by_one(
    history: History,
) -> tuple[CertificationMiscounted, ...]:
    """A member numbers the certifications of a transaction since its start 1, 2 and so on."""
    return tuple(one for one in _counted(history) if one.attempt != one.expected)
