"""Rounds of reports for garbage collection, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import MemberStream, is_rest, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
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
