"""The harness' database: keyed rows, unique and foreign keys, row locks, rollback.

Unlike in a real engine, a change must find the whole source row, not only its key, so that a wrong
order fails at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paraply.adapters.conformance.locks import Holder, Locks
from paraply.adapters.conformance.tables import RowKeysOf, Tables, tables_of
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Outcome
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import Operation, RowImage
from paraply.vocabulary.transactions import RowWrite

ERRNO: dict[Outcome, int] = {
    Outcome.DUPLICATE_KEY: 1062,
    Outcome.MISSING_PARENT: 1452,
    Outcome.LOCK_WAIT: 1205,
    Outcome.DEADLOCK: 1213,
    Outcome.ERROR: 1146,
    Outcome.MISSING_BEFORE_IMAGE: 1032,
}


class Applied(NamedTuple):
    """A change's result; ``holders`` block it."""

    outcome: Outcome
    holders: frozenset[Holder] = frozenset()
    note: str = ""


@dataclass(slots=True)
class _Row:
    table: str
    image: RowImage
    keys: RowKeysOf


class _RefusedError(Exception):
    def __init__(
        self, outcome: Outcome, note: str = "", holders: frozenset[Holder] = frozenset()
    ) -> None:
        super().__init__(note)
        self.applied = Applied(outcome, holders, note)


