"""Discarded row changes, and parts of transactions that commit apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from paraply.properties.apply.stream import apply_streams
from paraply.properties.registry import Violation, always
from paraply.properties.vocabularies import recorded, relay_log
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardedForNothing(Violation):
    """A change is discarded although no later transaction wrote its row."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} discarded a change of T{self.transaction}, and no later transaction "
            "had written the row"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownInParts(Violation):
    """A part commits before other rows are changed."""

    member: str
    transaction: TransactionId

    def __str__(self) -> str:
        return f"{self.member} changed a row of T{self.transaction} after a part of it was visible"


def discarded_changes(history: History) -> bool:
    """Replicas discard changes of rows."""
    return relay_log(history) and any(map(_is_discarded, history.events))


def _is_discarded(event: Event) -> bool:
    return event.kind is EventKind.ROW_APPLIED and event.outcome is Outcome.DISCARDED


def _discarded(history: History) -> int:
    return sum(map(_is_discarded, history.events))


@always(
    of=discarded_changes,
    source="WL#4648, C0: NDB cluster's conflict resolution",
    witness=_discarded,
)
def only_older_changes_are_discarded(history: History) -> tuple[DiscardedForNothing, ...]:
    """A replica discards a change only of a row that a later transaction wrote before."""
    return tuple(
        DiscardedForNothing(member=stream.member, transaction=event.transaction)
        for stream in apply_streams(history)
        for index, event in stream.events
        if _is_discarded(event)
        and event.transaction is not None
        and not any(
            later.id > event.transaction
            and event.items & later.write_set
            and stream.had_committed(later.id, index)
            for later in history.transactions
        )
    )


def _has_parts(history: History) -> int:
    return sum(1 for _ in history.events_of(EventKind.VISIBLE))


@always(
    of=recorded(EventKind.VISIBLE, EventKind.ROW_APPLIED),
    source="WL#4648, P3: two-phase commit of the parts",
    witness=_has_parts,
)
def parts_are_shown_when_all_rows_are_changed(history: History) -> tuple[ShownInParts, ...]:
    """A part of a transaction becomes visible only when all its rows are changed."""
    return tuple(dict.fromkeys(_changes_after_parts(history)))


def _changes_after_parts(history: History) -> Iterator[ShownInParts]:
    shown: set[tuple[str, TransactionId]] = set()
    for event in history.events:
        if event.kind is EventKind.CRASHED:
            shown = {(member, one) for member, one in shown if member != event.member}
        elif event.transaction is not None:
            key = (event.member, event.transaction)
            if event.kind is EventKind.VISIBLE:
                shown.add(key)
            elif event.kind is EventKind.ENGINE_COMMITTED:
                shown.discard(key)
            elif event.kind is EventKind.ROW_APPLIED and key in shown:
                yield ShownInParts(member=event.member, transaction=event.transaction)
