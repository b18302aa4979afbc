"""Conflict keys of logged transactions, from row images and table definitions.

Each changed row gives its PRIMARY and UNIQUE keys before and after;
:mod:`paraply.adapters.binlog.keys.foreign` adds foreign keys. A NULL part makes no key.

**Partial images** (binlog_row_image MINIMAL or NOBLOB). A unique key needs no conflict key if the
UPDATE neither sets nor records its columns. Others conflict over its constant value only by taking
or releasing it. Releasing changes this row: both share its PRIMARY key. Taking follows a release,
with which both are ordered.

Exceptions make a table *partly keyed*: a DELETE without its unique value, an UPDATE without the old
unique value, an INSERT with a default. A row without key is *unkeyed*, and
named by all its columns: replicas search for one that is equal in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from paraply.adapters.binlog.keys.foreign import (
    MOVED,
    NEW,
    PRIMARY,
    ChildTie,
    ParentTie,
    child_ties,
    of_kind,
    parent_ties,
)
from paraply.adapters.binlog.keys.parts import BuiltKey, KeyPlan, NoKey, key_plan, whole_row
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import (
    ABSENT,
    ANY_ROWS,
    DDL_CHARACTERS_MAX,
    RELEASED,
    SEARCHED,
    TAKEN,
    LoggedTransaction,
    Operation,
    RowChange,
    RowImage,
    aspect,
)
from paraply.vocabulary.schema import TableSchema

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


_UNKNOWN = TablePlan((), False, False, False, (), ())


@dataclass(slots=True)
class TransactionKeys:
    """Collects one transaction's keys, row by row."""

    written: dict[ConflictKey, bool] = field(default_factory=dict)
    """Each key's certainty; one certain finding suffices, unless it is ``doubted``."""
    doubted: set[ConflictKey] = field(default_factory=set)
    shared: dict[ConflictKey, bool] = field(default_factory=dict)
    unkeyed: set[str] = field(default_factory=set)
    searched: set[ConflictKey] = field(default_factory=set)
    left: set[ConflictKey] = field(default_factory=set)
    unidentified: set[str] = field(default_factory=set)
    partly_keyed: set[str] = field(default_factory=set)
    locked: set[ConflictKey] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)
    aspects: set[str] = field(default_factory=set)

    def write(self, built: BuiltKey) -> None:
        """Add a taken, released or identifying key."""
        self.written[built.key] = self.written.get(built.key, False) or built.certain

    def share(self, built: BuiltKey) -> None:
        """Add a key required unchanged."""
        self.shared[built.key] = self.shared.get(built.key, False) or built.certain

    def search_for(self, table: str, image: RowImage) -> None:
        """Add a row that is found by all of its columns."""
        self.aspects.add(aspect(table, SEARCHED))
        if not self._take_unkeyed(table, image, self.searched):
            self.reached.add(table)

    def leave(self, table: str, image: RowImage) -> None:
        """Add a new row without a key."""
        # A minimal image omits defaults, so the row may be any that another searches for.
        if not self._take_unkeyed(table, image, self.left):
            self.reached.add(aspect(table, SEARCHED))

    def _take_unkeyed(self, table: str, image: RowImage, rows: set[ConflictKey]) -> bool:
        """Add a row without a key to ``rows``; return whether it is known."""
        self.unkeyed.add(table)
        row = whole_row(table, image)
        if row is None:
            self.unidentified.add(table)
        else:
            rows.add(row)
        return row is not None

    def store(self, txn: LoggedTransaction) -> None:
        """Store the collected keys in the transaction."""
        txn.keys = frozenset(self.written)
        txn.shared_keys = frozenset(self.shared.keys() - self.written.keys())
        uncertain = {key for key, certain in self.written.items() if not certain} | self.doubted
        uncertain |= {key for key in txn.shared_keys if not self.shared[key]}
        txn.uncertain_keys = frozenset(uncertain)
        txn.unkeyed_tables = frozenset(self.unkeyed)
        txn.searched_rows = frozenset(self.searched)
        txn.left_rows = frozenset(self.left)
        txn.unidentified_tables = frozenset(self.unidentified)
        txn.partly_keyed_tables = frozenset(self.partly_keyed)
        txn.locked_keys = frozenset(self.locked - self.written.keys() - self.shared.keys())
        txn.reached_tables = frozenset(self.reached)
        txn.aspects = frozenset(self.aspects)


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

    def is_referenced(self, table: str) -> bool:
        """Return whether known foreign keys reference the table."""
        return bool(self._plan(table).as_parent)

    # Transactions

    def complete_transaction(self, txn: LoggedTransaction) -> None:
        """Set a transaction's keys and apply its schema statements.

        Call once each, in log order. Statements precede rows, as in CREATE TABLE ... SELECT.
        """
        for sql in txn.schema_statements:
            if len(sql) >= DDL_CHARACTERS_MAX:
                sql += _BREAKS_OFF
            self.registry.observe_statement(
                sql, txn.default_schema, where=f"{txn.start.file}:{txn.start.offset}"
            )
        txn.rows = [self._with_defaults(row) for row in txn.rows]
        self.take_rows(txn, txn.rows)
        assert self._open is not None
        self._open[1].unkeyed |= txn.undecoded_tables
        self._open[1].unidentified |= txn.undecoded_tables
        self._open[1].partly_keyed |= txn.undecoded_tables
        if txn.undecoded_tables:
            self._open[1].reached.add(ANY_ROWS)
            self._open[1].aspects.add(ANY_ROWS)
        self._open[1].store(txn)
        self._open = None

    def take_rows(self, txn: LoggedTransaction, rows: Iterable[RowChange]) -> None:
        """Collect keys before the transaction completes (``on_rows``)."""
        if txn.domain is not None:
            self.registry.note_mariadb()
        if self._open is None or self._open[0] != txn.ordinal:
            self._open = (txn.ordinal, TransactionKeys())
        keys = self._open[1]
        for row in rows:
            self._take_row(self._with_defaults(row), keys)

    def _with_defaults(self, row: RowChange) -> RowChange:
        """Fill in the NULLs that a minimal image of an insert omits; text leaves out its end."""
        after = row.after
        if row.before is not None or after is None:
            return row
        plan = self._plan(row.table)
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

    def _take_row(self, row: RowChange, keys: TransactionKeys) -> None:
        plan = self._plan(row.table)
        if not plan.complete:
            keys.partly_keyed.add(row.table)
        keys.aspects.add(ANY_ROWS)
        if not plan.foreign_keys_known:
            keys.reached.add(ANY_ROWS)
        if plan.taken and not plan.complete and row.after is not None:
            keys.aspects.add(plan.taken)
        before, after = row.before, _whole_after(row)
        identifies_before = identifies_after = False
        for place, key in enumerate(plan.keys):
            old, new = _build_both(key, before, after)
            if plan.taken and new is not old and new is not NoKey.NULL:
                keys.aspects.add(plan.taken)
            if _take_key(key, row, old, new, keys) or _may_be_hidden(key, plan.keys[0], row):
                keys.partly_keyed.add(row.table)
            # Where there is a PRIMARY key, it alone identifies a row.
            if not (plan.has_primary and place):
                identifies_before |= isinstance(old, BuiltKey)
                identifies_after |= isinstance(new, BuiltKey)
        if before is not None and not identifies_before:
            keys.search_for(row.table, before)
        if after is not None and not identifies_after:
            keys.leave(row.table, after)
        for child_tie in plan.as_child:
            _take_child_tie(child_tie, row, before, after, keys, has_primary=plan.has_primary)
        for parent_tie in plan.as_parent:
            _take_parent_tie(parent_tie, row, before, after, keys)


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
    return TablePlan(
        keys,
        bool(keys) and keys[0].index == PRIMARY,
        schema.keys_complete,
        schema.foreign_keys_known,
        as_child,
        parent_ties(registry, schema),
        aspect(table, TAKEN) if any(tie.may_be_changed_below for tie in as_child) else "",
        tuple(
            None if column.omitted_is_null and column.nullable else ABSENT
            for column in schema.columns
        ),
    )


