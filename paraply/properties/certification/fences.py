"""Which transactions a certifier marks (0, 0), so that appliers wait for all and count anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.group.stream import Certified, MemberStream, member_streams
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import certification, given_numbers
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId

LOGS_VIEW_CHANGES = frozenset({"wl8440", "wl8440_literal", "mysql_8_0"})
MARKS_THE_FIRST = frozenset({"mysql_8_3", "mysql_8_4", "mysql_9_7"})
"""Dialects."""
_STARTS = frozenset({EventKind.STARTED, EventKind.CRASHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class FenceMisplaced(Violation):
    """A transaction is marked (0, 0) without need, or is not."""

    member: str
    transaction: TransactionId
    is_marked: bool

    def __str__(self) -> str:
        if self.is_marked:
            return f"{self.member} gave T{self.transaction} (0, 0), and nothing begins with it"
        return f"{self.member} began with T{self.transaction} and did not give it (0, 0)"


def stated_fences(history: History) -> bool:
    """Certifiers of a controlled run number transactions, by rules that their dialect names."""
    header = history.header
    is_known = header.dialect in LOGS_VIEW_CHANGES | MARKS_THE_FIRST
    is_exact = header.tier is EvidenceTier.CONTROLLED_RUN
    return is_known and is_exact and certification(history) and given_numbers(history)


def _numbered(history: History) -> Iterator[tuple[MemberStream, Certified, bool]]:
    """Yield what members number, and whether it has to be a fence."""
    marks_the_first = history.header.dialect in MARKS_THE_FIRST
    for stream in member_streams(history):
        starts = [place for place, event in stream.events if event.kind in _STARTS]
        last = -1
        for one in stream.remote:
            is_first = last < 0 or any(last < start < one.event_index for start in starts)
            last = one.event_index
            yield stream, one, one.is_view_change or (marks_the_first and is_first)


@always(
    of=stated_fences,
    source="WL#8440, View_change_log_event; MySQL 8.3: the first remote transaction has (0, 0)",
    witness=lambda history: sum(1 for _ in _numbered(history)),
)
def only_beginnings_are_fences(history: History) -> tuple[FenceMisplaced, ...]:
    """A member gives (0, 0) to logged view changes, or to its first remote transaction instead.

    The latter is the rule of servers from 8.3, which log no view change.
    """
    return tuple(
        FenceMisplaced(member=stream.member, transaction=one.transaction.id, is_marked=one.is_fence)
        for stream, one, is_due in _numbered(history)
        if one.is_fence is not is_due
    )
