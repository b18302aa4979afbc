"""Correct rules: by last_committed, keys or commit id, and serial."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from paraply.adapters.conformance.rules.rule import Init, Rule, Transaction

Key = tuple[Any, ...]
"""Table, name or columns, and comparable values."""


class Serial(Rule):
    """One transaction at a time."""

    name = "serial"
    features = frozenset({"lc_sn", "position"})

    def place(self, transaction: Transaction) -> int | None:
        """Wait for the previous transaction."""
        return None if self.running else 1

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Save after every transaction."""
        return order[0] - 1 if order else last_received


class LogicalClock(Rule):
    """By last_committed as a prefix."""

    name = "logical_clock"
    features = frozenset({"lc_sn", "position"})

    def place(self, transaction: Transaction) -> int | None:
        """Wait for last_committed and the old file."""
        for other in self.running:
            if other.file != transaction.file or other.sn <= transaction.lc:
                return None
        return self.free_worker()

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Save the committed prefix."""
        return order[0] - 1 if order else last_received


class WriteSet(Rule):
    """By keys, written and read."""

    name = "write_set"
    features = frozenset({"writeset", "position"})

    def place(self, transaction: Transaction) -> int | None:
        """Wait for running transactions that conflict."""
        if any(self.conflict(other, transaction) for other in self.running):
            return None
        return self.free_worker()

    def conflict(self, earlier: Transaction, later: Transaction) -> bool:
        """Return whether their order matters."""
        if earlier.is_alone or later.is_alone:
            return True
        if self.cascades(earlier) or self.cascades(later):
            return True
        written, wanted = set(earlier.keys), set(later.keys)
        return bool(written & (wanted | set(later.reads)) or wanted & set(earlier.reads))

    def cascades(self, transaction: Transaction) -> bool:
        """Return whether it triggers a referential action."""
        acted_on = {
            key["parent"]
            for table in self.schema
            for key in table["foreign_keys"]
            if {key["on_delete"], key["on_update"]} & {"CASCADE", "SET NULL"}
        }
        return any(row["op"] != "I" and row["table"] in acted_on for row in transaction.rows)

    def checkpoint(self, order: Sequence[int], last_received: int) -> int | None:
        """Save the committed prefix."""
        return order[0] - 1 if order else last_received


class GroupCommit(Rule):
    """By commit id, one group at a time (MariaDB conservative)."""

    name = "group_commit"
    features = frozenset({"commit_id"})

    def place(self, transaction: Transaction) -> int | None:
        """Wait for the previous group."""
        for other in self.running:
            if other.commit_id != transaction.commit_id or transaction.kind != "rows":
                return None
        return self.free_worker()


class MySQLCoordinator(LogicalClock):
    """MySQL's LOGICAL_CLOCK, restated from WL#7165 and the manual.

    last_committed=0 or a gap of numbers makes a barrier.
    """

    name = "mysql_coordinator"

    def __init__(self, init: Init) -> None:
        super().__init__(init)
        self.last = 0

    def on_rotated(self, file: str) -> None:
        """Expect number 1 again."""
        del file
        self.last = 0

    def place(self, transaction: Transaction) -> int | None:
        """Wait for last_committed, or for all."""
        opens_a_group = not transaction.lc or transaction.sn != self.last + 1
        if opens_a_group and self.running:
            return None
        worker = super().place(transaction)
        if worker is not None:
            self.last = transaction.sn
        return worker


class MariaDBConservative(GroupCommit):
    """MariaDB's conservative mode from the knowledge base: groups, in commit order."""

    name = "mariadb_conservative"

    def may_commit(self, transaction: Transaction, order: Sequence[int]) -> bool:
        """Always commit in log order."""
        return order[0] == transaction.id


