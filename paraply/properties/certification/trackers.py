"""What WRITESET may let a transaction wait for: its writers, its session and forgotten history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.properties.certification.timestamps import TransactionHeldBack
from paraply.properties.registry import always, sometimes
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import EvidenceTier, History
from paraply.vocabulary.transactions import Transaction
from paraply.vocabulary.write_set import Item

SESSION_ORDER = "writeset_session"
TRACKED_BY_WRITE_SETS = frozenset({"writeset", SESSION_ORDER})
"""Dialects of sources."""
COMPLETE, MIXED = "plain", "mixed"
"""Notes of logged transactions: a complete write set, and one of rows with and without key."""
REMEMBERED = frozenset({COMPLETE, MIXED, "keyless"})
"""Notes of those that leave their items in the history; others clear it."""
WITHOUT_KEY = "-keyless"
"""Ends the name of a table without key, of which there is no item."""
HISTORY_SIZE = "history_size"
START_OF_A_LATER_FILE = 1


class WaitsForNoWriter(TransactionHeldBack):
    """A source lets a transaction wait for more than its write set requires."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"{self.member} gave T{self.transaction} last_committed={self.last_committed}; its "
            f"writers, its session and the write sets kept need {self.needed}"
        )


def tracks_write_sets(history: History) -> bool:
    """A source tracks write sets, and notes which are complete."""
    header = history.header
    return (
        header.tier is EvidenceTier.CONTROLLED_RUN
        and header.dialect in TRACKED_BY_WRITE_SETS
        and type(header.options.get(HISTORY_SIZE)) is int
    )


@dataclass(slots=True)
class _Kept:
    """The last writers that a source of one binary log file remembers."""

    size_max: int
    start: int = 0
    writers: dict[Item, int] = field(default_factory=dict)
    of_session: dict[str, int] = field(default_factory=dict)

    def forget(self, number: int) -> None:
        self.start = number
        self.writers.clear()

    def log(self, one: Transaction, number: int, flavour: str) -> int:
        """Enter a transaction; return the number it must wait for, if it is complete."""
        needed = max([self.start, *(self.writers.get(item, 0) for item in one.write_set)])
        items = [item for item in one.write_set if not str(item).endswith(WITHOUT_KEY)]
        if flavour in REMEMBERED and len(self.writers) + len(items) <= self.size_max:
            self.writers.update(dict.fromkeys(items, number))
        else:
            self.forget(number)
        needed = max(needed, self.of_session.get(one.session, 0))
        self.of_session[one.session] = number
        return needed


def _complete(history: History) -> Iterator[tuple[Event, int, int]]:
    """Yield complete write sets as logged, with last_committed and the number needed."""
    if not tracks_write_sets(history):
        return
    size_max = int(history.header.options[HISTORY_SIZE])
    is_by_session = history.header.dialect == SESSION_ORDER
    transactions = {one.id: one for one in history.transactions}
    kept = _Kept(size_max)
    for event in history.events:
        if event.kind is EventKind.RELAY_ROTATED:
            kept = _Kept(size_max, start=START_OF_A_LATER_FILE)
        one = transactions.get(event.transaction) if event.transaction is not None else None
        if event.kind is not EventKind.FLUSHED or one is None or event.timestamp is None:
            continue
        needed = kept.log(one, event.timestamp.sequence_number, event.note)
        if not is_by_session:
            kept.of_session.clear()
        if event.note == COMPLETE:
            yield event, event.timestamp.last_committed, needed


def _may_overtake(history: History) -> int:
    return sum(
        event.timestamp is not None and needed < event.timestamp.sequence_number - 1
        for event, _, needed in _complete(history)
    )


@sometimes(of=tracks_write_sets, source="rpl_trx_tracking.cc: get_has_missing_keys")
def a_transaction_mixes_tables_with_and_without_key(history: History) -> bool:
    """A source logs a change of a row with a key and of one without, and a later transaction."""
    notes = [event.note for event in history.events_of(EventKind.FLUSHED)]
    return MIXED in notes[:-1]


@always(
    of=tracks_write_sets,
    source="WL#9556; Writeset_trx_dependency_tracker::get_dependency",
    witness=_may_overtake,
    is_safety=False,
)
def complete_write_sets_wait_for_their_writers(history: History) -> tuple[WaitsForNoWriter, ...]:
    """WRITESET lets a complete write set wait for its last writers, and forgotten ones, at most.

    WRITESET_SESSION lets it also wait for the previous transaction of its session.
    """
    return tuple(
        WaitsForNoWriter(
            member=event.member,
            transaction=event.transaction,
            last_committed=last_committed,
            needed=needed,
        )
        for event, last_committed, needed in _complete(history)
        if last_committed > needed and event.transaction is not None
    )
