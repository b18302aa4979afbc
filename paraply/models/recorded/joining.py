"""Joining members: earlier certifications and imported items.

The model certifies the donor's transactions, then forgets their numbers. The donor's purges are
unobservable, so the joiner imports all items, the strictest reading.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.concrete import Table
from paraply.models.recorded.following import RecordedStep
from paraply.models.recorded.naming import Rows, decisions_of
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """How a member joined the group.

    Attributes:
        view: its view change; None for a founder or before recovery.
        before: the others' earlier certifications.
    """

    view: TransactionId | None = None
    before: tuple[TransactionId, ...] = ()

    def has_taken_place(self, event: Event, place: int, delivered: int) -> bool:
        """Return whether the applier commits ``place``.

        For transactions copied by recovery, the applier's skip counts.
        """
        if event.kind is EventKind.SKIPPED:
            return True
        is_applied = self.view is None or place < delivered
        return event.kind is EventKind.ENGINE_COMMITTED and is_applied

    def certified_before(self, of: dict[int, Transaction]) -> list[RecordedStep]:
        """Return the certification steps before the view."""
        kinds = (of[one].kind for one in self.before)
        return [
            RecordedStep(
                actions=("change_view" if kind is TransactionKind.VIEW_CHANGE else "certify",)
            )
            for kind in kinds
        ]

    def join(self, of: dict[int, Transaction], rows: Rows) -> RecordedStep:
        """Return the join step with all written rows."""
        items = {item for one in self.before for item in of[one].write_set}
        imported: Table = {(rows.name(item),): True for item in sorted(items)}
        return RecordedStep(actions=("join",), chosen={"imported": imported})


def joining_of(history: History, member: str) -> Joining:
    """Return how a member joined, if once."""
    recovered = any(history.events_of(EventKind.RECOVERED, member=member))
    view = next((event.transaction for event in decisions_of(history, member)), None)
    if not recovered or view is None:
        return Joining()
    return Joining(view=view, before=max(_before(history, view), key=len))


def _before(history: History, view: TransactionId) -> list[tuple[TransactionId, ...]]:
    found = []
    for member in history.members:
        certified = [
            event.transaction
            for event in decisions_of(history, member)
            if event.transaction is not None and event.outcome is Outcome.POSITIVE
        ]
        if view in certified:
            found.append(tuple(certified[: certified.index(view)]))
    return found
