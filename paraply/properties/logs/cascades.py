"""Tables that a foreign key's unlogged cascade may change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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


class _Child(NamedTuple):
    foreign_key: ForeignKey
    names_rows: bool
    """Whether its columns may belong to what identifies a row."""
    always_moves: bool
    """Whether even a deleted row may go on under another identity."""


class Cascades:
    """Known foreign keys by referenced table."""

    def __init__(self) -> None:
        self._children: dict[str, dict[tuple[str, str], _Child]] = {}
        """By lower-case parent, then child and name."""
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
        """Return whether the foreign keys are stored."""
        return table in self._related

    def relate(self, table: str, schema: TableSchema | None) -> None:
        """Note which parents may cascade into ``table``."""
        self._related.add(table)
        if schema is None or not schema.foreign_keys_known:
            self._unknown.add(table)
        else:
            self._unknown.discard(table)
        if schema is None:
            return
        for foreign_key in schema.foreign_keys:
            children = self._children.setdefault(foreign_key.parent.lower(), {})
            children[table, foreign_key.name] = _Child(
                foreign_key,
                names_rows=_names_rows(schema, foreign_key),
                # MariaDB keeps a deleted row of a system-versioned table, under another end.
                always_moves=schema.has_hidden_columns,
            )

    def forget(self, table: str | None) -> None:
        """Forget ``table`` (None: all) after DDL."""
        if table is None:
            self._related.clear()
            self._forgot_all = True
        else:
            self._forgotten.add(table)
            self._related -= {name for name in self._related if name.lower() == table}

    def reached(
        self, row: RowChange, after: RowImage | None, schema: TableSchema | None
    ) -> Iterator[Reached]:
        """Yield the tables that the change may cascade into.

        ``after`` is complete; ``schema`` is the changed table's.
        """
        visited: set[tuple[str, bool]] = set()
        for table in self._unknown:
            # InnoDB refuses an update that cascades into the table that it updates.
            if table != row.table or row.operation is Operation.DELETE:
                yield Reached(table, row.operation is Operation.DELETE, moves=True)
        for (name, _), child in self._children.get(row.table.lower(), {}).items():
            deleted = row.operation is Operation.DELETE
            if deleted or _changes_referenced(row, after, schema, child.foreign_key):
                yield from self._cascade(name, child, deleted, visited)

    def _cascade(
        self, name: str, child: _Child, deleted: bool, visited: set[tuple[str, bool]]
    ) -> Iterator[Reached]:
        foreign_key = child.foreign_key
        action = (foreign_key.on_delete if deleted else foreign_key.on_update).upper()
        if action not in _CHANGES_CHILD:
            return
        # A cascaded delete deletes; everything else updates the child.
        deletes = deleted and action == "CASCADE"
        yield Reached(name, deletes, child.always_moves or (child.names_rows and not deletes))
        if (name, deletes) in visited:
            return
        visited.add((name, deletes))
        for (grandchild, _), further in self._children.get(name.lower(), {}).items():
            yield from self._cascade(grandchild, further, deletes, visited)

    def go_on(self, later: Cascades) -> None:
        """Merge a later part's knowledge."""
        for parent, children in later._children.items():
            self._children.setdefault(parent, {}).update(children)
        for table in (None,) if later._forgot_all else later._forgotten:
            self.forget(table)
        self._related |= later._related
        self._unknown = (self._unknown - later._related) | later._unknown

    def described(self) -> str:
        """Return a text that identifies the state."""
        children = {parent: sorted(known) for parent, known in sorted(self._children.items())}
        return repr((sorted(self._related), sorted(self._unknown), children))


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
    if schema is None or row.before is None or after is None:
        return True
    for name in foreign_key.parent_columns:
        at = schema.column_index(name)
        if at is None or at >= min(len(row.before), len(after)):
            return True
        # A column that neither image records did not change.
        if row.before[at] != after[at]:
            return True
    return not foreign_key.parent_columns
