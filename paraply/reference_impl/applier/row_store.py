"""Versioned rows by key, with exclusive row locks.

As in a storage engine, a missing before image or a duplicate key is an error.
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
    """A row version; ``value`` is None after a delete."""

    writer: TransactionId
    value: Value | None


class Applied(NamedTuple):
    """A row change's result and blocking holder."""

    outcome: Outcome
    holder: TransactionId | None = None


@dataclass(slots=True)
class _Change:
    item: Item
    version: Version


def item_of(row: RowWrite) -> Item:
    """Return the first column, the key."""
    image = row.after if row.before is None else row.before
    assert image is not None
    key = image[0]
    assert isinstance(key, (str, int))
    return key


def value_of(image: RowImage | None) -> Value | None:
    """Return the other columns, several as a tuple."""
    if image is None:
        return None
    return image[1] if len(image) == 2 else image[1:]


class RowStore:
    """A replica's rows.

    ``versions`` has committed versions, oldest first.
    """

    def __init__(self, rows: Iterable[Item] = ()) -> None:
        self.versions: dict[Item, list[Version]] = {row: [] for row in rows}
        self.holders: dict[Item, TransactionId] = {}
        self.pending: dict[TransactionId, list[_Change]] = {}

    def lock(self, transaction: TransactionId, item: Item) -> TransactionId | None:
        """Lock the row, or return another holder."""
        holder = self.holders.setdefault(item, transaction)
        return None if holder == transaction else holder

    def apply(self, transaction: TransactionId, row: RowWrite) -> Applied:
        """Apply a checked row change."""
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
        """Write the after image unchecked."""
        version = Version(transaction, value_of(row.after))
        self.pending.setdefault(transaction, []).append(_Change(item_of(row), version))

    def value_for(self, transaction: TransactionId, item: Item) -> Value | None:
        """Return the transaction's own view."""
        for change in reversed(self.pending.get(transaction, [])):
            if change.item == item:
                return change.version.value
        return self.committed(item).value

    def committed(self, item: Item) -> Version:
        """Return a row's newest committed version."""
        history = self.versions.get(item)
        return history[-1] if history else Version(INITIAL_STATE, None)

    def engine_commit(self, transaction: TransactionId) -> None:
        """Publish changes and free rows."""
        for change in self.pending.pop(transaction, []):
            self.versions.setdefault(change.item, []).append(change.version)
        self.unlock(transaction)

    def roll_back(self, transaction: TransactionId) -> None:
        """Undo changes and free rows."""
        self.pending.pop(transaction, None)
        self.unlock(transaction)

    def unlock(self, transaction: TransactionId) -> None:
        """Free the transaction's rows."""
        self.holders = {i: holder for i, holder in self.holders.items() if holder != transaction}

    def crash(self) -> None:
        """Lose uncommitted changes."""
        self.pending.clear()
        self.holders.clear()

    def snapshot(self) -> tuple[Observation, ...]:
        """Return a snapshot of all rows."""
        return tuple(Observation(item, version.writer) for item, version in self.newest())

    def newest(self) -> Iterator[tuple[Item, Version]]:
        """Yield rows with newest committed versions."""
        for item in sorted(self.versions, key=str):
            yield item, self.committed(item)
