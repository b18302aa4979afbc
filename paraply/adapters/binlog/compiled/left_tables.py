"""Tables whose rows are left to the readable code, for the whole log.

Digests of kernels and of readable keys never compare, so tables that foreign keys tie are left
together. A table that turns out to be odd after its rows were judged makes the audit begin again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.descriptors import has_certain_ties
from paraply.adapters.binlog.keys.builder import plan_of
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.table_map import TableMap
from paraply.vocabulary.not_compilable import BeginAgain

RESTARTS_MAX = 8
"""Each pass finds all odd tables, but a definition may change because of what was left."""

REASONS = {
    L.PARTIAL: "partial row images",
    L.OTHER_TEXTS: "key texts of unknown weights",
    L.SEARCHED: "rows whose keys are NULL",
    L.UNREAD: "keys or columns of other types",
    L.UNCERTAIN_TIES: "uncertain foreign keys",
}


@dataclass(slots=True)
class LeftTables:
    """The left tables by lower-case name, each with the reason."""

    reasons: dict[str, str] = field(default_factory=dict)
    restarts: int = 0

    def add(self, names: Iterable[str], odd: str, reason: str) -> set[str]:
        """Leave tied tables, of which ``odd`` has the reason; return what is new.

        Without a reason, one of them is left already.
        """
        names = set(names)
        odd = odd.lower() if reason else min(names & self.reasons.keys())
        new = names - self.reasons.keys()
        for name in sorted(new):
            self.reasons[name] = reason if name == odd else f"foreign keys with {odd}"
        return new

    def with_those_of(self, other: LeftTables | None) -> LeftTables:
        """Return these and another's tables; the reasons are those of these first."""
        if other is None:
            return self
        return LeftTables(other.reasons | self.reasons, max(self.restarts, other.restarts))

    def begin_again(self) -> NoReturn:
        """Raise ``BeginAgain``, since tables to be left were already judged by kernels."""
        self.restarts += 1
        raise BeginAgain(self.described(), self)

    def described(self) -> str:
        """Return the tables and reasons in a sentence's part."""
        return ", ".join(f"{name} ({reason})" for name, reason in sorted(self.reasons.items()))


def why_unplanned(registry: SchemaRegistry, table: TableMap) -> str:
    """Return why the scanner has no plan for a table."""
    return REASONS[
        L.UNREAD if has_certain_ties(plan_of(registry, table.name)) else L.UNCERTAIN_TIES
    ]


def may_be_left(registry: SchemaRegistry, table: TableMap) -> bool:
    """Return whether the readable code reads a table's rows, by its definition if it has one."""
    schema = registry.table(table.name)
    if schema is None or table.undecodable:
        return False
    # System versioning adds columns that no definition names.
    hidden = len(table.columns) - len(schema.columns)
    return hidden == 0 or not schema.columns or (schema.has_hidden_columns and hidden > 0)
