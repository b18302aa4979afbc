"""Certification after a retry with a specified GTID."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import recorded, specified_gtids
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.history import History
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
