"""How a member's stable set follows from executed sets that members reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from paraply.properties.certification.garbage_collection import PREEMPTIVE
from paraply.properties.group.stream import MemberStream, items_not_stored, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification, recorded, views_with_members
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

Executed = frozenset[TransactionId]

RECOVERING_REPORT = frozenset({"wl8440", "wl8440_literal", "mysql_8_0"})
"""Dialects whose rounds wait for members that recover."""
COLLECTS_IF_GROWN = frozenset({"mysql_8_4", "mysql_9_7"})
"""Dialects that ignore an unchanged stable set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StableSetShrank(Violation):
    """A later stable set lacks a transaction."""

    member: str
    missing: tuple[TransactionId, ...]

    def __str__(self) -> str:
        return f"{self.member} no longer counts {_names(self.missing)} as stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class StableWithoutReports(Violation):
    """No reports have the new stable set as their intersection."""

    member: str
    became_stable: tuple[TransactionId, ...]
    left_out: tuple[TransactionId, ...]

    def __str__(self) -> str:
        became = _names(self.became_stable) or "nothing"
        return (
            f"{self.member} took {became} for stable; the reports with that have "
            f"{_names(self.left_out) or 'no member in common'} in common, too"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedNotCounted(Violation):
    """After a preemptive collection, a certified transaction is not stable."""

    member: str
    missing: tuple[TransactionId, ...]

    def __str__(self) -> str:
        return (
            f"{self.member} purged everything and does not count {_names(self.missing)}, which it "
            "had certified, as stable"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingBecameStable(Violation):
    """A collection repeats the stable set."""

    member: str
    stable: str

    def __str__(self) -> str:
        return f"{self.member} collected again with the stable set {self.stable or 'of nothing'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedBelowThreshold(Violation):
    """A preemptive collection purges fewer items than start it."""

    member: str
    items: int
    threshold: int

    def __str__(self) -> str:
        return (
            f"{self.member} purged all certification info preemptively at {self.items} items; the "
            f"threshold is {self.threshold}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedAtOwnView(Violation):
    """A joiner collects where it joins."""

    member: str
    view: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.member} collected in the step in which it joined {', '.join(self.view)}"


def _names(transactions: tuple[TransactionId, ...]) -> str:
    return " ".join(f"T{one}" for one in transactions)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Collection:
    """A collection and what its member knew before it.

    Attributes:
        before: the stable set of the collection before, in this stay in the group.
        gtids_before: the same as GTIDs.
        certified: positive decisions in this stay.
        joined: members that the view adds in whose step the member collects.
        is_first_of_joiner: the member has an unknown stable set of its donor.
    """

    stream: MemberStream
    index: int
    event: Event
    before: Executed
    gtids_before: str
    certified: Executed
    view: tuple[str, ...]
    online: tuple[str, ...]
    joined: tuple[str, ...]
    is_first_of_joiner: bool

    @property
    def after(self) -> Executed:
        return frozenset(self.event.transactions)

    @property
    def is_preemptive(self) -> bool:
        return self.event.note == PREEMPTIVE


@dataclass(slots=True)
class _Member:
    """A member's state between its events."""

    before: Executed = frozenset()
    gtids_before: str = ""
    certified: set[TransactionId] = field(default_factory=set)
    view: tuple[str, ...] = ()
    online: tuple[str, ...] = ()
    has_donor: bool = False

    def follow(self, event: Event) -> None:
        """Apply an event."""
        if event.kind is EventKind.RECOVERED:
            self.has_donor = True
        elif event.kind is EventKind.VIEW_INSTALLED:
            self.view = event.members
        elif event.kind is EventKind.ONLINE:
            self.online = event.members
        elif event.kind is EventKind.GARBAGE_COLLECTED:
            self.before, self.gtids_before = frozenset(event.transactions), event.gtid_set
            self.has_donor = False
        elif event.outcome is Outcome.POSITIVE and event.transaction is not None:
            self.certified.add(event.transaction)


def _collections(history: History) -> Iterator[_Collection]:
    for stream in member_streams(history):
        state = _Member()
        for place, (index, event) in enumerate(stream.events):
            if event.kind is EventKind.STARTED:
                state = _Member()
            if event.kind is EventKind.GARBAGE_COLLECTED:
                yield _Collection(
                    stream=stream,
                    index=index,
                    event=event,
                    before=state.before,
                    gtids_before=state.gtids_before,
                    certified=frozenset(state.certified),
                    view=state.view,
                    online=state.online,
                    joined=_joined(stream, place, state.view),
                    is_first_of_joiner=state.has_donor,
                )
            state.follow(event)


def _joined(stream: MemberStream, place: int, view: tuple[str, ...]) -> tuple[str, ...]:
    _, collection = stream.events[place]
    for _, event in stream.events[place + 1 :]:
        # A round may have ended in the step of the join: its own collection comes last.
        if event.time != collection.time or event.kind is EventKind.GARBAGE_COLLECTED:
            break
        if event.kind is EventKind.VIEW_INSTALLED:
            return tuple(member for member in event.members if member not in view)
    return ()


@always(
    of=recorded(EventKind.GARBAGE_COLLECTED),
    source="certifier.cc: stable_gtid_set is only ever added to, until the member stops",
    witness=lambda history: sum(bool(one.before) for one in _collections(history)),
)
def stable_sets_only_grow(history: History) -> list[StableSetShrank]:
    """What a member counts as stable stays stable until it starts again."""
    return [
        StableSetShrank(member=one.stream.member, missing=tuple(sorted(one.before - one.after)))
        for one in _collections(history)
        if not one.is_first_of_joiner and not one.before <= one.after
    ]


def collects_preemptively(history: History) -> bool:
    """Members purge all certification info at a threshold."""
    return any(event.note == PREEMPTIVE for event in history.events_of(EventKind.GARBAGE_COLLECTED))


@sometimes(of=collects_preemptively, source="group_replication_preemptive_garbage_collection")
def a_preemptive_collection_follows_certified_transactions(history: History) -> bool:
    """A member that certified transactions purges all certification info."""
    return any(one.is_preemptive and one.certified for one in _collections(history))


@always(
    of=collects_preemptively,
    source="MySQL 8.4, Certifier: preemptive garbage collection sets the stable set to all that "
    "the group certified",
    witness=a_preemptive_collection_follows_certified_transactions,
)
def preemptive_collections_count_all_as_stable(history: History) -> list[CertifiedNotCounted]:
    """After a preemptive collection, all that the member certified is in its stable set.

    Its versions are gone, and so later collections must not look for them.
    """
    return [
        CertifiedNotCounted(
            member=one.stream.member, missing=tuple(sorted(one.certified - one.after))
        )
        for one in _collections(history)
        if one.is_preemptive and not one.certified <= one.after
    ]


@always(
    of=lambda history: collects_preemptively(history) and items_not_stored(history) < 2**63,
    source="group_replication_preemptive_garbage_collection_rows_threshold",
    witness=lambda history: sum(one.is_preemptive for one in _collections(history)),
    is_safety=False,
)
def preemptive_collections_wait_for_the_threshold(
    history: History,
) -> list[CollectedBelowThreshold]:
    """A preemptive collection purges at least as many items as the threshold states.

    Each collection makes later transactions wait for all before it.
    """
    threshold = items_not_stored(history)
    return [
        CollectedBelowThreshold(
            member=one.stream.member, items=len(one.event.items), threshold=threshold
        )
        for one in _collections(history)
        if one.is_preemptive and len(one.event.items) < threshold
    ]


def _joins(history: History) -> Iterator[tuple[MemberStream, Event, bool]]:
    """Yield first views of members that recovered, and whether they collect in that step."""
    collected = {
        (one.stream.member, one.event.time)
        for one in _collections(history)
        if not one.view and one.joined
    }
    for stream in member_streams(history):
        has_recovered = False
        for _, event in stream.events:
            if event.kind is EventKind.RECOVERED:
                has_recovered = True
            elif event.kind is EventKind.VIEW_INSTALLED:
                if has_recovered:
                    yield stream, event, (stream.member, event.time) in collected
                has_recovered = False


@always(
    of=recorded(EventKind.RECOVERED, EventKind.VIEW_INSTALLED, EventKind.CERTIFIED),
    source="WL#8440, view change on a joiner: its donor has collected, and sends what is left",
    witness=lambda history: sum(1 for _ in _joins(history)),
    is_safety=False,
)
def joiners_do_not_collect_at_their_own_view(history: History) -> list[CollectedAtOwnView]:
    """A member that joins does not collect at its own view, as the others do.

    It has what they kept, so nothing is left to purge, and later transactions would wait.
    """
    return [
        CollectedAtOwnView(member=stream.member, view=event.members)
        for stream, event, has_collected in _joins(history)
        if has_collected
    ]


def ignores_unchanged_stable_sets(history: History) -> bool:
    """Members from MySQL 8.4 on collect."""
    is_of = history.header.dialect in COLLECTS_IF_GROWN
    return is_of and EventKind.GARBAGE_COLLECTED in history.kinds


@always(
    of=ignores_unchanged_stable_sets,
    source="MySQL 8.4, Certifier::stable_set_handle: an unchanged stable set collects nothing",
    witness=lambda history: sum(not one.is_preemptive for one in _collections(history)),
    is_safety=False,
)
def collections_follow_a_grown_stable_set(history: History) -> list[NothingBecameStable]:
    """A member of MySQL 8.4 or later collects only when its stable set has grown.

    Each collection makes later transactions wait for all before it.
    """
    return [
        NothingBecameStable(member=one.stream.member, stable=one.event.gtid_set)
        for one in _collections(history)
        if not one.is_preemptive and one.event.gtid_set == one.gtids_before
    ]


def _reported(history: History) -> Iterator[tuple[_Collection, StableWithoutReports | None]]:
    """Yield collections after reports, with their breaches."""
    streams = {stream.member: stream for stream in member_streams(history) if stream.events}
    for one in _collections(history):
        if one.is_preemptive or one.is_first_of_joiner or not one.view:
            continue
        became = one.after - one.before
        if one.joined:
            if any(member not in streams for member in one.online):
                # It is not recorded what one of them executed.
                continue
            commons = list(_executed_at_joins(one, history, streams))
        else:
            reporters = one.view if history.header.dialect in RECOVERING_REPORT else one.online
            commons = _smallest_common(one, became, reporters, history)
        is_explained = any(one.before | common == one.after for common in commons)
        breach = StableWithoutReports(
            member=one.stream.member,
            became_stable=tuple(sorted(became)),
            left_out=tuple(sorted(min(commons, key=len, default=frozenset()) - one.after)),
        )
        yield one, None if is_explained else breach


def _smallest_common(
    one: _Collection, became: Executed, reporters: Sequence[str], history: History
) -> list[Executed]:
    """Return what the reporters' smallest broadcasts with the new stable transactions share."""
    reports: dict[str, Executed] = {}
    for event in history.events[: one.index]:
        if event.kind is EventKind.EXECUTED_SET_BROADCAST and became <= set(event.transactions):
            reports.setdefault(event.member, frozenset(event.transactions))
    if not reporters or any(member not in reports for member in reporters):
        return []
    return [frozenset.intersection(*(reports[member] for member in reporters))]


def _executed_at_joins(
    one: _Collection, history: History, streams: dict[str, MemberStream]
) -> Iterator[Executed]:
    """Yield what all online members had executed when a server started that the view adds."""
    for index, event in enumerate(history.events[: one.index]):
        if event.kind is EventKind.STARTED and event.member in one.joined and one.online:
            yield frozenset.intersection(
                *(
                    frozenset(
                        done for done, at in streams[member].committed_at.items() if at < index
                    )
                    for member in one.online
                )
            )


@always(
    needs=(EventKind.ENGINE_COMMITTED,),
    of=recorded(EventKind.GARBAGE_COLLECTED, EventKind.VIEW_INSTALLED, EventKind.ONLINE),
    source="WL#6833, WL#8440: 'the intersection of the executed sets'; "
    "Certifier::handle_certifier_data, handle_view_change",
    witness=lambda history: sum(1 for _ in _reported(history)),
)
def stable_sets_are_what_reports_have_in_common(history: History) -> list[StableWithoutReports]:
    """A stable set grows by exactly what one report of each reporter has in common.

    Reporters are the members online, until MySQL 8.0 all members of the view. A report is a
    broadcast executed set. Where a server joins, the members online report with the view.
    """
    return [breach for _, breach in _reported(history) if breach is not None]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWithoutCollection(Violation):
    """A member installs a joiner's view and keeps what all members have executed."""

    member: str
    view: int | None
    left: tuple[TransactionId, ...]

    def __str__(self) -> str:
        return (
            f"{self.member} did not collect at view {self.view}, which adds a member, though all "
            f"members online had executed {_names(self.left)} before"
        )


def controlled_joins(history: History) -> bool:
    """Members of a controlled run certify, record collections, and learn who is online."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and certification(history) and views_with_members(history)


def _views_of_joiners(history: History) -> Iterator[tuple[JoinWithoutCollection, bool]]:
    """Yield views that make transactions stable by a join, and whether the member collects there.

    The members online report what they had executed when the joiner started. What a joiner has
    from its donor may be stable to it already.
    """
    streams = {stream.member: stream for stream in member_streams(history) if stream.events}
    starts = _starts_of_joiners(history)
    for stream in streams.values():
        state, collected = _Member(), -1
        stable: Executed = frozenset()
        for _, event in stream.events:
            if event.kind is EventKind.STARTED:
                state = _Member()
            elif event.kind is EventKind.VIEW_INSTALLED and state.view and not state.has_donor:
                # A collection of this step has changed what was stable before it.
                before = stable if collected == event.time else state.before
                online = [one for one in state.online if one in event.members]
                common = _executed_before(starts.get(event.view), online, streams)
                if left := common - before:
                    yield (
                        JoinWithoutCollection(
                            member=stream.member, view=event.view, left=tuple(sorted(left))
                        ),
                        collected == event.time,
                    )
            elif event.kind is EventKind.GARBAGE_COLLECTED:
                stable = stable if collected == event.time else state.before
                collected = event.time
            state.follow(event)


def _starts_of_joiners(history: History) -> dict[int | None, int]:
    """Return the places of the starts that lead to the views that add one member each.

    A member starts once for each view that adds it. Views after one that is not recorded are left
    out.
    """
    members = {event.view: event.members for event in history.events_of(EventKind.VIEW_INSTALLED)}
    starts: dict[str, list[int]] = {}
    for index, event in enumerate(history.events):
        if event.kind is EventKind.STARTED:
            starts.setdefault(event.member, []).append(index)
    found: dict[int | None, int] = {}
    before: tuple[str, ...] = ()
    number = min((view for view in members if view is not None), default=0)
    while number in members:
        joined = [one for one in members[number] if one not in before]
        places = [starts[one].pop(0) for one in joined if starts.get(one)]
        if before and len(places) == 1:
            found[number] = places[0]
        before = members[number]
        number += 1
    return found


def _executed_before(
    start: int | None, online: Sequence[str], streams: dict[str, MemberStream]
) -> Executed:
    """Return what all members online had executed when a joiner started."""
    if start is None or not online or any(member not in streams for member in online):
        return frozenset()
    executed = [
        {one for one, at in streams[member].committed_at.items() if at < start} for member in online
    ]
    return frozenset(set.intersection(*executed))


@always(
    needs=(EventKind.GARBAGE_COLLECTED, EventKind.ENGINE_COMMITTED, EventKind.ONLINE),
    of=controlled_joins,
    source="certifier.cc: handle_view_change, stable set at a join; WL#8440, view change",
    witness=lambda history: sum(1 for _ in _views_of_joiners(history)),
    is_safety=False,
)
def joins_end_in_a_collection(history: History) -> list[JoinWithoutCollection]:
    """At a view with a joiner, each earlier member collects what all online had executed."""
    return [breach for breach, collects in _views_of_joiners(history) if not collects]
