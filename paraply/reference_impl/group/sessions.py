"""A client session's locks until its transaction ends.

Row changes share their tables' metadata locks; DDL excludes others.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.reference_impl.certification.gtids import Gtid
from paraply.vocabulary.write_set import Item, table_of


@dataclass(slots=True)
class Session:
    """An unfinished local transaction with its locks."""

    items: tuple[Item, ...]
    alters: str = ""
    gtid: Gtid | None = None

    def locks_row(self, items: tuple[Item, ...]) -> bool:
        """Return whether it has locked a row."""
        return not set(items).isdisjoint(self.items)

    def locks_table(self, items: tuple[Item, ...], alters: str) -> bool:
        """Return whether its metadata lock conflicts."""
        tables = {table_of(item) for item in self.items}
        is_altered = bool(self.alters) and self.alters in {alters, *map(table_of, items)}
        return is_altered or (bool(alters) and alters in tables)
