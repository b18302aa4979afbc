"""Decisions, places and row names of histories."""

from __future__ import annotations

from collections.abc import Sequence

from paraply.models.language.concrete import Scope, Table
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import Transaction, TransactionKind

AL1_GHOSTS = frozenset({"window", "parent", "shared", "item_position"})
"""Ghosts of ``paraply/models/systems/applier.py``; no guard reads them."""

WITHOUT_WRITE_SET = {TransactionKind.NO_WRITE_SET, TransactionKind.DDL, TransactionKind.CTAS}
"""CREATE TABLE ... SELECT is a barrier with its own window."""

BY_RECOVERY = "recovery"
"""The note of commits by crash recovery."""


class Rows:
    """Row names by first use."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def name(self, item: object) -> str:
        """Return a row's name, new or known."""
        return self._known.setdefault(str(item), f"row{len(self._known)}")

    @property
    def all(self) -> tuple[str, ...]:
        """Return the names so far."""
        return tuple(self._known.values())


def decisions_of(history: History, member: str) -> list[Event]:
    """Return a member's certifications in order."""
    return [e for e in history.events if e.kind is EventKind.CERTIFIED and e.member == member]


def places_of(history: History) -> dict[int, int]:
    """Return each transaction's place in the log."""
    return {one.id: place for place, one in enumerate(history.transactions)}


def first_of_batches(log: Sequence[Transaction]) -> Table:
    """Return the place of the first of each place's batch, and two places behind the log.

    A batch is a stretch of the log with one commit id.
    """
    first: Table = {}
    before: int | None = None
    for place, one in enumerate(log):
        is_same = one.commit_id is not None and one.commit_id == before
        first[place,] = first[place - 1,] if is_same else place
        before = one.commit_id
    return first | {(place,): place for place in range(len(log), len(log) + 2)}


def scope_of(places: dict[int, int], rows: Rows) -> Scope:
    """Return the scope of places and rows."""
    return Scope(high=len(places), size=max(1, len(rows.all)))
