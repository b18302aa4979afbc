"""The tables' keys, foreign keys, and columns after DDL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache

from paraply.adapters.binlog.keys.builder import KeyBuilder, TablePlan, plan_of
from paraply.adapters.binlog.keys.parts import BuiltKey
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.errors import ParaplyError, register
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, LogPosition, RowChange, RowImage
from paraply.vocabulary.schema import ForeignKey, SchemaSource, TableSchema
from paraply.vocabulary.transactions import RowWrite

UNREADABLE_CASE_SCHEMA = register(
    "P220",
    "the schema statement was not understood: {statement}",
    "write one CREATE TABLE, ALTER TABLE, DROP TABLE or RENAME TABLE with the schema's name",
)

NOWHERE = LogPosition(file="", offset=0)


def row_changes(rows: Iterable[RowWrite], position: LogPosition) -> list[RowChange]:
    """Return the rows of a transaction as those of a log."""
    return [
        RowChange(
            table=row.table,
            operation=row.operation,
            before=row.before,
            after=row.after,
            position=position,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class RowKeysOf:
    """The keys of one row image.

    Attributes:
        unique: PRIMARY first, without keys that have NULL.
        parents: existence keys of required parents.
        existence: keys that children reference.
    """

    unique: tuple[ConflictKey, ...]
    parents: tuple[ConflictKey, ...]
    existence: tuple[ConflictKey, ...]


class Tables:
    """The schema of one database."""

    def __init__(self, statements: tuple[str, ...] = ()) -> None:
        self.registry = SchemaRegistry()
        self._builder = KeyBuilder(self.registry)
        self._plans: dict[str, TablePlan] = {}
        self._after: dict[str, Tables] = {}
        self._known: dict[tuple[str, RowImage], RowKeysOf] = {}
        self._version = -1
        for statement in statements:
            self.execute(statement)

    def execute(self, statement: str) -> None:
        """Execute a DDL statement; ``ParaplyError`` P220 without effect."""
        before = self.registry.version
        self.registry.observe_statement(statement, source=SchemaSource.DUMP)
        if self.registry.version == before:
            raise ParaplyError(UNREADABLE_CASE_SCHEMA, statement=statement)

    def after(self, statement: str) -> Tables:
        """Return the tables after DDL; P220 without effect."""
        known = self._after.get(statement)
        if known is None:
            known = Tables()
            known.registry = deepcopy(self.registry)
            known._builder = KeyBuilder(known.registry)
            known.execute(statement)
            self._after[statement] = known
        return known

    def schema(self, table: str) -> TableSchema | None:
        """Return a table by ``schema.table``."""
        return self.registry.table(table)

    @property
    def schemas(self) -> tuple[TableSchema, ...]:
        """Return all tables, by name."""
        return tuple(sorted(self.registry.tables(), key=lambda table: table.name))

    def keys(self, table: str, image: RowImage) -> RowKeysOf:
        """Return the keys of a row."""
        try:
            known = self._known.get((table, image))
        except TypeError:  # A value that the applier composed cannot be hashed.
            return self._build_keys(table, image)
        if known is None or self._version != self.registry.version:
            known = self._build_keys(table, image)
            self._known[table, image] = known
        return known

    def _build_keys(self, table: str, image: RowImage) -> RowKeysOf:
        plan = self._plan(table)
        return RowKeysOf(
            unique=tuple(_built(key.build(image) for key in plan.keys)),
            parents=tuple(
                _built(tie.existence.build(image) for tie in plan.as_child if tie.existence)
            ),
            existence=tuple(_built(tie.existence.build(image) for tie in plan.as_parent)),
        )

    def has_unique_key(self, table: str) -> bool:
        """Return whether keys identify rows."""
        return bool(self._plan(table).keys)

    def references_to(self, table: str) -> tuple[tuple[str, ForeignKey], ...]:
        """Return referencing tables with foreign keys."""
        return self.registry.referencing(table)

    def keyed(self, rows: tuple[RowWrite, ...]) -> LoggedTransaction:
        """Return row changes with conflict keys."""
        logged = LoggedTransaction(
            ordinal=1,
            kind=LoggedKind.ROWS,
            start=NOWHERE,
            end_offset=0,
            rows=row_changes(rows, NOWHERE),
        )
        self._builder.complete_transaction(logged)
        return logged

    def _plan(self, table: str) -> TablePlan:
        if self._version != self.registry.version:
            self._plans.clear()
            self._known.clear()
            self._after.clear()
            self._version = self.registry.version
        if table not in self._plans:
            self._plans[table] = plan_of(self.registry, table)
        return self._plans[table]


@lru_cache(maxsize=512)
def tables_of(statements: tuple[str, ...]) -> Tables:
    """Return shared tables: change them by ``after`` only."""
    return Tables(statements)


def _built(keys: Iterator[object]) -> Iterator[ConflictKey]:
    return (key.key for key in keys if isinstance(key, BuiltKey))
