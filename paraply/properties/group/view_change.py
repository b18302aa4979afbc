"""Properties of changes of the group's membership."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import MemberStream, is_rest, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import recorded
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.timestamps import LogicalTimestamp
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChangeNumbered(Violation):
    """A view change has a clock number."""

    member: str
    view_change: TransactionId
    timestamp: LogicalTimestamp | None

    def __str__(self) -> str:
        return f"{self.member} gave the view change T{self.view_change} {self.timestamp}, not 0<0"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChangeOvertaken(Violation):
    """A remote transaction crosses a view change."""

    member: str
    view_change: TransactionId
    transaction: TransactionId
    was_delivered_before: bool

    def __str__(self) -> str:
        side = "before" if self.was_delivered_before else "after"
        other = "after" if self.was_delivered_before else "before"
        return (
            f"{self.member} was given T{self.transaction} {side} the view change "
            f"T{self.view_change} and committed it {other}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinerDecidedOtherwise(Violation):
    """A joiner decides differently."""

    joiner: str
    other: str
    transaction: TransactionId
    decision: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.joiner}, having joined, decided T{self.transaction} {self.decision}; "
            f"{self.other} decided {self.expected}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveriesDifferInView(Violation):
    """Members of two views receive different transactions."""

    view: int
    member: str
    other_member: str
    transactions: tuple[TransactionId, ...]

    def __str__(self) -> str:
        names = " ".join(f"T{one}" for one in self.transactions)
        return f"in view {self.view} only one of {self.member}, {self.other_member} got {names}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryIncomplete(Violation):
    """A joiner certifies before it recovers all."""

    joiner: str
    view: int
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.joiner} ended recovery without T{self.transaction}, "
            f"which was certified before view {self.view}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredBeyondView(Violation):
    """A joiner copies what follows its view."""

    joiner: str
    view: int
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.joiner} copied T{self.transaction} from a donor, "
            f"which was certified after view {self.view}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberNotAtRest(Violation):
    """A member waits forever."""

    member: str

    def __str__(self) -> str:
        return f"{self.member} still waits when the others are at rest, and nothing more happens"


@sometimes(of=recorded(EventKind.VIEW_INSTALLED), source="WL#8440, View_change_log_event")
def a_view_change_is_logged(history: History) -> bool:
    """A member logs a view change."""
    return any(one.is_view_change for stream in member_streams(history) for one in stream.certified)


@sometimes(of=recorded(EventKind.VIEW_INSTALLED), source="WL#8440, EX7")
def a_view_changes_while_transactions_are_queued(history: History) -> bool:
    """A member logs a view change while it has remote transactions still to commit."""
    return any(
        earlier.is_positive
        and earlier.timestamp is not None
        and not stream.had_committed(earlier.transaction.id, change.event_index)
        for stream in member_streams(history)
        for change in stream.certified
        if change.is_view_change
        for earlier in stream.certified[: change.place]
    )


@always(
    of=recorded(EventKind.VIEW_INSTALLED),
    source="WL#8440, View_change_log_event",
    witness=a_view_change_is_logged,
)
def view_changes_are_zero_zero(history: History) -> list[ViewChangeNumbered]:
    """Every member gives a view change the timestamp (0, 0)."""
    return [
        ViewChangeNumbered(
            member=stream.member, view_change=one.transaction.id, timestamp=one.timestamp
        )
        for stream in member_streams(history)
        for one in stream.certified
        if one.is_view_change and not one.is_fence
    ]


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=recorded(EventKind.VIEW_INSTALLED),
    source="WL#8440, View_change_log_event: 'needs to be applied sequentially'",
    witness=a_view_changes_while_transactions_are_queued,
)
def view_changes_are_applied_alone(history: History) -> list[ViewChangeOvertaken]:
    """Each member commits a view change after all remote transactions before it, and before
    all after it.

    What a member that came back copies follows its donor's order instead.
    """
    broken: list[ViewChangeOvertaken] = []
    for stream in member_streams(history):
        copied = set(_copied_at(stream))
        for change in stream.certified:
            changed_at = stream.committed_at.get(change.transaction.id)
            if not change.is_view_change or changed_at is None or changed_at in copied:
                continue
            for other in stream.remote:
                committed_at = stream.committed_at.get(other.transaction.id)
                if committed_at in copied:
                    continue
                # Recovery commits before the stream starts.
                if other is change or committed_at is None or committed_at < other.event_index:
                    continue
                if changed_at < change.event_index:
                    continue
                was_before = other.place < change.place
                if was_before != (committed_at < changed_at):
                    broken.append(
                        ViewChangeOvertaken(
                            member=stream.member,
                            view_change=change.transaction.id,
                            transaction=other.transaction.id,
                            was_delivered_before=was_before,
                        )
                    )
    return broken


def _copied_at(stream: MemberStream) -> Iterator[int]:
    """Yield the places of commits between a later start and the end of recovery."""
    starts, is_copying = 0, False
    for index, event in stream.events:
        if event.kind is EventKind.STARTED:
            starts += 1
            is_copying = starts > 1
        elif event.kind is EventKind.RECOVERED:
            is_copying = False
        elif event.kind is EventKind.ENGINE_COMMITTED and is_copying:
            yield index


@sometimes(of=recorded(EventKind.VIEW_INSTALLED), source="WL#8440, view change on a joiner")
def a_joiner_certifies(history: History) -> bool:
    """A member that joined a running group decides a transaction that another decides too."""
    return any(True for _ in _joiner_decisions(history))


@always(
    of=recorded(EventKind.VIEW_INSTALLED),
    source="WL#8440, View_change_log_event; bug 89938",
    witness=a_joiner_certifies,
)
def joiners_certify_as_their_donors(history: History) -> list[JoinerDecidedOtherwise]:
    """A member that joined decides as the earlier members, and gives the same GTIDs."""
    return [
        JoinerDecidedOtherwise(
            joiner=joiner, other=other, transaction=transaction, decision=mine, expected=theirs
        )
        for joiner, other, transaction, mine, theirs in _joiner_decisions(history)
        if mine != theirs
    ]


@sometimes(
    of=recorded(EventKind.VIEW_INSTALLED), source="virtual synchrony: Birman and Joseph, 1987"
)
def two_members_pass_a_view(history: History) -> bool:
    """Two members install two consecutive views."""
    return any(len(passing) > 1 for passing in _deliveries_by_view(history).values())


@always(
    needs=(EventKind.DELIVERED,),
    of=recorded(EventKind.VIEW_INSTALLED),
    source="WL#8440 rests on it; virtual synchrony: Birman and Joseph, 1987",
    witness=two_members_pass_a_view,
)
def no_delivery_crosses_a_view(history: History) -> list[DeliveriesDifferInView]:
    """Members that pass from one view to the next were given the same transactions between."""
    broken: list[DeliveriesDifferInView] = []
    for view, passing in sorted(_deliveries_by_view(history).items()):
        (first, expected), *others = passing.items()
        broken += [
            DeliveriesDifferInView(
                view=view,
                member=first,
                other_member=member,
                transactions=tuple(sorted(expected ^ delivered)),
            )
            for member, delivered in others
            if delivered != expected
        ]
    return broken


def controlled_views(history: History) -> bool:
    """Members of a controlled run install views."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and EventKind.VIEW_INSTALLED in history.kinds


