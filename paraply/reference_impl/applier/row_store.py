"""Rows by key in versions, with exclusive row locks: where a wrong order really goes wrong.

A change is applied against what the row is, not against what the source says it was: a before image
that is not there, or a key that is taken, is an error, as in a real storage engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paraply.vocabulary.events import Observation, Outcome
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.transactions import INITIAL_STATE, RowWrite, TransactionId
from paraply.vocabulary.write_set import Item

Value = object


class Version(NamedTuple):
    """What a transaction left of a row; ``value`` is None where it deleted the row."""

    writer: TransactionId
    value: Value | None


class Applied(NamedTuple):
    """How a row change ended; ``holder`` is set where the row is locked by another."""

    outcome: Outcome
    holder: TransactionId | None = None


@dataclass(slots=True)
class _Change:
    item: Item
    version: Version


def item_of(row: RowWrite) -> Item:
    """Return the key of the row that a change is about: its first column."""
    image = row.after if row.before is None else row.before
    assert image is not None
    key = image[0]
    assert isinstance(key, (str, int))
    return key


def value_of(image: RowImage | None) -> Value | None:
    """Return a row's columns after its key: one plainly, several as a tuple; None for no row."""
    if image is None:
        return None
    return image[1] if len(image) == 2 else image[1:]


class RowStore:
    """The tables of a replica, by row.

    ``versions`` holds the committed versions of each row, oldest first. A transaction's changes are
    pending until its engine commit and are seen by nobody else; it holds its row locks until then.
    """

    def __init__(self, rows: Iterable[Item] = ()) -> None:
        self.versions: dict[Item, list[Version]] = {row: [] for row in rows}
        self.holders: dict[Item, TransactionId] = {}
        self.pending: dict[TransactionId, list[_Change]] = {}

    def lock(self, transaction: TransactionId, item: Item) -> TransactionId | None:
        """Take the row's lock; return who holds it where that is another transaction."""
        holder = self.holders.setdefault(item, transaction)
        return None if holder == transaction else holder

    def apply(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Apply one row change: OK, LOCK_WAIT, MISSING_BEFORE_IMAGE or DUPLICATE_KEY."""
        item = item_of(row)
        holder = self.lock(transaction, item)
        if holder is not None:
            return Applied(Outcome.LOCK_WAIT, holder)
        present = self.value_for(transaction, item)
        if row.operation is Operation.INSERT:
            if present is not None:
                return Applied(Outcome.DUPLICATE_KEY)
        elif row.before is None or present != value_of(row.before):
            return Applied(Outcome.MISSING_BEFORE_IMAGE)
        self.change(transaction, row)
        return Applied(Outcome.OK)

    def change(self, transaction: TransactionId, row: RowWrite) -> None:
        """Leave the after image, pending, whatever the row is now."""
        version = Version(transaction, value_of(row.after))
        self.pending.setdefault(transaction, []).append(_Change(item_of(row), version))

    def value_for(self, transaction: TransactionId, item: Item) -> Value | None:
        """Return the row's value as the transaction itself sees it."""
        for change in reversed(self.pending.get(transaction, [])):
            if change.item == item:
                return change.version.value
        return self.committed(item).value

    def committed(self, item: Item) -> Version:
        """Return the newest committed version of a row; the initial state has no rows."""
        history = self.versions.get(item)
        return history[-1] if history else Version(INITIAL_STATE, None)

    def engine_commit(self, transaction: TransactionId) -> None:
        """Make the transaction's changes final and visible, and free its rows."""
        for change in self.pending.pop(transaction, []):
            self.versions.setdefault(change.item, []).append(change.version)
        self.unlock(transaction)

    def roll_back(self, transaction: TransactionId) -> None:
        """Undo the transaction's changes and free its rows."""
        self.pending.pop(transaction, None)
        self.unlock(transaction)

    def unlock(self, transaction: TransactionId) -> None:
        """Free every row that the transaction holds."""
        self.holders = {i: holder for i, holder in self.holders.items() if holder != transaction}

    def crash(self) -> None:
        """Lose everything that no engine commit made final."""
        self.pending.clear()
        self.holders.clear()

    def snapshot(self) -> tuple[Observation, ...]:
        """Return the version of every row that a reader sees now."""
        return tuple(Observation(item, version.writer) for item, version in self.newest())

    def newest(self) -> Iterator[tuple[Item, Version]]:
        """Yield each row with its newest committed version."""
        for item in sorted(self.versions, key=str):
            yield item, self.committed(item)
