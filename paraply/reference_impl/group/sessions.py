"""A client's session at a member: what its transaction locks until it has ended.

Row locks and, as the server's metadata locking has it, the tables of the rows: shared by who
changes rows, exclusive to who alters the table.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.reference_impl.certification.gtids import Gtid
from paraply.vocabulary.write_set import Item, table_of


@dataclass(slots=True)
class Session:
    """One transaction that this member executes and has not committed or rolled back.

    Attributes:
        items: the rows it changed.
        alters: the table it altered; empty for none.
        gtid: what it is to commit as, once it is certified.
    """

    items: tuple[Item, ...]
    alters: str = ""
    gtid: Gtid | None = None

    def locks_row(self, items: tuple[Item, ...]) -> bool:
        """Return whether it holds the lock of one of the rows."""
        return not set(items).isdisjoint(self.items)

    def locks_table(self, items: tuple[Item, ...], alters: str) -> bool:
        """Return whether it holds a metadata lock that one of the rows, or a DDL, must wait for."""
        tables = {table_of(item) for item in self.items}
        is_altered = bool(self.alters) and self.alters in {alters, *map(table_of, items)}
        return is_altered or (bool(alters) and alters in tables)