@sometimes(of=recorded(EventKind.VIEW_INSTALLED), source="WL#8440, wait until view change")
def a_member_recovers_from_a_donor(history: History) -> bool:
    """A joiner ends recovery with at least one transaction."""
    return any(event.transactions for event in history.events_of(EventKind.RECOVERED))


@always(
    needs=(EventKind.CERTIFIED,),
    of=recorded(EventKind.VIEW_INSTALLED),
    source="WL#8440, wait until view change",
    witness=a_member_recovers_from_a_donor,
)
def recovery_reaches_the_view_change(history: History) -> list[RecoveryIncomplete]:
    """A joiner certifies only once it has all that was certified before its view.

    WAIT_UNTIL_VIEW_CHANGE stops after a logged view change.
    """
    certified_before = _certified_before_views(history)
    broken: list[RecoveryIncomplete] = []
    for joiner, view, executed in _recoveries(history):
        broken += [
            RecoveryIncomplete(joiner=joiner, view=view, transaction=transaction)
            for transaction in sorted(certified_before.get(view, frozenset()) - executed)
        ]
    return broken


def _last_copies(history: History) -> Iterator[tuple[str, int, TransactionId]]:
    """Yield joiners, their view, and the last transaction that they copied from a donor."""
    for stream in member_streams(history):
        copied: TransactionId | None = None
        has_recovered = False
        for _, event in stream.events:
            if event.kind is EventKind.STARTED:
                copied, has_recovered = None, False
            elif event.kind is EventKind.ENGINE_COMMITTED and not has_recovered:
                copied = event.transaction
            elif event.kind is EventKind.RECOVERED:
                has_recovered = True
            elif event.kind is EventKind.VIEW_INSTALLED and has_recovered:
                if copied is not None and event.view is not None:
                    yield stream.member, event.view, copied
                copied = None


