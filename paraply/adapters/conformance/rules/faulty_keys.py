"""Appliers that compute keys wrongly; ``faulty`` lists them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from paraply.adapters.conformance.rules.correct import Key, OwnKeys, WriteSet
from paraply.adapters.conformance.rules.rule import Transaction


class RawBytes(OwnKeys):
    """Compares key values byte by byte."""

    name = "raw_bytes"

    def fold(self, value: Any, collation: str) -> Any:
        """Keep the value."""
        return str(value) if isinstance(value, dict) else value


class NoPadding(OwnKeys):
    """Folds case and accents, but ignores padding."""

    name = "no_padding"

    def fold(self, value: Any, collation: str) -> Any:
        """Fold without padding."""
        return super().fold(f"{value}|", collation) if isinstance(value, str) else value


class PrimaryKeyOnly(OwnKeys):
    """Computes no UNIQUE keys."""

    name = "primary_key_only"

    def keys_that_count(self, table: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Omit UNIQUE keys beside a PRIMARY key."""
        primary = [key for key in table["keys"] if key["name"] == "PRIMARY"]
        return primary or super().keys_that_count(table)


class NetChange(OwnKeys):
    """Ignores a row's keys inside the transaction."""

    name = "net_change"

    def on_received(self, transaction: Transaction) -> None:
        """Merge row changes before computing keys."""
        merged: list[dict[str, Any]] = []
        for row in transaction.rows:
            earlier = next(
                (m for m in merged if m["table"] == row["table"] and m["after"] == row["before"]),
                None,
            )
            if earlier is None or row["before"] is None:
                merged.append(dict(row))
            else:
                earlier["after"] = row["after"]
        rows, transaction.rows = transaction.rows, tuple(merged)
        super().on_received(transaction)
        transaction.rows = rows


class WholeValues(OwnKeys):
    """Ignores key prefix lengths."""

    name = "whole_values"

    def cut(self, value: Any, prefix: int) -> Any:
        """Keep the whole value."""
        return value


class NoParents(OwnKeys):
    """Ignores foreign keys."""

    name = "no_parents"

    def parent_keys(
        self, table: Mapping[str, Any], image: list[Any], tables: Mapping[str, Mapping[str, Any]]
    ) -> list[Key]:
        """Return no parent."""
        return []


class NoCascades(OwnKeys):
    """Ignores cascades below the log."""

    name = "no_cascades"

    def cascades(self, transaction: Transaction) -> bool:
        """Return False."""
        return False


class KeylessIsFree(OwnKeys):
    """Runs keyless rows beside everything."""

    name = "keyless_is_free"

    def is_keyed(self, table: Mapping[str, Any], keys: list[Key]) -> bool:
        """Accept rows without keys."""
        return True


class KeylessBesideKeyed(OwnKeys):
    """Ignores keyless rows beside keyed ones."""

    name = "keyless_beside_keyed"

    def runs_alone(self, transaction: Transaction) -> bool:
        """Require one key per transaction."""
        if transaction.kind == "rows" and transaction.marks["written"]:
            return False
        return super().runs_alone(transaction)


class AfterImagesOnly(OwnKeys):
    """Ignores before images of updates."""

    name = "after_images_only"

    def images(self, row: Mapping[str, Any]) -> list[list[Any]]:
        """Omit an update's before image."""
        return [row["before"] if row["after"] is None else row["after"]]


class SortsRows(OwnKeys):
    """Sorts rows by key, to avoid deadlocks."""

    name = "sorts_rows"

    def rows_of(self, transaction: Transaction) -> Sequence[int]:
        """Return rows sorted by first column."""
        rows = transaction.rows
        return sorted(
            range(len(rows)),
            key=lambda at: (rows[at]["table"], str((rows[at]["before"] or rows[at]["after"])[0])),
        )


class GroupsByTable(OwnKeys):
    """Applies rows table by table, in batches."""

    name = "groups_by_table"

    def rows_of(self, transaction: Transaction) -> Sequence[int]:
        """Return the rows grouped by table."""
        tables = list(dict.fromkeys(row["table"] for row in transaction.rows))
        return sorted(
            range(len(transaction.rows)),
            key=lambda at: tables.index(transaction.rows[at]["table"]),
        )


class LowersCase(OwnKeys):
    """Lowers case instead of folding it."""

    name = "lowers_case"

    def fold(self, value: Any, collation: str) -> Any:
        """Lower the case before folding."""
        if isinstance(value, str) and collation.endswith("_ci"):
            marks = unicodedata.normalize("NFD", value)
            value = "".join(c for c in marks if not unicodedata.combining(c)).lower()
            return value if "_0900_" in collation else value.rstrip(" ")
        return super().fold(value, collation)


class SchemaChangeIsNoBarrier(OwnKeys):
    """Runs a schema change beside rows."""

    name = "schema_change_is_no_barrier"

    def runs_alone(self, transaction: Transaction) -> bool:
        """Treat empty statements as conflict-free."""
        return bool(transaction.rows) and super().runs_alone(transaction)


class KeysWithoutNames(OwnKeys):
    """Equates values of PRIMARY and UNIQUE keys."""

    name = "keys_without_names"

    def unique_keys(self, table: Mapping[str, Any], image: list[Any]) -> list[Key]:
        """Omit the index from the key."""
        return [(key[0], *key[2:]) for key in super().unique_keys(table, image)]


class KeysWithoutTables(OwnKeys):
    """Equates key values of two tables."""

    name = "keys_without_tables"

    def unique_keys(self, table: Mapping[str, Any], image: list[Any]) -> list[Key]:
        """Omit the table from the key."""
        return [key[1:] for key in super().unique_keys(table, image)]


class SiblingsConflict(WriteSet):
    """Treats shared reads of a parent as conflicts."""

    name = "siblings_conflict"

    def conflict(self, earlier: Transaction, later: Transaction) -> bool:
        """Let shared reads conflict."""
        return super().conflict(earlier, later) or bool(set(earlier.reads) & set(later.reads))


class StopsAtUnknownCollation(OwnKeys):
    """Stops at an unsupported collation."""

    name = "stops_at_unknown_collation"

    def fold(self, value: Any, collation: str) -> Any:
        """Reject unknown collations."""
        if isinstance(value, str) and "_esperanto_" in collation:
            raise ValueError(f"collation {collation} is not supported")
        return super().fold(value, collation)