def _whole_after(row: RowChange) -> RowImage | None:
    before, after = row.before, row.after
    if before is None or after is None or ABSENT not in after:
        return after
    padded: Sequence[object] = (*before, *(ABSENT for _ in range(len(after) - len(before))))
    return tuple(old if new is ABSENT else new for new, old in zip(after, padded, strict=False))


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
) -> bool:
    for built in (old, new):
        if isinstance(built, BuiltKey):
            keys.write(built)
    if NoKey.INCOMPARABLE in (old, new):
        return True
    if NoKey.ABSENT not in (old, new):
        return False
    # The claim in the module's docstring covers an update that does not set the key.
    is_untouched = (
        row.operation is Operation.UPDATE and row.after is not None and not key.is_set_by(row.after)
    )
    return not is_untouched


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


def _take_child_tie(
    tie: ChildTie,
    row: RowChange,
    before: RowImage | None,
    after: RowImage | None,
    keys: TransactionKeys,
    *,
    has_primary: bool,
) -> None:
    is_found_delete = has_primary and row.operation is Operation.DELETE and tie.keeps_deletes
    if tie.loses_value and before is not None and _may_be_null(tie, before) and not is_found_delete:
        keys.aspects.add(tie.null_aspect)
    if tie.existence is None:
        if _refers(tie, before) or _refers(tie, after):
            keys.reached.add(tie.parent)
        return
    old = tie.existence.build(before) if before is not None else NoKey.NULL
    new = tie.existence.build(after) if after is not None else NoKey.NULL
    # A delete or update finds its row by the primary key, also after SET NULL.
    if is_found_delete and tie.always_keeps:
        return
    is_update = row.operation is Operation.UPDATE
    is_unchanged = is_update and _same(old, new, tie.existence, row)
    is_checked_again = is_unchanged and not row.unchecked and _changes(tie.index_columns, row)
    if is_unchanged and not (tie.may_be_changed_below or is_checked_again):
        return
    is_found = is_found_delete or (is_update and has_primary and tie.keeps_deletes)
    needs_parent = not is_unchanged or tie.may_be_changed_below
    for built, certain, appears in (
        (old, needs_parent and not is_found, False),
        (new, needs_parent, not is_unchanged or is_checked_again),
    ):
        if isinstance(built, BuiltKey):
            checked = _as_checked(built, row, certain=certain)
            keys.share(checked)
            if appears:
                is_sure = not is_unchanged or tie.is_surely_checked_again
                keys.share(_of_kind(NEW, _as_checked(built, row, certain=certain and is_sure)))
            if built is new and tie.may_follow:
                keys.share(_of_kind(MOVED, checked))
        elif built is not NoKey.NULL:
            keys.reached.add(tie.parent)
    if after is not None and not is_unchanged and not row.unchecked and tie.primary is not None:
        primary = tie.primary.build(after)
        if isinstance(primary, BuiltKey):
            keys.locked.add(primary.key)


