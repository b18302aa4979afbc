"""Certification: the winners, and the members' agreement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import (
    Certified,
    MemberStream,
    Snapshots,
    member_streams,
    positive_before,
    share_items,
    snapshots,
)
from paraply.properties.registry import Violation, always, fields, sometimes
from paraply.properties.vocabularies import certification, specified_gtids
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.gtid_set import GTID_NUMBER_MAX
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import format_item, sorted_items

_MARIADB_GTID = re.compile(r"\d+-\d+-\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcurrentWritersCertified(Violation):
    """Two concurrent writers are both certified."""

    member: str
    winner: TransactionId
    second: TransactionId
    items: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.member} certified T{self.second} although T{self.winner}, certified before "
            f"it, wrote {', '.join(self.items)} and is not in its snapshot"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedWithoutConflict(Violation):
    """A transaction without a conflict is rejected."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} refused T{self.transaction}, which saw every earlier certified "
            "writer of its rows"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusedGtidRefused(Violation):
    """A transaction is rejected though its GTID is unused."""

    member: str
    transaction: TransactionId
    gtid: str

    def __str__(self) -> str:
        return (
            f"{self.member} refused T{self.transaction}, which conflicts with nothing, and no "
            f"earlier transaction had {self.gtid}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionsDiffer(Violation):
    """Two members' decisions or GTIDs differ."""

    transaction: TransactionId
    member: str
    decision: str
    other_member: str
    other_decision: str

    def __str__(self) -> str:
        return (
            f"T{self.transaction} is {self.decision} on {self.member} "
            f"and {self.other_decision} on {self.other_member}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidOutOfRange(Violation):
    """A GTID has a number or a form that no GTID may have."""

    member: str
    transaction: TransactionId
    gtid: str

    def __str__(self) -> str:
        return f"{self.member} gave T{self.transaction} {self.gtid!r}, which is no GTID"


@dataclass(frozen=True, slots=True, kw_only=True)
class GtidGivenTwice(Violation):
    """One GTID names two transactions."""

    gtid: str
    transaction: TransactionId
    other: TransactionId
    members: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.gtid} names T{self.transaction} and T{self.other} ({', '.join(self.members)})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedSetsDiffer(Violation):
    """Two members' final executed sets differ."""

    member: str
    other_member: str
    only_here: tuple[TransactionId, ...]
    only_there: tuple[TransactionId, ...]

    def __str__(self) -> str:
        here = " ".join(f"T{one}" for one in self.only_here) or "nothing"
        there = " ".join(f"T{one}" for one in self.only_there) or "nothing"
        return f"only {self.member} executed {here}, only {self.other_member} executed {there}"


def _is_positive(event: Event) -> bool:
    return event.outcome is Outcome.POSITIVE


@sometimes(of=certification, source="WL#8440, trx.LC: 'two parallel conflicting transactions'")
def two_writers_race(history: History) -> bool:
    """A member receives two transactions that wrote one row without seeing each other."""
    seen = snapshots(history)
    return any(
        _is_concurrent(earlier, later, seen)
        for stream in member_streams(history)
        for later in stream.certified
        for earlier in positive_before(stream, later)
        if share_items(earlier.transaction, later.transaction)
    )


@sometimes(of=certification, source="WL#8440, trx.LC: 'the other will be rejected (rollback)'")
def a_transaction_is_refused(history: History) -> bool:
    """A member certifies a transaction negatively."""
    return any(
        event.outcome is Outcome.NEGATIVE for event in history.events_of(EventKind.CERTIFIED)
    )


@sometimes(of=certification, source="WL#8440, replication path")
def two_members_certify_one_transaction(history: History) -> bool:
    """Two members certify the same transaction."""
    certifiers: dict[TransactionId, str] = {}
    for event in history.events_of(EventKind.CERTIFIED):
        if event.transaction is not None and (
            certifiers.setdefault(event.transaction, event.member) != event.member
        ):
            return True
    return False


def _a_gtid_is_given(history: History) -> bool:
    return any(event.gtid for event in history.events_of(EventKind.CERTIFIED))


def _is_no_gtid(text: str) -> bool:
    if _MARIADB_GTID.fullmatch(text):
        return False
    source, _, number = text.rpartition(":")
    if not source or not number.isdecimal():
        return True
    return len(number) > len(str(GTID_NUMBER_MAX)) or not 1 <= int(number) <= GTID_NUMBER_MAX


def _two_gtids_are_given(history: History) -> bool:
    return len({event.gtid for event in history.events_of(EventKind.CERTIFIED) if event.gtid}) > 1


@always(
    of=certification,
    source="WL#8440, trx.LC: 'the first one to reach certification will be accepted'",
    witness=two_writers_race,
)
def first_certified_wins(history: History) -> list[ConcurrentWritersCertified]:
    """Of two transactions that wrote one row unseen by each other, only the first is certified.

    This includes purged earlier decisions.
    """
    seen = snapshots(history)
    return [
        ConcurrentWritersCertified(
            member=stream.member,
            winner=earlier.transaction.id,
            second=later.transaction.id,
            items=_common_items(earlier, later),
        )
        for stream in member_streams(history)
        for later in stream.certified
        if later.is_positive
        for earlier in positive_before(stream, later)
        if share_items(earlier.transaction, later.transaction)
        and _is_concurrent(earlier, later, seen)
    ]


@always(
    of=certification,
    source="WL#8440, trx.LC; precision, holds where snapshots are closed",
    witness=a_transaction_is_refused,
    is_safety=False,
)
def only_conflicts_are_refused(history: History) -> list[RefusedWithoutConflict]:
    """A refused transaction did not see some earlier certified writer of a row it wrote.

    Applies only to closed snapshots: the stored version is the writer's whole snapshot, so refusals
    without conflict are by design when the origin breaks commit order.
    """
    seen = snapshots(history)
    return [
        refusal
        for refusal in _undeserved(history, seen)
        if _is_closed(seen.get(refusal.transaction, frozenset()), seen)
    ]


@always(
    of=certification,
    source="MySQL manual, replica_preserve_commit_order",
    witness=a_transaction_is_refused,
    is_safety=False,
)
def refusals_are_deserved(history: History) -> list[RefusedWithoutConflict]:
    """A refused transaction shares a row with a certified transaction that it had not seen.

    Applies to every snapshot, also one with holes, which cause refusals without conflict.
    """
    return _undeserved(history, snapshots(history))


def _undeserved(history: History, seen: Snapshots) -> list[RefusedWithoutConflict]:
    return [
        RefusedWithoutConflict(member=stream.member, transaction=refused.transaction.id)
        for stream, refused in _refusals_without_conflict(history, seen)
        if not refused.transaction.gtid
    ]


def _refusals_without_conflict(
    history: History, seen: Snapshots
) -> Iterator[tuple[MemberStream, Certified]]:
    for stream in member_streams(history):
        for refused in stream.certified:
            if not refused.is_positive and not any(
                share_items(earlier.transaction, refused.transaction)
                and _is_concurrent(earlier, refused, seen)
                for earlier in positive_before(stream, refused)
            ):
                yield stream, refused


def _a_gtid_of_its_own_is_refused(history: History) -> int:
    return sum(
        event.outcome is Outcome.NEGATIVE and bool(history.transaction(event.transaction).gtid)
        for event in history.events_of(EventKind.CERTIFIED)
        if event.transaction is not None
    )


@always(
    of=specified_gtids,
    source="Certifier::certify: a specified GTID that was used",
    witness=_a_gtid_of_its_own_is_refused,
    is_safety=False,
)
def only_used_gtids_are_refused(history: History) -> list[UnusedGtidRefused]:
    """A transaction that comes with a GTID is refused for a conflict, or for a used GTID."""
    return [
        UnusedGtidRefused(
            member=stream.member, transaction=refused.transaction.id, gtid=refused.transaction.gtid
        )
        for stream, refused in _refusals_without_conflict(history, snapshots(history))
        if refused.transaction.gtid
        and not any(
            refused.transaction.gtid in (earlier.gtid, earlier.transaction.gtid)
            for earlier in positive_before(stream, refused)
        )
    ]


@always(
    gaps=(fields(EventKind.CERTIFIED, "gtid", where=_is_positive),),
    of=certification,
    source="WL#8440, parallelization indexes; bug 89938",
    witness=two_members_certify_one_transaction,
)
def members_decide_alike(history: History) -> list[DecisionsDiffer]:
    """All members give an attempt of a transaction the same decision and GTID.

    Timestamps may differ: they count remote transactions.
    """
    first: dict[tuple[TransactionId, int], tuple[str, str]] = {}
    differing: list[DecisionsDiffer] = []
    for event in history.events_of(EventKind.CERTIFIED):
        if event.transaction is None or event.outcome is None:
            continue
        decision = f"{event.outcome.value} {event.gtid}".strip()
        member, expected = first.setdefault(
            (event.transaction, event.attempt), (event.member, decision)
        )
        if decision != expected:
            differing.append(
                DecisionsDiffer(
                    transaction=event.transaction,
                    member=member,
                    decision=expected,
                    other_member=event.member,
                    other_decision=decision,
                )
            )
    return differing


@always(
    of=certification, source="MySQL manual, GTID format; bug 103641", witness=_two_gtids_are_given
)
def gtids_are_unique(history: History) -> list[GtidGivenTwice]:
    """No GTID names two transactions, on any members."""
    owners: dict[str, tuple[TransactionId, str]] = {}
    given_twice: list[GtidGivenTwice] = []
    for event in history.events_of(EventKind.CERTIFIED):
        if not event.gtid or event.transaction is None:
            continue
        owner, member = owners.setdefault(event.gtid, (event.transaction, event.member))
        if owner != event.transaction:
            given_twice.append(
                GtidGivenTwice(
                    gtid=event.gtid,
                    transaction=owner,
                    other=event.transaction,
                    members=(member, event.member),
                )
            )
    return given_twice


@always(of=certification, source="MySQL manual, GTID format", witness=_a_gtid_is_given)
def gtid_numbers_are_in_range(history: History) -> list[GtidOutOfRange]:
    """Every GTID that is given is one: in MySQL's form, its number is from 1 to 2^63 - 2."""
    return [
        GtidOutOfRange(member=event.member, transaction=event.transaction, gtid=event.gtid)
        for event in history.events_of(EventKind.CERTIFIED)
        if event.transaction is not None and event.gtid and _is_no_gtid(event.gtid)
    ]


@sometimes(of=certification, source="WL#8440, replication path")
def a_group_comes_to_rest(history: History) -> bool:
    """The run ends with two members in the view that have applied all they certified."""
    return len(_executed_at_rest(history)) > 1


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=certification,
    source="MySQL manual, group replication: members converge",
    witness=a_group_comes_to_rest,
)
def members_execute_the_same(history: History) -> list[ExecutedSetsDiffer]:
    """Members that have applied everything have executed the same transactions."""
    executed = _executed_at_rest(history)
    (first, expected), *others = executed.items() or [("", frozenset())]
    return [
        ExecutedSetsDiffer(
            member=first,
            other_member=member,
            only_here=tuple(sorted(expected - there)),
            only_there=tuple(sorted(there - expected)),
        )
        for member, there in others
        if there != expected
    ]


def _executed_at_rest(history: History) -> dict[str, frozenset[TransactionId]]:
    """Return the executed sets of members that end with STOPPED, except those that left."""
    stopped = [
        stream
        for stream in member_streams(history)
        if stream.events and stream.events[-1][1].kind is EventKind.STOPPED
    ]
    views = {event.view: event.members for event in history.events_of(EventKind.VIEW_INSTALLED)}
    newest = views[max(view or 0 for view in views)] if views else ()
    return {
        stream.member: frozenset(stream.committed_at)
        for stream in stopped
        if not newest or stream.member in newest
    }


def _is_concurrent(
    earlier: Certified,
    later: Certified,
    seen: Snapshots,
) -> bool:
    one, other = earlier.transaction.id, later.transaction.id
    snapshot = seen.get(other)
    return one != other and snapshot is not None and one not in snapshot


def _is_closed(snapshot: frozenset[TransactionId], seen: Snapshots) -> bool:
    return all(seen.get(one, frozenset()) <= snapshot for one in snapshot)


def _common_items(a: Certified, b: Certified) -> tuple[str, ...]:
    common = a.transaction.write_set & b.transaction.write_set
    return tuple(format_item(item) for item in sorted_items(common))