class Database:
    """One server's tables and open transactions."""

    def __init__(self, statements: tuple[str, ...] = ()) -> None:
        self.tables = tables_of(statements)
        self._rows: dict[int, _Row] = {}
        self._by_key: dict[ConflictKey, int] = {}
        self._referrers: dict[ConflictKey, set[int]] = {}
        self._existing: dict[ConflictKey, int] = {}
        self._undo: dict[Holder, list[Callable[[], None]]] = {}
        self._locks = Locks()
        self._next_row = 1

    # Transactions

    def apply(self, holder: Holder, change: RowWrite) -> Applied:
        """Change a row; a refusal leaves only locks."""
        mark = len(self._undo.setdefault(holder, []))
        try:
            self._lock(holder, ("table", change.table), exclusive=False)
            self._change(holder, change)
        except _RefusedError as refused:
            self._undo_to(holder, mark)
            return refused.applied
        return Applied(Outcome.OK)

    def execute(self, holder: Holder, statement: str) -> Applied:
        """Run a DDL statement with exclusive access; a refusal changes nothing."""
        try:
            for table in {row.table for row in self._rows.values()} | {
                schema.name for schema in self.tables.schemas
            }:
                self._lock(holder, ("table", table), exclusive=True)
            self._run_ddl(holder, statement)
        except _RefusedError as refused:
            return refused.applied
        except ParaplyError as error:
            return Applied(Outcome.ERROR, note=error.text)
        return Applied(Outcome.OK)

    def engine_commit(self, holder: Holder) -> None:
        """Commit and free the locks."""
        self._undo.pop(holder, None)
        self._locks.release(holder)

    def roll_back(self, holder: Holder) -> None:
        """Undo and free the locks."""
        self._undo_to(holder, 0)
        self._undo.pop(holder, None)
        self._locks.release(holder)

    def crash(self) -> None:
        """Lose every uncommitted transaction."""
        for holder in list(self._undo):
            self.roll_back(holder)
        self._locks.clear()

    def contents(self) -> dict[str, tuple[RowImage, ...]]:
        """Return sorted rows, with pending changes."""
        found: dict[str, list[RowImage]] = {schema.name: [] for schema in self.tables.schemas}
        for row in self._rows.values():
            found.setdefault(row.table, []).append(row.image)
        return {table: tuple(sorted(rows, key=repr)) for table, rows in sorted(found.items())}

    def rows_of(self, table: str) -> Iterator[RowImage]:
        """Yield rows, oldest first, with pending changes."""
        return (row.image for row in self._rows.values() if row.table == table)

    # Row changes

    def _change(self, holder: Holder, change: RowWrite) -> None:
        schema = self.tables.schema(change.table)
        if schema is None:
            raise _RefusedError(Outcome.ERROR, f"table {change.table} does not exist")
        for image in (change.before, change.after):
            if image is not None and len(image) != len(schema.columns):
                raise _RefusedError(
                    Outcome.ERROR,
                    f"{change.table} has {len(schema.columns)} columns, the row {len(image)}",
                )
        if change.operation is Operation.INSERT:
            assert change.after is not None
            self._insert(holder, change.table, change.after)
            return
        assert change.before is not None
        kept: tuple[ConflictKey, ...] = ()
        if change.after is not None:
            kept = self.tables.keys(change.table, change.after).existence
        self._lock_row(holder, change.table, change.before, kept)
        number = self._number_of(change.table, change.before)
        if number is None or self._rows[number].image != change.before:
            raise _RefusedError(Outcome.MISSING_BEFORE_IMAGE)
        if change.operation is Operation.DELETE:
            self._delete(holder, number)
        else:
            assert change.after is not None
            self._update(holder, number, change.after)

    def _insert(self, holder: Holder, table: str, image: RowImage) -> None:
        keys = self.tables.keys(table, image)
        self._lock_row(holder, table, image)
        self._require_free(keys.unique, None)
        self._require_parents(holder, keys.parents, keys.existence)
        number = self._next_row
        self._next_row += 1
        self._put(holder, number, _Row(table, image, keys))

    def _update(self, holder: Holder, number: int, image: RowImage) -> None:
        old = self._rows[number]
        keys = self.tables.keys(old.table, image)
        self._lock_row(holder, old.table, image, old.keys.existence)
        self._require_free(keys.unique, number)
        changed_parents = tuple(key for key in keys.parents if key not in old.keys.parents)
        self._require_parents(holder, changed_parents, keys.existence)
        freed = tuple(key for key in old.keys.existence if key not in keys.existence)
        self._remove(holder, number)
        self._put(holder, number, _Row(old.table, image, keys))
        self._on_parent_gone(holder, old, freed, image)

    def _delete(self, holder: Holder, number: int) -> None:
        old = self._rows[number]
        self._remove(holder, number)
        self._on_parent_gone(holder, old, old.keys.existence, None)

    def _require_free(self, keys: tuple[ConflictKey, ...], number: int | None) -> None:
        for key in keys:
            if self._by_key.get(key, number) != number:
                raise _RefusedError(Outcome.DUPLICATE_KEY, f"duplicate entry for {key}")

    def _require_parents(
        self, holder: Holder, parents: tuple[ConflictKey, ...], own: tuple[ConflictKey, ...]
    ) -> None:
        for key in parents:
            self._lock(holder, key, exclusive=False)
            if not self._existing.get(key) and key not in own:
                raise _RefusedError(Outcome.MISSING_PARENT, f"no parent row {key}")

    def _on_parent_gone(
        self,
        holder: Holder,
        old: _Row,
        freed: tuple[ConflictKey, ...],
        image: RowImage | None,
    ) -> None:
        for existence in freed:
            self._lock(holder, existence, exclusive=True)
            if self._existing.get(existence):
                continue
            for number in sorted(self._referrers.get(existence, ())):
                child = self._rows.get(number)
                if child is not None and existence in child.keys.parents:
                    self._act_on_child(holder, number, child, old, image)

    def _act_on_child(
        self, holder: Holder, number: int, child: _Row, parent: _Row, image: RowImage | None
    ) -> None:
        schema = self.tables.schema(parent.table)
        assert schema is not None
        for table, key in self.tables.references_to(parent.table):
            if table != child.table:
                continue
            action = key.on_delete if image is None else key.on_update
            positions = [schema.column_index(name) for name in key.parent_columns]
            refers = all(
                at is not None and child.image[own] == parent.image[at]
                for own, at in zip(key.columns, positions, strict=False)
            )
            if not refers:
                continue
            if action not in ("CASCADE", "SET NULL"):
                raise _RefusedError(Outcome.MISSING_PARENT, f"a row of {table} refers to the row")
            self._lock_row(holder, table, child.image)
            if action == "CASCADE" and image is None:
                self._delete(holder, number)
                return
            changed = list(child.image)
            for own, at in zip(key.columns, positions, strict=False):
                assert at is not None
                changed[own] = image[at] if action == "CASCADE" and image is not None else None
            self._update(holder, number, tuple(changed))
            return

    # Rows, indexes, undo

    def _put(self, holder: Holder, number: int, row: _Row) -> None:
        self._link(number, row)
        self._undo[holder].append(lambda: self._unlink(number, row))

    def _remove(self, holder: Holder, number: int) -> None:
        row = self._rows[number]
        self._unlink(number, row)
        self._undo[holder].append(lambda: self._link(number, row))

    def _link(self, number: int, row: _Row) -> None:
        self._rows[number] = row
        for key in row.keys.unique:
            self._by_key[key] = number
        for key in row.keys.existence:
            self._existing[key] = self._existing.get(key, 0) + 1
        for key in row.keys.parents:
            self._referrers.setdefault(key, set()).add(number)

    def _unlink(self, number: int, row: _Row) -> None:
        del self._rows[number]
        for key in row.keys.unique:
            self._by_key.pop(key, None)
        for key in row.keys.existence:
            self._existing[key] -= 1
        for key in row.keys.parents:
            self._referrers[key].discard(number)

    def _undo_to(self, holder: Holder, mark: int) -> None:
        steps = self._undo.get(holder, [])
        while len(steps) > mark:
            steps.pop()()

    def _number_of(self, table: str, image: RowImage) -> int | None:
        for key in self.tables.keys(table, image).unique:
            return self._by_key.get(key)
        return next(
            (n for n, row in self._rows.items() if row.table == table and row.image == image), None
        )

    # Locks

    def _lock(self, holder: Holder, resource: Hashable, *, exclusive: bool) -> None:
        others = self._locks.take(holder, [(resource, exclusive)])
        if others:
            raise _RefusedError(Outcome.LOCK_WAIT, holders=others)

    def _lock_row(
        self, holder: Holder, table: str, image: RowImage, kept: tuple[ConflictKey, ...] = ()
    ) -> None:
        """A table without keys is locked as a whole. Children may be inserted beside a change that
        keeps their referenced values (``kept``).
        """
        keys = self.tables.keys(table, image)
        for key in (*keys.unique, *keys.existence):
            self._lock(holder, key, exclusive=key not in kept)
        if not self.tables.has_unique_key(table):
            self._lock(holder, ("rows", table), exclusive=True)

    # Schema changes

    def _run_ddl(self, holder: Holder, statement: str) -> None:
        tables = self.tables.after(statement)
        rows = list(self._reshaped(tables))
        taken: set[ConflictKey] = set()
        for row in rows:
            for key in row.keys.unique:
                if key in taken:
                    raise _RefusedError(Outcome.DUPLICATE_KEY, f"duplicate entry for {key}")
                taken.add(key)
        self._undo.pop(holder, None)
        self.tables = tables
        self._rows.clear()
        self._by_key.clear()
        self._existing.clear()
        self._referrers.clear()
        for row in rows:
            self._link(self._next_row, row)
            self._next_row += 1

    def _reshaped(self, tables: Tables) -> Iterator[_Row]:
        for _, row in sorted(self._rows.items()):
            schema = tables.schema(row.table)
            if schema is not None:
                width = len(schema.columns)
                image = (*row.image, *(None for _ in range(width - len(row.image))))[:width]
                yield _Row(row.table, image, tables.keys(row.table, image))
