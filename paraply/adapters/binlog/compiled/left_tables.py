"""Tables whose rows are left to the readable code, or compared in part, for the whole log.

Digests of kernels and of readable keys never compare, so tables that foreign keys tie are left
together. A table that turns out to be odd after its rows were judged makes the audit begin again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from paraply.adapters.binlog.compiled import layout as L
from paraply.adapters.binlog.compiled.descriptors import (
    ScanPlan,
    has_certain_ties,
    scan_plan,
)
from paraply.adapters.binlog.compiled.partial_images import (
    compared_columns,
    suffices,
    with_hidden,
    with_releases,
)
from paraply.adapters.binlog.keys.builder import TablePlan, plan_of
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
    compared: dict[str, frozenset[int]] = field(default_factory=dict)
    """The columns that images before a change show, of tables whose images do not show all."""
    guessed: set[str] = field(default_factory=set)
    """Those of them of which no such image was seen."""
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
        found = LeftTables(
            other.reasons | self.reasons, restarts=max(self.restarts, other.restarts)
        )
        for name in self.compared.keys() | other.compared.keys():
            sets = [each.compared[name] for each in (self, other) if name in each.compared]
            seen = [
                each.compared[name] for each in (self, other)
                if name in each.compared.keys() - each.guessed
            ]  # fmt: skip
            found.compared[name] = min(seen or sets, key=len)
            if not seen:
                found.guessed.add(name)
            if len(set(seen)) > 1:
                found.reasons.setdefault(name, REASONS[L.PARTIAL])
        return found

    def are_as(self, other: LeftTables) -> bool:
        """Return whether kernels read the same rows in the same way with others."""
        return self.reasons.keys() == other.reasons.keys() and self.compared == other.compared

    def compare_in_part(
        self, registry: SchemaRegistry, table: TableMap, shown: NDArray[np.int64]
    ) -> bool:
        """Learn what images of a table show; return whether that is new, and suffices.

        ``shown`` says which columns some partial images show, before and after.
        """
        name, read_by = table.name.lower(), plan_of(registry, table.name)
        plan, schema = scan_plan(registry, table, read_by), registry.table(table.name)
        if plan is None or schema is None or name in self.compared.keys() - self.guessed:
            return False
        before, after = shown[: len(table.columns)].T.tolist()
        compared = compared_columns(table, plan, before, after)
        if compared == self.compared.get(name) or not suffices(compared, schema, plan, read_by):
            return False
        self.compared[name] = compared
        # An insert has no image from before.
        (self.guessed.discard if any(before) else self.guessed.add)(name)
        return True

    def plan_by_images(
        self, registry: SchemaRegistry, table: TableMap, plan: ScanPlan, read_by: TablePlan
    ) -> ScanPlan | None:
        """Return a table's plan by what images show; None if kernels cannot read them."""
        if not self.compared:
            return plan
        compared, schema = self.compared.get(table.name.lower()), registry.table(table.name)
        found = tuple(with_releases(plan))
        if compared is not None:
            if schema is None or not suffices(compared, schema, plan, read_by):
                return None
            found = tuple(with_hidden(found, read_by, compared))
        return (
            found if len({each for line in found for each in line.names}) <= len(L.MARKS) else None
        )

    def why_unplanned(self, registry: SchemaRegistry, table: TableMap) -> str:
        """Return why the scanner has no plan for a table."""
        if table.name.lower() in self.compared:
            return REASONS[L.PARTIAL]
        has_ties = has_certain_ties(plan_of(registry, table.name))
        return REASONS[L.UNREAD if has_ties else L.UNCERTAIN_TIES]

    def begin_again(self) -> NoReturn:
        """Raise ``BeginAgain``, since tables to be left were already judged by kernels."""
        self.restarts += 1
        raise BeginAgain(self.described(), self)

    def described(self) -> str:
        """Return the tables and reasons in a sentence's part."""
        found = dict.fromkeys(self.compared, REASONS[L.PARTIAL]) | self.reasons
        return ", ".join(f"{name} ({reason})" for name, reason in sorted(found.items()))


def may_be_left(registry: SchemaRegistry, table: TableMap) -> bool:
    """Return whether the readable code reads a table's rows, by its definition if it has one."""
    schema = registry.table(table.name)
    if schema is None or table.undecodable:
        return False
    # System versioning adds columns that no definition names.
    hidden = len(table.columns) - len(schema.columns)
    return hidden == 0 or not schema.columns or (schema.has_hidden_columns and hidden > 0)
