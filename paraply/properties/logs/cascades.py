"""Tables that a foreign key's unlogged cascade may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from paraply.vocabulary.keys import RowKeys
from paraply.vocabulary.log import Operation, RowChange, RowImage
from paraply.vocabulary.schema import ForeignKey, TableSchema

_CHANGES_CHILD = frozenset({"CASCADE", "SET NULL", "SET DEFAULT"})


class Reached(NamedTuple):
    """A table that an unlogged cascade may change."""

    table: str
    deletes: bool
    """Whether it deletes rows; otherwise it changes columns."""
    moves: bool
    """Whether a row may have another identity afterwards."""


class Cascades:
    """The tables whose foreign keys are not known, as of their last rows."""

    def __init__(self) -> None:
        self._related: set[str] = set()
        self._unknown: set[str] = set()
        """Any change may cascade into these."""
        self._forgotten: set[str] = set()
        self._forgot_all = False

    def begin(self) -> None:
        """Start to note forgotten tables."""
        self._forgotten, self._forgot_all = set(), False

    def is_unknown(self, table: str) -> bool:
        """Return whether the foreign keys are unknown."""
        return table in self._unknown

    def unknown(self) -> set[str]:
        """Return the lower-case tables with unknown foreign keys."""
        return {table.lower() for table in self._unknown}

    def knows(self, table: str) -> bool:
        """Return whether it is noted if the foreign keys are known."""
        return table in self._related

    def relate(self, table: str, schema: TableSchema | None) -> None:
        """Note whether the foreign keys of ``table`` are known."""
        self._related.add(table)
        if schema is None or not schema.foreign_keys_known:
            self._unknown.add(table)
        else:
            self._unknown.discard(table)

    def forget(self, table: str | None) -> None:
        """Forget ``table`` (None: all) after DDL."""
        if table is None:
            self._related.clear()
            self._forgot_all = True
        else:
            self._forgotten.add(table)
            self._related -= {name for name in self._related if name.lower() == table}

    def reached(self, row: RowChange, after: RowImage | None, keys: RowKeys) -> Iterator[Reached]:
        """Yield the tables that the change may cascade into; ``after`` is complete."""
        deleted = row.operation is Operation.DELETE
        for table in self._unknown:
            # InnoDB refuses an update that cascades into the table that it updates.
            if table != row.table or deleted:
                yield Reached(table, deleted, moves=True)
        for child, foreign_key in keys.referencing(row.table):
            schema = keys.schema_of(row.table)
            if deleted or _changes_referenced(row, after, schema, foreign_key):
                yield from reached_below(keys, child, foreign_key, deleted=deleted)

    def go_on(self, later: Cascades) -> None:
        """Merge a later part's knowledge."""
        for table in (None,) if later._forgot_all else later._forgotten:
            self.forget(table)
        self._related |= later._related
        self._unknown = (self._unknown - later._related) | later._unknown

    def described(self) -> str:
        """Return a text that identifies the state."""
        return repr((sorted(self._related), sorted(self._unknown)))


def reached_below(
    keys: RowKeys, child: str, foreign_key: ForeignKey, *, deleted: bool
) -> Iterator[Reached]:
    """Yield what a deleted parent, or one whose referenced columns change, may cascade into."""
    visited: set[tuple[str, ForeignKey, bool]] = set()
    pending = [(child, foreign_key, deleted)]
    while pending:
        step = name, key, is_deleted = pending.pop()
        action = (key.on_delete if is_deleted else key.on_update).upper()
        if step in visited or action not in _CHANGES_CHILD:
            continue
        visited.add(step)
        # A cascaded delete deletes; everything else updates the child.
        deletes = is_deleted and action == "CASCADE"
        schema = keys.schema_of(name)
        moves = schema is None or _names_rows(schema, key)
        # MariaDB keeps a deleted row of a system-versioned table, under another end.
        always_moves = schema is None or schema.has_hidden_columns
        yield Reached(name, deletes, always_moves or (moves and not deletes))
        pending += ((below, other, deletes) for below, other in keys.referencing(name))


def _names_rows(schema: TableSchema, foreign_key: ForeignKey) -> bool:
    """Return whether a change of the foreign key's columns may change which key names a row."""
    for key in schema.unique_keys:
        columns = {part.column for part in key.parts}
        # A generated column may be computed from the foreign key's.
        if columns & {*foreign_key.columns} or any(schema.columns[c].generated for c in columns):
            return True
        if key.name == "PRIMARY" or not any(schema.columns[c].nullable for c in columns):
            return False  # No later key names a row.
    return not schema.keys_complete


def _changes_referenced(
    row: RowChange, after: RowImage | None, schema: TableSchema | None, foreign_key: ForeignKey
) -> bool:
    columns = None if schema is None else schema.columns_referenced_by(foreign_key)
    if columns is None or row.before is None or after is None:
        return True
    # A column that neither image records did not change.
    return any(
        at >= min(len(row.before), len(after)) or row.before[at] != after[at] for at in columns
    )
