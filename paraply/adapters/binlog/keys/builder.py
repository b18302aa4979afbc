"""Conflict keys of logged transactions, from row images and table definitions.

Each changed row gives its PRIMARY and UNIQUE keys before and after;
:mod:`paraply.adapters.binlog.keys.foreign` adds foreign keys. A NULL part makes no key.

**Partial images** (binlog_row_image MINIMAL or NOBLOB). A unique key needs no conflict key if the
UPDATE neither sets nor records its columns. Others conflict over its constant value only by taking
or releasing it. Releasing changes this row: both share its PRIMARY key. Taking follows a release,
with which both are ordered.

So a DELETE without its unique value, or an UPDATE without the old one, may meet only what takes a
value of this key (two that release it have one between them that takes it), and an INSERT with an
unknown default what takes or releases one. A key that contains another needs no value: equal ones
are equal in both. Without its primary key a row is *partly keyed*. A row without key is *unkeyed*,
and named by all its columns: replicas search for one that is equal in each.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from paraply.adapters.binlog.keys.foreign import (
    PRIMARY,
    ChildTie,
    ParentTie,
    child_ties,
    parent_ties,
)
from paraply.adapters.binlog.keys.parts import BuiltKey, KeyPlan, NoKey, key_plan
from paraply.adapters.binlog.keys.ties import take_child_tie, take_parent_tie
from paraply.adapters.binlog.keys.transaction_keys import TransactionKeys
from paraply.adapters.binlog.keys.values import INTEGER_BITS
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import (
    ABSENT,
    ANY_ROWS,
    CREATES_NOTHING,
    DDL_CHARACTERS_MAX,
    FREED,
    TAKEN,
    LoggedTransaction,
    Operation,
    RowChange,
    RowImage,
    aspect,
)
from paraply.vocabulary.schema import Column, ForeignKey, TableSchema

_BREAKS_OFF = " `"
"""Ends a cut statement inside a name, so parsing fails."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The key plans of one table, PRIMARY first."""

    keys: tuple[KeyPlan, ...]
    has_primary: bool
    complete: bool
    foreign_keys_known: bool
    as_child: tuple[ChildTie, ...]
    as_parent: tuple[ParentTie, ...]
    taken: str = ""
    """The aspect of taking unique values under cascades."""
    omitted: RowImage = ()
    """What an insert leaves in each column that it omits."""


_UNKNOWN_VALUES = frozenset({NoKey.ABSENT, NoKey.INCOMPARABLE})
_UNKNOWN = TablePlan((), False, False, False, (), ())