@always(
    needs=(EventKind.CERTIFIED,),
    of=controlled_views,
    source="WL#8440, wait until view change: recovery stops there",
    witness=lambda history: sum(1 for _ in _last_copies(history)),
    is_safety=False,
)
def recovery_stops_at_the_view_change(history: History) -> list[RecoveredBeyondView]:
    """The last transaction that a joiner copies from a donor was certified before its view."""
    certified_before = _certified_before_views(history)
    return [
        RecoveredBeyondView(joiner=joiner, view=view, transaction=copied)
        for joiner, view, copied in _last_copies(history)
        if view in certified_before and copied not in certified_before[view]
    ]


@sometimes(of=recorded(EventKind.VIEW_INSTALLED), source="WL#8440, view change on a joiner")
def a_joiner_ends_at_rest(history: History) -> bool:
    """A member that recovered is at rest when nothing more can happen."""
    recovered = {event.member for event in history.events_of(EventKind.RECOVERED)}
    return not recovered.isdisjoint(_at_rest(history))


@always(
    needs=(EventKind.STARTED,),
    of=recorded(EventKind.VIEW_INSTALLED),
    source="WL#8440, wait until view change; bug 89938",
    witness=a_joiner_ends_at_rest,
    is_safety=False,
)
def members_end_at_rest(history: History) -> list[MemberNotAtRest]:
    """When nothing more can happen, every member is online and has applied all that it certified.

    A history says that nothing more can happen by STOPPED events with the note "at rest".
    """
    if not _at_rest(history):
        return []
    last: dict[str, Event] = {}
    for event in history.events_of(EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED):
        last[event.member] = event
    return [
        MemberNotAtRest(member=member)
        for member, event in last.items()
        if event.kind is EventKind.STARTED
    ]


def _at_rest(history: History) -> frozenset[str]:
    return frozenset(event.member for event in history.events if is_rest(event))


def _joiner_decisions(history: History) -> Iterator[tuple[str, str, TransactionId, str, str]]:
    decisions: dict[TransactionId, tuple[str, str]] = {}
    joined: set[str] = set()
    late: list[tuple[str, TransactionId, str]] = []
    for event in history.events:
        if event.kind is EventKind.RECOVERED:
            joined.add(event.member)
        elif event.kind is EventKind.CERTIFIED and event.transaction and event.outcome:
            decision = f"{event.outcome.value} {event.gtid}".strip()
            if event.member in joined:
                late.append((event.member, event.transaction, decision))
            else:
                decisions.setdefault(event.transaction, (event.member, decision))
    for joiner, transaction, decision in late:
        if transaction in decisions:
            other, expected = decisions[transaction]
            yield joiner, other, transaction, decision, expected


def _deliveries_by_view(history: History) -> dict[int, dict[str, frozenset[TransactionId]]]:
    """Return view -> member -> transactions received."""
    result: dict[int, dict[str, frozenset[TransactionId]]] = {}
    for member in history.members:
        view: int | None = None
        delivered: set[TransactionId] = set()
        for event in history.events_of(
            EventKind.VIEW_INSTALLED, EventKind.DELIVERED, EventKind.STARTED, member=member
        ):
            if event.kind is EventKind.DELIVERED and event.transaction is not None:
                delivered.add(event.transaction)
                continue
            if event.kind is EventKind.VIEW_INSTALLED:
                if view is not None and event.view == view + 1:
                    result.setdefault(view, {})[member] = frozenset(delivered)
                view = event.view
            else:
                view = None
            delivered = set()
    return result


def _certified_before_views(history: History) -> dict[int, frozenset[TransactionId]]:
    """Return view -> transactions certified before it, itself included."""
    result: dict[int, frozenset[TransactionId]] = {}
    for stream in member_streams(history):
        positive: set[TransactionId] = set()
        is_whole = True
        for _, event in stream.events:
            if event.kind is EventKind.RECOVERED:
                is_whole = False
            elif event.kind is EventKind.CERTIFIED and event.outcome is Outcome.POSITIVE:
                if event.transaction is not None:
                    positive.add(event.transaction)
            elif event.kind is EventKind.VIEW_INSTALLED and event.view is not None and is_whole:
                result.setdefault(event.view, frozenset(positive))
    return result


def _recoveries(history: History) -> Iterator[tuple[str, int, frozenset[TransactionId]]]:
    for stream in member_streams(history):
        recovered: frozenset[TransactionId] | None = None
        for _, event in stream.events:
            if event.kind is EventKind.RECOVERED:
                recovered = frozenset(event.transactions)
            elif event.kind is EventKind.VIEW_INSTALLED and recovered is not None:
                if event.view is not None:
                    yield stream.member, event.view, recovered
                recovered = None
