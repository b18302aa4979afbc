"""Table definitions carried from one part of a log to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from paraply.adapters.binlog.schema.ddl import SchemaStatement
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.schema.tables import DatedTable
from paraply.vocabulary.schema import SchemaSource, TableSchema

R = TypeVar("R", bound=SchemaRegistry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A schema statement of the log."""

    sql: str
    default_schema: str
    where: str


Lesson = TableSchema | Statement
"""A table map's metadata or a statement."""


class AttentiveRegistry(SchemaRegistry):
    """Notes what the log teaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.lessons: list[Lesson] = []

    def _learn(self, metadata: TableSchema) -> None:
        super()._learn(metadata)
        self.lessons.append(metadata)

    def observe_statement(
        self,
        sql: str,
        default_schema: str = "",
        *,
        where: str = "",
        source: SchemaSource = SchemaSource.LOGGED_DDL,
    ) -> SchemaStatement:
        """Apply a statement, and note it if it is logged."""
        if source is SchemaSource.LOGGED_DDL:
            self.lessons.append(Statement(sql=sql, default_schema=default_schema, where=where))
        return super().observe_statement(sql, default_schema, where=where, source=source)

    def take_lessons(self) -> list[Lesson]:
        """Return and forget the lessons so far."""
        taken, self.lessons = self.lessons, []
        return taken


def with_dump(registry: R, schema: str | None, distrusted: tuple[DatedTable, ...]) -> R:
    """Load the dump, if any, into the registry and return it."""
    if schema is not None:
        load_schema_file(registry, schema, distrusted)
    return registry


def taught(
    lessons: Iterable[Lesson], schema: str | None, distrusted: tuple[DatedTable, ...]
) -> AttentiveRegistry:
    """Return a registry with dump and lessons."""
    registry = with_dump(AttentiveRegistry(), schema, distrusted)
    for lesson in lessons:
        if isinstance(lesson, Statement):
            registry.observe_statement(lesson.sql, lesson.default_schema, where=lesson.where)
        else:
            registry.observe_table_map(lesson)
    registry.take_lessons()
    return registry


def condensed(lessons: Sequence[Sequence[Lesson]], schema: str | None) -> tuple[Lesson, ...]:
    """Return the fewest equivalent lessons; none if the approach suffices.

    Earlier table maps matter only against a definition or for another table's foreign key.
    """
    found: list[Lesson] = []
    last: dict[str, TableSchema] = {}
    matters = schema is not None
    for lesson in (each for block in lessons for each in block):
        if isinstance(lesson, Statement):
            matters = True
            last.clear()
        else:
            if last.get(lesson.name) == lesson:
                continue
            last[lesson.name] = lesson
            matters |= bool(lesson.foreign_keys)
        found.append(lesson)
    return tuple(found) if matters else ()