class KeyBuilder:
    """Builds keys from the registry, in log order.

    Implements :class:`paraply.vocabulary.keys.RowKeys`.
    """

    def __init__(self, registry: SchemaRegistry) -> None:
        self.registry = registry
        self._version = registry.version
        self._plans: dict[str, TablePlan] = {}
        self._open: tuple[int, TransactionKeys] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Plans are functions, and follow from the registry.
        return {**self.__dict__, "_plans": {}}

    # Keys for the judges

    def keys_of(self, table: str, image: RowImage) -> tuple[ConflictKey, ...] | None:
        """Return a row image's keys, PRIMARY first; None if unknown."""
        plan = self._plan(table)
        if not plan.keys:
            return None
        built = (key.build(image) for key in plan.keys)
        return tuple(each.key for each in built if isinstance(each, BuiltKey))

    def identities_of(self, table: str, image: RowImage) -> tuple[ConflictKey, ...] | None:
        """Return a row image's keys, text of unknown collation as logged; None if unknown."""
        plan = self._plan(table)
        if not plan.keys:
            return None
        built = (key.build(image, by_bytes=True) for key in plan.keys)
        return tuple(each.key for each in built if isinstance(each, BuiltKey))

    def schema_of(self, table: str) -> TableSchema | None:
        """Return the current schema of ``schema.table``."""
        return self.registry.table(table)

    def referencing(self, table: str) -> tuple[tuple[str, ForeignKey], ...]:
        """Return the known foreign keys that reference the table, each with its own table."""
        return self.registry.referencing(table)

    def plans_of(self, names: Container[str]) -> dict[str, TablePlan]:
        """Return by table how keys were built last, of tables with these lower-case names."""
        return {name: plan for name, plan in self._plans.items() if name.lower() in names}

    # Transactions

    def complete_transaction(self, txn: LoggedTransaction) -> None:
        """Set a transaction's keys and apply its schema statements.

        Call once each, in log order. Statements precede rows, as in CREATE TABLE ... SELECT.
        """
        effects = []
        for sql in txn.schema_statements:
            effects.append(not self.registry.creates_nothing(sql, txn.default_schema))
            if len(sql) >= DDL_CHARACTERS_MAX:
                sql += _BREAKS_OFF
            self.registry.observe_statement(
                sql, txn.default_schema, where=f"{txn.start.file}:{txn.start.offset}"
            )
        if effects and not any(effects):
            txn.flags |= {CREATES_NOTHING}
        keys = self._keys_of(txn)
        txn.rows = [self._take_row(row, keys) for row in txn.rows]
        keys.unkeyed |= txn.undecoded_tables
        keys.unidentified |= txn.undecoded_tables
        keys.partly_keyed |= txn.undecoded_tables
        if txn.undecoded_tables:
            keys.reached.add(ANY_ROWS)
            keys.aspects.add(ANY_ROWS)
        keys.store(txn)
        self._open = None

    def take_rows(self, txn: LoggedTransaction, rows: Iterable[RowChange]) -> None:
        """Collect keys before the transaction completes (``on_rows``)."""
        keys = self._keys_of(txn)
        for row in rows:
            self._take_row(row, keys)

    def _keys_of(self, txn: LoggedTransaction) -> TransactionKeys:
        if txn.domain is not None:
            self.registry.note_mariadb()
        if self._open is None or self._open[0] != txn.ordinal:
            self._open = (txn.ordinal, TransactionKeys())
        return self._open[1]

    def _with_defaults(self, row: RowChange, plan: TablePlan) -> RowChange:
        """Fill in the NULLs that a minimal image of an insert omits; text leaves out its end."""
        after = row.after
        if row.before is not None or after is None:
            return row
        if ABSENT not in after and len(after) >= len(plan.omitted):
            return row
        told = [*after, *(ABSENT for _ in plan.omitted[len(after) :])]
        for column, value in enumerate(plan.omitted):
            if told[column] is ABSENT:
                told[column] = value
        return replace(row, after=tuple(told))

    def _plan(self, table: str) -> TablePlan:
        if self._version != self.registry.version:
            self._plans.clear()
            self._version = self.registry.version
        plan = self._plans.get(table)
        if plan is None:
            plan = self._plans[table] = plan_of(self.registry, table)
        return plan

    def _take_row(self, row: RowChange, keys: TransactionKeys) -> RowChange:
        """Collect a row's keys; return it with what it omits filled in."""
        plan = self._plan(row.table)
        row = self._with_defaults(row, plan)
        if not plan.complete:
            keys.partly_keyed.add(row.table)
        keys.aspects.add(ANY_ROWS)
        if not plan.foreign_keys_known:
            keys.reached.add(ANY_ROWS)
        if plan.taken and not plan.complete and row.after is not None:
            keys.aspects.add(plan.taken)
        before, after = row.before, row.whole_after
        identifies_before = identifies_after = False
        for place, key in enumerate(plan.keys):
            old, new = _build_both(key, before, after)
            if plan.taken and new != old and new is not NoKey.NULL:
                keys.aspects.add(plan.taken)
            is_hidden = _may_be_hidden(key, plan.keys[0], row)
            _take_key(key, row, old, new, keys, is_hidden=is_hidden)
            # Where there is a PRIMARY key, it alone identifies a row.
            if not (plan.has_primary and place):
                identifies_before |= isinstance(old, BuiltKey)
                identifies_after |= isinstance(new, BuiltKey)
        if before is not None and not identifies_before:
            keys.search_for(row.table, before)
        if after is not None and not identifies_after:
            keys.leave(row.table, after)
        for child_tie in plan.as_child:
            take_child_tie(child_tie, row, before, after, keys, has_primary=plan.has_primary)
        for parent_tie in plan.as_parent:
            take_parent_tie(parent_tie, row, before, after, keys)
        return row


def follow(
    builder: KeyBuilder, transactions: Iterable[LoggedTransaction]
) -> Iterator[LoggedTransaction]:
    """Yield keyed transactions in log order."""
    for txn in transactions:
        builder.complete_transaction(txn)
        yield txn


