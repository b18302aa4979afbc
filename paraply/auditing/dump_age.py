"""When in a log its dump was taken, and so how tables were before and after.

A dump shows its tables at one moment, before, between or after the log's DDL. Each moment is tried:
later definitions follow by the log's ALTERs, earlier ones by undoing them. The log refutes moments:
an ALTER that cannot apply, a table map that does not fit. Where the moments left agree on a
definition it is known. So a dump of today serves a log of last week, unless tables were altered
since the log ended. Who knows the moment may say it: then no other is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from paraply.adapters.binlog.schema.changes import alter, may_result, undone
from paraply.adapters.binlog.schema.ddl import (
    AlterTable,
    ChangeColumn,
    CreateTable,
    DropDatabase,
    DropTables,
    RenameColumn,
    RenameTables,
    RenameTo,
    SchemaStatement,
    Unreadable,
)
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.adapters.binlog.schema.dump import load_schema_file
from paraply.adapters.binlog.schema.lessons import Lesson, Statement
from paraply.adapters.binlog.schema.match import mismatch, same_keys
from paraply.adapters.binlog.schema.registry import SchemaDoubts, SchemaRegistry
from paraply.adapters.binlog.schema.tables import Contradiction, DatedTable, TableDraft
from paraply.vocabulary.schema import TableSchema

ALTERS_MAX = 50
"""Above this many ALTERs of one table its definition counts as unknown."""


class DumpMoment(StrEnum):
    """When a dump was taken, as its giver says."""

    UNKNOWN = ""
    BEGIN = "begin"
    """Where the log begins."""
    END = "end"
    """Where the log ends, or later if no table was altered in between."""

    def doubted(self, doubts: SchemaDoubts) -> set[str]:
        """Return tables whose dump does not show them as they were where the log begins."""
        if self is DumpMoment.END:
            return doubts.changed | doubts.wrong
        # A log in which nothing contradicts the giver leaves no other moment.
        return set() if self is DumpMoment.BEGIN and not doubts.newer else doubts.distrusted


@dataclass(slots=True)
class _Past:
    """What the log shows of one dumped table."""

    alters: list[tuple[int, AlterTable]] = field(default_factory=list)
    """With the number of schema statements up to each."""
    maps: list[list[TableSchema]] = field(default_factory=lambda: [[]])
    """Table maps between the ALTERs."""
    is_beyond: bool = False
    """Created, dropped, renamed, or changed in ways that are not understood."""


_Run = list[TableDraft | None]


def date_tables(
    schema: str,
    lessons: Sequence[Lesson],
    names: Iterable[str],
    moment: DumpMoment = DumpMoment.UNKNOWN,
) -> tuple[DatedTable, ...]:
    """Return the definitions by time of a dump's tables ``names``.

    ``lessons`` are the log's table maps and schema statements in order. A dump of the beginning
    that the log contradicts is of any other moment. Raises ``ParaplyError`` as
    :func:`load_schema_file`.
    """
    dump = SchemaRegistry()
    load_schema_file(dump, schema)
    pasts, moments = _pasts(dump, lessons)
    # One moment for all tables: what one of them refutes is refuted for the others.
    possible = {moments} if moment is DumpMoment.END else set(range(moments + 1))
    runs: dict[str, dict[int, _Run]] = {}
    for name, past in pasts.items():
        draft = dump.draft(name)
        if draft is None or not draft.keys_known or past.is_beyond:
            continue
        if len(past.alters) > ALTERS_MAX:
            continue
        runs[name] = {}
        allowed = set()
        for before in range(len(past.alters) + 1):
            run = _run(draft, past, before)
            if run is not None:
                runs[name][before] = run
                allowed |= _moments(past, before, moments)
        possible &= allowed
    found = []
    for name in sorted(names):
        left = [
            run
            for before, run in runs.get(name, {}).items()
            if _moments(pasts[name], before, moments) & possible
        ]
        found.append(DatedTable(name, _agreed(left)) if left else DatedTable(name))
    return tuple(found)


def _moments(past: _Past, before: int, moments: int) -> set[int]:
    """Return the moments after ``before`` ALTERs of a table and before the next."""
    first = past.alters[before - 1][0] if before else 0
    last = past.alters[before][0] - 1 if before < len(past.alters) else moments
    return set(range(first, last + 1))


def _run(dumped: TableDraft, past: _Past, before: int) -> _Run | None:
    """Return the definitions if the dump was taken after ``before`` ALTERs, None if refuted."""
    run: _Run = [None] * (len(past.alters) + 1)
    run[before] = dumped
    try:
        for number in range(before, len(past.alters)):
            draft = run[number]
            assert draft is not None
            run[number + 1] = draft = draft.copy()
            alter(draft, past.alters[number][1], draft.schema)
        for number in range(before - 1, -1, -1):
            later = run[number + 1]
            if later is dumped and not may_result(dumped, past.alters[number][1]):
                return None  # Earlier definitions are known in part only.
            run[number] = None if later is None else undone(later, past.alters[number][1])
    except Contradiction:
        return None
    for draft, maps in zip(run, past.maps, strict=True):
        if draft is not None and any(mismatch(draft.freeze(), each) for each in maps):
            return None
    return run


def _agreed(runs: Sequence[_Run]) -> tuple[TableDraft | None, ...]:
    states = []
    for choices in zip(*runs, strict=True):
        drafts = [draft for draft in choices if draft is not None]
        agree = len(drafts) == len(choices) and all(same_keys(drafts[0], one) for one in drafts)
        states.append(_with_common_defaults(drafts) if agree else None)
    return tuple(states)


def _with_common_defaults(drafts: Sequence[TableDraft]) -> TableDraft:
    """Return the first of drafts with the same keys, with the defaults that all of them have."""
    found = drafts[0].copy()
    for column, *others in zip(found.columns, *(each.columns for each in drafts[1:]), strict=True):
        default = (column.column.omitted_is_null, column.column.omitted_value)
        if any((o.column.omitted_is_null, o.column.omitted_value) != default for o in others):
            column.column = replace(column.column, omitted_is_null=False, omitted_value=None)
    return found


def _pasts(dump: SchemaRegistry, lessons: Sequence[Lesson]) -> tuple[dict[str, _Past], int]:
    pasts = {table.name: _Past() for table in dump.tables()}
    moment = 0
    for lesson in lessons:
        if isinstance(lesson, TableSchema):
            past = pasts.get(dump.known_name(lesson.name))
            if past is not None:
                past.maps[-1].append(lesson)
            continue
        moment += 1
        statement = parse_statement(lesson.sql)
        if isinstance(statement, AlterTable):
            _note_alter(dump, pasts, statement, lesson, moment)
        for name in _beyond(statement, lesson, pasts):
            past = pasts.get(dump.known_name(name))
            if past is not None:
                past.is_beyond = True
    return pasts, moment


def _note_alter(
    dump: SchemaRegistry, pasts: dict[str, _Past], statement: AlterTable, lesson: Statement,
    moment: int,
) -> None:  # fmt: skip
    name = dump.known_name(statement.table.within(lesson.default_schema))
    past = pasts.get(name)
    if past is not None:
        past.alters.append((moment, statement))
        past.maps.append([])
    renames = any(
        isinstance(action, RenameColumn)
        or (isinstance(action, ChangeColumn) and action.old_name != action.column.name)
        for action in statement.actions
    )
    for child, _ in dump.referencing(name) if renames else ():
        # Its foreign key names the column.
        pasts[child].is_beyond = True


def _beyond(
    statement: SchemaStatement, lesson: Statement, pasts: dict[str, _Past]
) -> Iterable[str]:
    """Return tables that a statement creates, drops, renames or leaves unclear."""
    default = lesson.default_schema
    if isinstance(statement, CreateTable):
        name = statement.table.within(default)
        past = pasts.get(name)
        # With rows before, IF NOT EXISTS met the table.
        was_there = past is not None and any(past.maps)
        return () if statement.if_not_exists and was_there else (name,)
    if isinstance(statement, AlterTable):
        new = [a.table.within(default) for a in statement.actions if isinstance(a, RenameTo)]
        return (*new, statement.table.within(default)) if new else ()
    if isinstance(statement, RenameTables):
        return [each.within(default) for pair in statement.pairs for each in pair]
    if isinstance(statement, DropTables):
        return [table.within(default) for table in statement.tables]
    if isinstance(statement, DropDatabase):
        return [name for name in pasts if name.partition(".")[0] == statement.name]
    if isinstance(statement, Unreadable):
        return [table.within(default) for table in statement.tables] or list(pasts)
    return ()
