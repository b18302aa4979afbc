"""What a decision states: a member's first sequence number, and the row of a conflict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import certification, given_numbers
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import format_item

FIRST = 2
"""The view change has 0, and what comes first waits for 1."""
CONFLICT = "conflict on "
"""Prefix of a note of a negative decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstNumberWrong(Violation):
    """A member begins to number elsewhere."""

    member: str
    transaction: TransactionId
    number: int
    greatest: int

    def __str__(self) -> str:
        limit = f"{FIRST}" if self.greatest == FIRST else f"from {FIRST} to {self.greatest}"
        return (
            f"{self.member} gave T{self.transaction}, its first, sequence number {self.number}; "
            f"it should be {limit}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictElsewhere(Violation):
    """A member rejects a transaction for a row that it does not write."""

    member: str
    transaction: TransactionId
    note: str

    def __str__(self) -> str:
        return f"{self.member} rejected T{self.transaction} for a {self.note}, not in its write set"


def numbering_members(history: History) -> bool:
    """Members of a controlled run certify and number transactions."""
    is_exact = history.header.tier is EvidenceTier.CONTROLLED_RUN
    return is_exact and certification(history) and given_numbers(history)


def _first_numbers(history: History) -> Iterator[FirstNumberWrong]:
    """Yield each member's first number, with the greatest that it may have.

    Servers up to 8.3 skip a number at each collection and view change, and own transactions, which
    need no numbers, may take some.
    """
    before: dict[str, int] = {}
    has_begun: set[str] = set()
    for event in history.events:
        member, stamp = event.member, event.timestamp
        if event.kind in (EventKind.STARTED, EventKind.CRASHED):
            before[member] = 0
            has_begun.discard(member)
        elif event.kind in (EventKind.GARBAGE_COLLECTED, EventKind.VIEW_INSTALLED) or (
            event.kind is EventKind.CERTIFIED and (stamp is None or stamp.is_view_change)
        ):
            before[member] = before.get(member, 0) + 1
        elif event.kind is EventKind.CERTIFIED and stamp and member not in has_begun:
            has_begun.add(member)
            yield FirstNumberWrong(
                member=member, transaction=event.transaction or TransactionId(0),
                number=stamp.sequence_number,
                greatest=FIRST + before.get(member, 0),
            )  # fmt: skip


@always(
    of=numbering_members,
    source="WL#8440, EX4; parallel_applier_sequence_number(2)",
    witness=lambda history: sum(1 for _ in _first_numbers(history)),
)
def first_numbers_are_two(history: History) -> tuple[FirstNumberWrong, ...]:
    """A member's first sequence number is 2, or follows numbers skipped before it."""
    return tuple(one for one in _first_numbers(history) if not FIRST <= one.number <= one.greatest)


def _conflicts(history: History) -> Iterator[tuple[Event, bool]]:
    """Yield rejections for a conflict, and whether the transaction writes the stated row."""
    for event in history.events_of(EventKind.CERTIFIED):
        is_rejected = event.outcome is Outcome.NEGATIVE and event.note.startswith(CONFLICT)
        if is_rejected and event.transaction is not None:
            items = history.transaction(event.transaction).write_set
            stated = event.note.removeprefix(CONFLICT)
            yield event, stated in {*map(str, items), *map(format_item, items)}


@always(
    of=numbering_members,
    source="WL#8440, certification: an item of the write set was written since the snapshot",
    witness=lambda history: sum(1 for _ in _conflicts(history)),
)
def conflicts_are_on_written_rows(history: History) -> tuple[ConflictElsewhere, ...]:
    """A member rejects a transaction for a row that the transaction writes."""
    return tuple(
        ConflictElsewhere(member=event.member, transaction=event.transaction, note=event.note)
        for event, is_written in _conflicts(history)
        if not is_written and event.transaction is not None
    )
