"""Rounds of reports for garbage collection, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import MemberStream, is_rest, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification, views_with_members
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundWithoutEnd(Violation):
    """All members report, and a member never collects."""

    member: str
    stable: tuple[TransactionId, ...]

    def __str__(self) -> str:
        names = " ".join(f"T{one}" for one in self.stable)
        return f"{self.member} never collected, though every member reported {names}"


@sometimes(of=certification, source="WL#6833, stable set")
def every_member_reports_in_the_last_view(history: History) -> bool:
    """Members at rest have all broadcast executed sets since the last view, with a common one."""
    return any(True for _ in _reported_rounds(history))


@always(
    needs=(EventKind.VIEW_INSTALLED,),
    of=certification,
    source="WL#6833, stable set; handle_certifier_data",
    witness=every_member_reports_in_the_last_view,
    is_safety=False,
)
def reported_rounds_end_in_a_collection(history: History) -> list[RoundWithoutEnd]:
    """A member that has every member's executed set collects what they have in common.

    Judged of members at rest, which have received all that was broadcast, and that did not take
    over a donor's stable set.
    """
    return [
        RoundWithoutEnd(member=stream.member, stable=stable)
        for stream, stable, since in _reported_rounds(history)
        if not any(
            event.kind is EventKind.GARBAGE_COLLECTED and index > since
            for index, event in stream.events
        )
    ]


_MOVES = (EventKind.STARTED, EventKind.STOPPED, EventKind.CRASHED)


def _reported_rounds(
    history: History,
) -> Iterator[tuple[MemberStream, tuple[TransactionId, ...], int]]:
    """Yield members at rest, what all reported since the last change, and its place.

    A round may hold a member's first report of the newest view, sent since the view before was
    installed, or since somebody came or went whom the newest view adds or lacks: that view may be
    ordered before the report though none has installed it. Only what was not stable to the member
    before makes a round of any dialect collect.
    """
    since = before = installed = -1
    newest: Event | None = None
    reports: list[tuple[int, Event]] = []
    moved: dict[str, int] = {}
    for index, event in enumerate(history.events):
        if event.kind is EventKind.EXECUTED_SET_BROADCAST:
            reports.append((index, event))
        elif event.kind in (EventKind.VIEW_INSTALLED, EventKind.ONLINE, EventKind.STARTED):
            since = index
        if event.kind is EventKind.VIEW_INSTALLED:
            if newest is None or (event.view or 0) > (newest.view or 0):
                members = set(() if newest is None else newest.members)
                newest, before = event, installed
                for member in members.symmetric_difference(event.members) or moved.keys():
                    before = min(before, moved.get(member, -1))
            installed = index
        elif event.kind in _MOVES:
            moved[event.member] = index
    if newest is None:
        return
    latest = {event.member: index for index, event in reports}
    if not newest.members or any(latest.get(one, -1) < since for one in newest.members):
        return
    first: dict[str, frozenset[TransactionId]] = {}
    for index, event in reports:
        if index > before:
            first.setdefault(event.member, frozenset(event.transactions))
    common = frozenset.intersection(*(first[member] for member in newest.members))
    for stream in member_streams(history):
        if not stream.events or not is_rest(stream.events[-1][1]):
            continue
        kinds = {event.kind for _, event in stream.events}
        stable = {
            transaction
            for index, event in stream.events
            if event.kind is EventKind.GARBAGE_COLLECTED and index < since
            for transaction in event.transactions
        }
        if EventKind.RECOVERED not in kinds and common - stable:
            yield stream, tuple(sorted(common - stable)), since


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYetStable(Violation):
    """A member does not count a transaction as stable after two rounds of reports."""

    member: str
    missing: tuple[TransactionId, ...]
    since: int

    def __str__(self) -> str:
        names = " ".join(f"T{one}" for one in self.missing)
        return (
            f"{self.member} does not count {names} as stable, which every member of view "
            f"{self.since} reported in two rounds"
        )


@dataclass(slots=True)
class _Knowledge:
    """What one member has learned of stability, up to an event.

    Attributes:
        since: place of its last change of view or members online.
        stable: what it counted as stable in this stay in the group.
        recovered: what it has from a donor, whose stable set it may know.
    """

    since: int = -1
    view: Event | None = None
    stable: frozenset[TransactionId] = frozenset()
    recovered: frozenset[TransactionId] = frozenset()

    def follow(self, index: int, event: Event) -> None:
        """Apply an event of the member."""
        if event.kind is EventKind.STARTED:
            self.view, self.stable, self.recovered = None, frozenset(), frozenset()
        elif event.kind is EventKind.RECOVERED:
            self.recovered = frozenset(event.transactions)
        elif event.kind is EventKind.GARBAGE_COLLECTED:
            self.stable |= frozenset(event.transactions)
        if event.kind is EventKind.VIEW_INSTALLED:
            self.view = event
        if event.kind in _CHANGES:
            self.since = index


_CHANGES = (EventKind.STARTED, EventKind.RECOVERED, EventKind.VIEW_INSTALLED, EventKind.ONLINE)


def _reports_received(history: History) -> Iterator[tuple[MemberStream, _Knowledge, list[Event]]]:
    """Yield members with the reports that they certainly received in their present view.

    A member at rest has received all. One that receives a transaction has received what was sent
    before it, as all receive one order.
    """
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    sent: dict[TransactionId | None, int] = {}
    reports: list[tuple[int, Event]] = []
    known = {stream.member: _Knowledge() for stream in member_streams(history)}
    streams = {stream.member: stream for stream in member_streams(history)}
    for index, event in enumerate(history.events):
        state = known[event.member]
        state.follow(index, event)
        until = -1
        if event.kind is EventKind.EXECUTED_SET_BROADCAST:
            reports.append((index, event))
        elif event.kind is EventKind.SUBMITTED:
            sent.setdefault(event.transaction, index)
        elif event.kind is EventKind.DELIVERED and is_exact:
            until = sent.get(event.transaction, -1)
        elif is_rest(event):
            until = index
        if until > state.since:
            received = [report for at, report in reports if state.since < at < until]
            yield streams[event.member], state, received


def _reported_twice(members: tuple[str, ...], reports: list[Event]) -> frozenset[TransactionId]:
    """Return what all reports of the last two rounds have in common.

    A round is the shortest row of reports with one of each member.
    """
    common: frozenset[TransactionId] | None = None
    left, rounds = set(members), 0
    for report in reversed(reports):
        if report.member in members:
            executed = frozenset(report.transactions)
            common = executed if common is None else common & executed
            left.discard(report.member)
            if not left:
                left, rounds = set(members), rounds + 1
                if rounds == 2:
                    return common
    return frozenset()


def _twice_reported(history: History) -> Iterator[NotYetStable | None]:
    """Yield each situation's breach, or None."""
    for stream, state, reports in _reports_received(history):
        if state.view is None or stream.member not in state.view.members:
            continue
        due = _reported_twice(state.view.members, reports) - state.recovered
        if due:
            missing = tuple(sorted(due - state.stable))
            yield (
                NotYetStable(member=stream.member, missing=missing, since=state.view.view or 0)
                if missing
                else None
            )


@always(
    needs=(EventKind.EXECUTED_SET_BROADCAST,),
    of=lambda history: certification(history) and views_with_members(history),
    source="WL#6833, stable set; handle_certifier_data; bug 84773 and its like",
    witness=lambda history: sum(1 for _ in _twice_reported(history)),
    is_safety=False,
)
def two_rounds_of_reports_make_stable(history: History) -> list[NotYetStable]:
    """What every member of the view has reported in two rounds is stable, whoever departed.

    The first round ends the one that was open when a transaction was executed. Judged of members
    that have received the reports; what a joiner has from its donor may be stable already.
    """
    return [breach for breach in _twice_reported(history) if breach is not None]
