"""Conflict keys: what two transactions must both touch for their order to matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from paraply.vocabulary.schema import TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictKey:
    """One value of one PRIMARY or UNIQUE key of one table.

    ``values`` holds one comparable value per key part, folded by the part's collation, so that
    equal keys are equal objects; ``shown`` is what the log recorded, for reports, and does not
    take part in equality. A key with a NULL part is never built: NULLs do not collide.
    A foreign key adds the parent's key to the child's transaction, so both meet in it.
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


class RowKeys(Protocol):
    """Whoever knows the tables of a log at the transaction just read (the key builder does)."""

    def keys_of(self, table: str, image: tuple[object, ...]) -> tuple[ConflictKey, ...] | None:
        """Return the PRIMARY and UNIQUE keys of one row image, PRIMARY first.

        A key with a NULL part, or with a part the image does not record, is left out. None:
        the keys of the table are not known at all.
        """
        ...

    def schema_of(self, table: str) -> TableSchema | None:
        """Return what is known of ``schema.table`` now, None if nothing is."""
        ...