def plan_of(registry: SchemaRegistry, table: str) -> TablePlan:
    """Return a table's plan, keyless if unknown."""
    schema = registry.table(table)
    if schema is None:
        return _UNKNOWN
    keys = tuple(
        replace(
            key_plan(schema.name, unique.name, schema.columns, unique.parts),
            is_computed=registry.is_mariadb
            and any(schema.columns[part.column].generated for part in unique.parts),
        )
        for unique in schema.unique_keys
    )
    as_child = child_ties(registry, schema)
    parts = [frozenset(unique.parts) for unique in schema.unique_keys]
    keys = tuple(
        replace(
            key,
            is_implied=any(other < own for other in parts) or own in parts[:place],
            changes=tuple(aspect(table, f"{what}: {key.index}") for what in (FREED, TAKEN)),
        )
        for place, (key, own) in enumerate(zip(keys, parts, strict=True))
    )
    return TablePlan(
        keys,
        bool(keys) and keys[0].index == PRIMARY,
        schema.keys_complete,
        schema.foreign_keys_known,
        as_child,
        parent_ties(registry, schema),
        aspect(table, TAKEN) if any(tie.may_be_changed_below for tie in as_child) else "",
        tuple(map(_omitted, schema.columns)),
    )


def _omitted(column: Column) -> object:
    """Return what an insert that omits a column leaves there, ABSENT where that is unknown."""
    if column.omitted_is_null and column.nullable:
        return None
    if column.type_name.partition(" ")[0] not in INTEGER_BITS:
        return ABSENT
    # Without strict mode, a number without a default becomes 0.
    value = 0 if column.omitted_is_null else column.omitted_value
    return ABSENT if value is None else value


def _build_both(
    key: KeyPlan, before: RowImage | None, after: RowImage | None
) -> tuple[BuiltKey | NoKey, BuiltKey | NoKey]:
    old = NoKey.NULL if before is None else key.build(before)
    if after is None:
        return old, NoKey.NULL
    # Most updates change few keys, and keys are expensive.
    if before is not None and all(
        column < len(before) and column < len(after) and before[column] == after[column]
        for column in key.columns
    ):
        return old, old
    return old, key.build(after)


def _take_key(
    key: KeyPlan,
    row: RowChange,
    old: BuiltKey | NoKey,
    new: BuiltKey | NoKey,
    keys: TransactionKeys,
    *,
    is_hidden: bool,
) -> None:
    for built in (old, new):
        if isinstance(built, BuiltKey):
            keys.write(built)
    if key.is_implied:
        return
    unknown = [isinstance(built, NoKey) and built in _UNKNOWN_VALUES for built in (old, new)]
    if is_hidden or (any(unknown) and _is_untouched(key, row, old, new)):
        unknown = [is_hidden, is_hidden]
    if key.index == PRIMARY:
        if any(unknown):
            keys.partly_keyed.add(row.table)
        return
    freed, taken = key.changes
    for built, other, own, is_unknown, met in (
        (old, new, freed, unknown[0], (taken,)),
        (new, old, taken, unknown[1], (taken, freed)),
    ):
        if is_unknown or (isinstance(built, BuiltKey) and built is not other):
            keys.aspects.add(own)
        if is_unknown:
            keys.reached.update(met)


def _is_untouched(
    key: KeyPlan, row: RowChange, old: BuiltKey | NoKey, new: BuiltKey | NoKey
) -> bool:
    """Return whether the claim in the module's docstring covers an update."""
    return (
        NoKey.ABSENT in (old, new)
        and NoKey.INCOMPARABLE not in (old, new)
        and row.operation is Operation.UPDATE
        and row.after is not None
        and not key.is_set_by(row.after)
    )


def _may_be_hidden(key: KeyPlan, first: KeyPlan, row: RowChange) -> bool:
    """Return whether an update may change a part of a key without recording it.

    MariaDB 11.8 records no generated column of an update, even in a full image. An image with a
    column outside of the first key is no minimal one.
    """
    if row.before is None or row.after is None or key.is_set_by(row.after):
        return False
    recorded = {column for column, value in enumerate(row.before) if value is not ABSENT}
    return key.is_computed or not (
        recorded.issuperset(key.columns) or recorded.issubset(first.columns)
    )