def _take_parent_tie(
    tie: ParentTie,
    row: RowChange,
    before: RowImage | None,
    after: RowImage | None,
    keys: TransactionKeys,
) -> None:
    old = tie.existence.build(before) if before is not None else NoKey.NULL
    new = tie.existence.build(after) if after is not None else NoKey.NULL
    is_unchanged = row.operation is Operation.UPDATE and _same(old, new, tie.existence, row)
    # Another spelling of an equal value ('a', 'A') cascades all the same.
    if is_unchanged and not _is_respelled(tie.existence, before, after):
        return
    is_followed = row.operation is Operation.UPDATE and tie.is_followed
    for built, appears in ((old, False), (new, not is_unchanged)):
        if isinstance(built, BuiltKey):
            checked = _as_checked(built, row)
            # Where parents may share a value, a new one may also allow the delete of another.
            is_new = appears and tie.is_unique and not is_followed
            keys.write(_of_kind(NEW, checked) if is_new else checked)
            if is_followed:
                keys.doubted.add(built.key)
                keys.write(_of_kind(MOVED, checked))
        elif built is not NoKey.NULL:
            keys.reached |= tie.children
    if row.unchecked:
        return
    if row.operation is not Operation.INSERT:
        cascade = tie.of_delete if row.operation is Operation.DELETE else tie.of_update
        keys.reached |= cascade.reached
        keys.aspects |= {aspect(row.table, RELEASED), *cascade.aspects}


def _is_respelled(plan: KeyPlan, before: RowImage | None, after: RowImage | None) -> bool:
    if before is None or after is None:
        return False
    return any(
        column < len(before)
        and column < len(after)
        and ABSENT not in (before[column], after[column])
        and before[column] != after[column]
        for column in plan.columns
    )


def _as_checked(built: BuiltKey, row: RowChange, *, certain: bool = True) -> BuiltKey:
    """Unchecked changes conflict only with checked ones that look at them: deleted parents at
    children, new children at parents.
    """
    return BuiltKey(built.key, certain and built.certain and not row.unchecked)


def _of_kind(kind: str, built: BuiltKey) -> BuiltKey:
    return BuiltKey(of_kind(kind, built.key), built.certain)


def _changes(columns: Iterable[int], row: RowChange) -> bool:
    """Return whether an update may change one of the columns."""
    before, after = row.before, row.after
    assert before is not None
    assert after is not None
    return any(
        column < len(after)
        and after[column] is not ABSENT
        and (column >= len(before) or after[column] != before[column])
        for column in columns
    )


def _may_be_null(tie: ChildTie, image: RowImage) -> bool:
    return any(column >= len(image) or image[column] in (None, ABSENT) for column in tie.columns)


def _refers(tie: ChildTie, image: RowImage | None) -> bool:
    return image is not None and not any(
        column < len(image) and image[column] is None for column in tie.columns
    )


def _same(old: BuiltKey | NoKey, new: BuiltKey | NoKey, plan: KeyPlan, row: RowChange) -> bool:
    if isinstance(old, BuiltKey) and isinstance(new, BuiltKey):
        # Uncertain equality does not count: the values may differ.
        return old.key == new.key and old.certain and new.certain
    if old is NoKey.NULL and new is NoKey.NULL:
        return True
    return row.after is not None and not plan.is_set_by(row.after)