class OwnKeys(WriteSet):
    """By keys that it computes from rows and schema."""

    name = "own_keys"

    def on_received(self, transaction: Transaction) -> None:
        """Compute written and required parent keys."""
        if transaction.schema is not None:
            self.schema = transaction.schema
        tables = {table["name"]: table for table in self.schema}
        written: set[Key] = set()
        read: set[Key] = set()
        transaction.marks["is_keyless"] = False
        for row in transaction.rows:
            table = tables[row["table"]]
            for image in self.images(row):
                keys = self.unique_keys(table, image)
                transaction.marks["is_keyless"] |= not self.is_keyed(table, keys)
                written.update(keys)
                read.update(self.parent_keys(table, image, tables))
        self.add_referenced(transaction, tables, written)
        transaction.marks["written"], transaction.marks["read"] = written, read - written

    def images(self, row: Mapping[str, Any]) -> list[list[Any]]:
        """Return both images."""
        return [image for image in (row["before"], row["after"]) if image is not None]

    def is_keyed(self, table: Mapping[str, Any], keys: list[Key]) -> bool:
        """Return whether keys identify the row."""
        del table
        return bool(keys)

    def unique_keys(self, table: Mapping[str, Any], image: list[Any]) -> list[Key]:
        """Return an image's keys; NULL makes none."""
        found: list[Key] = []
        for key in self.keys_that_count(table):
            values = []
            for position, prefix in zip(key["columns"], key["prefixes"], strict=True):
                value = image[position] if position < len(image) else None
                column = table["columns"][position]
                values.append(self.fold(self.cut(value, prefix), column["collation"]))
            if None not in values:
                found.append((table["name"], key["name"], *values))
        return found

    def keys_that_count(self, table: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the keys to compute: all."""
        keys: Sequence[Mapping[str, Any]] = table["keys"]
        return keys

    def cut(self, value: Any, prefix: int) -> Any:
        """Return a value's indexed prefix."""
        return value[:prefix] if prefix and isinstance(value, str) else value

    def fold(self, value: Any, collation: str) -> Any:
        """Return one value per collation class."""
        if not isinstance(value, str):
            return str(value) if isinstance(value, dict) else value
        if collation.endswith("_ci"):
            marks = unicodedata.normalize("NFD", value)
            value = "".join(c for c in marks if not unicodedata.combining(c)).casefold()
        return value if "_0900_" in collation else value.rstrip(" ")

    def parent_keys(
        self,
        table: Mapping[str, Any],
        image: list[Any],
        tables: Mapping[str, Mapping[str, Any]],
    ) -> list[Key]:
        """Return the foreign keys' parent columns and values."""
        names = [column["name"] for column in table["columns"]]
        found: list[Key] = []
        for key in table["foreign_keys"]:
            values = [image[names.index(column)] for column in key["columns"]]
            if None not in values and key["parent"] in tables:
                found.append((key["parent"], tuple(key["parent_columns"]), *values))
        return found

    def add_referenced(
        self,
        transaction: Transaction,
        tables: Mapping[str, Mapping[str, Any]],
        written: set[Key],
    ) -> None:
        """Add written columns that children reference."""
        for row in transaction.rows:
            for child in tables.values():
                for key in child["foreign_keys"]:
                    if key["parent"] != row["table"] or row["table"] not in tables:
                        continue
                    names = [column["name"] for column in tables[row["table"]]["columns"]]
                    for image in self.images(row):
                        values = [image[names.index(name)] for name in key["parent_columns"]]
                        written.add((row["table"], tuple(key["parent_columns"]), *values))

    def conflict(self, earlier: Transaction, later: Transaction) -> bool:
        """Return whether the computed keys conflict."""
        if any(self.runs_alone(one) or self.cascades(one) for one in (earlier, later)):
            return True
        written, wanted = earlier.marks["written"], later.marks["written"]
        return bool(written & (wanted | later.marks["read"]) or wanted & earlier.marks["read"])

    def runs_alone(self, transaction: Transaction) -> bool:
        """Return whether keys miss some conflicts."""
        return transaction.kind != "rows" or not transaction.rows or transaction.marks["is_keyless"]
