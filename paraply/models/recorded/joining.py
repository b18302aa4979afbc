"""Joiners: what was certified before their own view, and which items they import.

A joiner certifies from the view change of its joining on. What was certified before that, it gets
from a donor; in the specifications it certifies that, too, and then forgets the numbers. Which
LC it would have given is not observed, nor what the donor had purged: all items are imported, which
refuses most.
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
    """How a member came into the group.

    Attributes:
        view: the view change of its joining; None for whoever was there at first, and for a joiner
            that has yet to recover.
        before: what the others had certified before it, in that order.
    """

    view: TransactionId | None = None
    before: tuple[TransactionId, ...] = ()

    def has_taken_place(self, event: Event, place: int, delivered: int) -> bool:
        """Return whether an event is when the member's applier committed what is at ``place``.

        What recovery copied ahead of the certifier counts when the applier passes over it.
        """
        if event.kind is EventKind.SKIPPED:
            return True
        is_applied = self.view is None or place < delivered
        return event.kind is EventKind.ENGINE_COMMITTED and is_applied

    def certified_before(self, of: dict[int, Transaction]) -> list[RecordedStep]:
        """Return the steps in which what came before the view is certified."""
        kinds = (of[one].kind for one in self.before)
        return [
            RecordedStep(
                actions=("change_view" if kind is TransactionKind.VIEW_CHANGE else "certify",)
            )
            for kind in kinds
        ]

    def join(self, of: dict[int, Transaction], rows: Rows) -> RecordedStep:
        """Return the step in which it joins, with an item for each row that was written before."""
        items = {item for one in self.before for item in of[one].write_set}
        imported: Table = {(rows.name(item),): True for item in sorted(items)}
        return RecordedStep(actions=("join",), chosen={"imported": imported})


def joining_of(history: History, member: str) -> Joining:
    """Return how a member joined; meant for those that join once."""
    recovered = any(history.events_of(EventKind.RECOVERED, member=member))
    view = next((event.transaction for event in decisions_of(history, member)), None)
    if not recovered or view is None:
        return Joining()
    return Joining(view=view, before=max(_before(history, view), key=len))


def _before(history: History, view: TransactionId) -> list[tuple[TransactionId, ...]]:
    """Return what each member that has certified a view change had certified before it."""
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
