"""Conflict keys: two transactions conflict only if both touch one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from paraply.vocabulary.schema import ForeignKey, TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictKey:
    """One value of a PRIMARY or UNIQUE key.

    ``values`` are folded by collation, so equal keys are equal objects. ``shown`` is the logged
    value; comparisons ignore it. Keys with a NULL part do not exist, because NULLs do not collide.
    A foreign key adds the parent's key to the child's transaction.
    """

    table: str
    index: str
    values: tuple[object, ...]
    shown: str = ""

    def __str__(self) -> str:
        return f"{self.table}.{self.index}({self.shown or ', '.join(map(repr, self.values))})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConflictKey):
            return NotImplemented
        return (self.table, self.index, self.values) == (other.table, other.index, other.values)

    def __hash__(self) -> int:
        return hash((self.table, self.index, self.values))


@dataclass(frozen=True, slots=True)
class NamedBeside:
    """What a change of a row names beside keys, if the role of its table has the mark."""

    mark: int
    met: frozenset[str] = frozenset()
    reached: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TableTies:
    """What foreign keys mean for rows that kernels read."""

    references: Mapping[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    """Places, among the keys of a row, of what other tables refer to, by its columns.

    A change of either is a change of the value.
    """
    names: tuple[NamedBeside, ...] = ()


class RowKeys(Protocol):
    """The key builder at the current transaction."""

    def keys_of(self, table: str, image: tuple[object, ...]) -> tuple[ConflictKey, ...] | None:
        """Return a row image's keys, PRIMARY first; None if unknown.

        Keys with a NULL or unrecorded part are omitted.
        """
        ...

    def identities_of(
        self, table: str, image: tuple[object, ...]
    ) -> tuple[ConflictKey, ...] | None:
        """Return the same keys, but equal only if their rows certainly collide."""
        ...

    def schema_of(self, table: str) -> TableSchema | None:
        """Return the current schema, if known."""
        ...

    def referencing(self, table: str) -> Sequence[tuple[str, ForeignKey]]:
        """Return the known foreign keys that reference the table, each with its own table."""
        ...
