"""Tables that a foreign key's unlogged cascade may change."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.vocabulary.log import Operation, RowChange, RowImage
from paraply.vocabulary.schema import ForeignKey, TableSchema

_CHANGES_CHILD = frozenset({"CASCADE", "SET NULL", "SET DEFAULT"})


class Cascades:
    """Known foreign keys by referenced table."""

    def __init__(self) -> None:
        self._children: dict[str, dict[tuple[str, str], ForeignKey]] = {}
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
        for foreign_key in schema.foreign_keys if schema is not None else ():
            children = self._children.setdefault(foreign_key.parent.lower(), {})
            children[table, foreign_key.name] = foreign_key

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
    ) -> Iterator[tuple[str, bool]]:
        """Yield cascade-changed tables, and whether rows may be deleted.

        ``after`` is complete; ``schema`` is the changed table's.
        """
        visited: set[tuple[str, bool]] = set()
        for table in self._unknown:
            # InnoDB refuses an update that cascades into the table that it updates.
            if table != row.table or row.operation is Operation.DELETE:
                yield table, row.operation is Operation.DELETE
        for (child, _), foreign_key in self._children.get(row.table.lower(), {}).items():
            deleted = row.operation is Operation.DELETE
            if deleted or _changes_referenced(row, after, schema, foreign_key):
                yield from self._cascade(child, foreign_key, deleted, visited)

    def _cascade(
        self, child: str, foreign_key: ForeignKey, deleted: bool, visited: set[tuple[str, bool]]
    ) -> Iterator[tuple[str, bool]]:
        action = (foreign_key.on_delete if deleted else foreign_key.on_update).upper()
        if action not in _CHANGES_CHILD:
            return
        # A cascaded delete deletes; everything else updates the child.
        deletes = deleted and action == "CASCADE"
        yield child, deletes
        if (child, deletes) in visited:
            return
        visited.add((child, deletes))
        for (grandchild, _), further in self._children.get(child.lower(), {}).items():
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
