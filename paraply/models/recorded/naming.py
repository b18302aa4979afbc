"""What the abstraction functions share: decisions, places of transactions, names of rows."""

from __future__ import annotations

from paraply.models.language.concrete import Scope
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionKind

AL1_GHOSTS = frozenset({"window", "parent", "shared", "item_position"})
"""Of ``paraply/models/systems/applier.py``: where an LC comes from, which no guard reads."""

WITHOUT_WRITE_SET = {TransactionKind.NO_WRITE_SET, TransactionKind.DDL, TransactionKind.CTAS}
"""CREATE TABLE ... SELECT is a barrier; what it wrote is covered by the window it opens."""

BY_RECOVERY = "recovery"
"""The note of an engine commit that crash recovery makes."""


class Rows:
    """Rows named as a scope names them, in the order in which they are met."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def name(self, item: object) -> str:
        """Return the name of a row, a new one where it has none."""
        return self._known.setdefault(str(item), f"row{len(self._known)}")

    @property
    def all(self) -> tuple[str, ...]:
        """Return the names given so far."""
        return tuple(self._known.values())


def decisions_of(history: History, member: str) -> list[Event]:
    """Return the certifications of a member, in its order."""
    return [e for e in history.events if e.kind is EventKind.CERTIFIED and e.member == member]


def places_of(history: History) -> dict[int, int]:
    """Return the place of each transaction in the log."""
    return {one.id: place for place, one in enumerate(history.transactions)}


def scope_of(places: dict[int, int], rows: Rows) -> Scope:
    """Return the scope in which these places and rows lie."""
    return Scope(high=len(places), size=max(1, len(rows.all)))
