"""Slices of a log: few transactions, and the rows that they find.

A row that a slice changes before it inserts it was there before: it is an initial row. A
transaction that does not fit the rows before it, because a change between them is not in the log or
in no case, begins the next slice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.conformance.own_logs.steps import Step, Unusable, UnusableError, rows_count
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import RowImage
from paraply.vocabulary.schema import TableSchema
from paraply.vocabulary.transactions import RowWrite

SLICE_ROWS_MAX = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Consecutive usable transactions.

    Attributes:
        first: ordinal of the first transaction in all logs.
        last: of the last one.
        tables: definitions at the beginning.
        initial: rows at the beginning, by table.
    """

    first: int
    last: int
    tables: tuple[TableSchema, ...]
    initial: tuple[tuple[str, RowImage], ...]
    steps: tuple[Step, ...]


class _MisfitError(Exception):
    """The step does not follow the slice's rows or definitions."""


@dataclass(slots=True)
class _Rows:
    """What the slice's steps say about rows; None marks a free key."""

    held: dict[ConflictKey, RowImage | None] = field(default_factory=dict)
    loose: Counter[tuple[str, RowImage]] = field(default_factory=Counter)
    """Rows that no key names."""
    initial: list[tuple[str, RowImage]] = field(default_factory=list)

    def copy(self) -> _Rows:
        """Return a copy to try a step on."""
        return _Rows(dict(self.held), Counter(self.loose), list(self.initial))

    def take(self, row: RowWrite, keys: KeyBuilder) -> None:
        """Follow one change; ``_MisfitError`` if it cannot follow the earlier ones."""
        if row.before is not None:
            self._remove(row.table, row.before, keys.keys_of(row.table, row.before) or ())
        if row.after is not None:
            self._put(row.table, row.after, keys.keys_of(row.table, row.after) or ())

    def _remove(self, table: str, image: RowImage, keys: tuple[ConflictKey, ...]) -> None:
        if not keys:
            if self.loose[table, image]:
                self.loose[table, image] -= 1
            else:
                self.initial.append((table, image))
            return
        seen = [self.held[key] for key in keys if key in self.held]
        if not seen:
            self.initial.append((table, image))
        elif len(seen) < len(keys) or any(one != image for one in seen):
            raise _MisfitError
        self.held.update(dict.fromkeys(keys, None))

    def _put(self, table: str, image: RowImage, keys: tuple[ConflictKey, ...]) -> None:
        if not keys:
            self.loose[table, image] += 1
        if any(self.held.get(key) is not None for key in keys):
            raise _MisfitError
        self.held.update(dict.fromkeys(keys, image))


class Slicer:
    """Cuts one stream of steps into slices of at most ``size`` transactions."""

    def __init__(self, keys: KeyBuilder, size: int) -> None:
        self._keys = keys
        self._size = size
        self.dropped = 0
        """Transactions of slices without row changes."""
        self._begin()

    def _begin(self) -> None:
        self._steps: list[Step] = []
        self._ordinals: list[int] = []
        self._rows = _Rows()
        self._created: set[str] = set()
        self._current: dict[str, TableSchema] = {}
        """Definitions; table maps may add collations to those of statements."""

    def take(self, step: Step, ordinal: int) -> Iterator[Slice]:
        """Add a step; yield the slice that ends before it.

        Raises ``UnusableError`` if the step does not fit any slice.
        """
        is_full = len(self._steps) >= self._size
        if is_full or rows_count((*self._steps, step)) > SLICE_ROWS_MAX:
            yield from self.cut()
        try:
            self._add(step, ordinal)
        except _MisfitError:
            yield from self.cut()
            try:
                self._add(step, ordinal)
            except _MisfitError:
                raise UnusableError(Unusable.CONTRADICTORY) from None

    def cut(self) -> Iterator[Slice]:
        """Yield the steps so far as a slice, if they have rows, and begin the next."""
        if any(step.rows for step in self._steps):
            yield Slice(
                first=self._ordinals[0],
                last=self._ordinals[-1],
                tables=tuple(
                    table for name, table in self._current.items() if name not in self._created
                ),
                initial=tuple(self._rows.initial),
                steps=tuple(map(self._with_definitions, self._steps)),
            )
        else:
            self.dropped += len(self._steps)
        self._begin()

    def _add(self, step: Step, ordinal: int) -> None:
        rows = self._rows.copy()
        for table in step.tables:
            known = self._current.get(table.name)
            if known is not None and (step.creates or not _refines(table, known)):
                raise _MisfitError
        for row in step.rows:
            rows.take(row, self._keys)
        self._rows = rows
        for table in step.tables:
            self._current[table.name] = table
            if step.creates:
                self._created.add(table.name)
        self._steps.append(step)
        self._ordinals.append(ordinal)

    def _with_definitions(self, step: Step) -> Step:
        return replace(step, tables=tuple(self._current[table.name] for table in step.tables))


def _refines(new: TableSchema, old: TableSchema) -> bool:
    """Return whether the definitions differ in collations that were unknown only."""
    return (
        new.unique_keys == old.unique_keys
        and len(new.columns) == len(old.columns)
        and all(
            (one.name, one.type_name) == (other.name, other.type_name)
            and other.collation in ("", one.collation)
            for one, other in zip(new.columns, old.columns, strict=True)
        )
    )
