"""The keys of one transaction, as its rows come."""

from __future__ import annotations

from dataclasses import dataclass, field

from paraply.adapters.binlog.keys.parts import BuiltKey, whole_row
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import SEARCHED, LoggedTransaction, RowImage, aspect


@dataclass(slots=True)
class TransactionKeys:
    """Collects one transaction's keys, row by row."""

    written: dict[ConflictKey, bool] = field(default_factory=dict)
    """Each key's certainty; one certain finding suffices, unless it is ``doubted``."""
    doubted: set[ConflictKey] = field(default_factory=set)
    shared: dict[ConflictKey, bool] = field(default_factory=dict)
    unkeyed: set[str] = field(default_factory=set)
    searched: set[ConflictKey] = field(default_factory=set)
    left: set[ConflictKey] = field(default_factory=set)
    unidentified: set[str] = field(default_factory=set)
    partly_keyed: set[str] = field(default_factory=set)
    locked: set[ConflictKey] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    aspects: set[str] = field(default_factory=set)

    def write(self, built: BuiltKey) -> None:
        """Add a taken, released or identifying key."""
        _note(self.written, built)

    def share(self, built: BuiltKey) -> None:
        """Add a key required unchanged."""
        _note(self.shared, built)

    def search_for(self, table: str, image: RowImage) -> None:
        """Add a row that is found by all of its columns."""
        self.aspects.add(aspect(table, SEARCHED))
        if not self._take_unkeyed(table, image, self.searched):
            self.reached.add(table)

    def leave(self, table: str, image: RowImage) -> None:
        """Add a new row without a key."""
        # A minimal image omits defaults, so the row may be any that another searches for.
        if not self._take_unkeyed(table, image, self.left):
            self.reached.add(aspect(table, SEARCHED))

    def _take_unkeyed(self, table: str, image: RowImage, rows: set[ConflictKey]) -> bool:
        """Add a row without a key to ``rows``; return whether it is known."""
        self.unkeyed.add(table)
        row = whole_row(table, image)
        if row is None:
            self.unidentified.add(table)
        else:
            rows.add(row)
        return row is not None

    def store(self, txn: LoggedTransaction) -> None:
        """Store the collected keys in the transaction."""
        txn.keys = frozenset(self.written)
        # A difference of sets would hash all written keys.
        txn.shared_keys = frozenset(key for key in self.shared if key not in self.written)
        uncertain = {key for key, certain in self.written.items() if not certain} | self.doubted
        uncertain |= {key for key in txn.shared_keys if not self.shared[key]}
        txn.uncertain_keys = frozenset(uncertain)
        txn.unkeyed_tables = frozenset(self.unkeyed)
        txn.searched_rows = frozenset(self.searched)
        txn.left_rows = frozenset(self.left)
        txn.unidentified_tables = frozenset(self.unidentified)
        txn.partly_keyed_tables = frozenset(self.partly_keyed)
        txn.locked_keys = frozenset(
            key for key in self.locked if key not in self.written and key not in self.shared
        )
        txn.reached_tables = frozenset(self.reached)
        txn.aspects = frozenset(self.aspects)


def _note(keys: dict[ConflictKey, bool], built: BuiltKey) -> None:
    if built.certain:
        keys[built.key] = True
    else:
        keys.setdefault(built.key, False)
