"""CREATE TABLE and ALTER TABLE applied to a draft."""

from __future__ import annotations

from dataclasses import replace

from paraply.adapters.binlog.keys.collation_names import settled_collation
from paraply.adapters.binlog.schema.ddl import (
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterAction,
    AlterTable,
    ChangeCharacterOptions,
    ChangeColumn,
    CharacterOptions,
    CreateTable,
    DropColumn,
    DropForeignKey,
    DropKey,
    RenameColumn,
    RenameKey,
    RenameTo,
)
from paraply.adapters.binlog.schema.tables import ColumnDraft, Contradiction, KeyDraft, TableDraft
from paraply.vocabulary.schema import Column, SchemaSource

_SEQUENCE_COLUMNS = (
    "next_not_cached_value", "minimum_value", "maximum_value", "start_value", "increment",
    "cache_size", "cycle_option", "cycle_count",
)  # fmt: skip


def created(
    statement: CreateTable,
    name: str,
    database: CharacterOptions,
    like: TableDraft | None,
    source: SchemaSource,
    place: str,
) -> TableDraft:
    """Return a new table's draft; incomplete definitions have no keys."""
    charset, collation = settled_collation(statement.options, database)
    draft = TableDraft(
        name=name,
        options=CharacterOptions(charset=charset, collation=collation),
        sources={source},
    )
    if statement.like is not None:
        if like is None or not like.keys_complete:
            draft.foreign_keys_known = True
            draft.unknown_because = f"it was created{place} like a table that is not known"
            return draft
        draft = like.copy()
        draft.name, draft.foreign_keys = name, []
        draft.sources.add(source)
        return draft
    if statement.from_query:
        draft.foreign_keys_known = not statement.foreign_keys
        draft.unknown_because = f"its columns came from a query{place}"
        return draft
    if statement.is_sequence:
        draft.columns = [
            ColumnDraft(Column(name=column, type_name="bigint", nullable=False))
            for column in _SEQUENCE_COLUMNS
        ]
        draft.columns[6].column = Column(name=_SEQUENCE_COLUMNS[6], type_name="tinyint")
        # A sequence has one row: the key without parts, which every change of it shares.
        draft.keys = [KeyDraft("SEQUENCE", [], is_unique=True)]
    try:
        for column in statement.columns:
            draft.add_column(column)
        for key in statement.keys:
            draft.add_key(key)
        for foreign_key in statement.foreign_keys:
            draft.add_foreign_key(foreign_key)
    except Contradiction as contradiction:
        return TableDraft(
            name=name,
            sources={source},
            unknown_because=f"CREATE TABLE{place} was not understood: {contradiction}",
        )
    draft.foreign_keys_known = True
    if statement.versioned:
        draft.is_versioned, draft.keys = True, []
        draft.unknown_because = "it is system-versioned: the server adds columns to its keys"
        return draft
    draft.keys_known = draft.keys_complete = True
    return draft


def alter(
    draft: TableDraft, statement: AlterTable, default_schema: str
) -> tuple[dict[str, str], str | None]:
    """Apply all actions; return renamed columns (old to new) and new table name.

    Old names mean the old table: columns may swap names. A key follows a renamed column and stays
    on a column dropped and added (MariaDB 10.11, MySQL 9.7). Raises ``Contradiction`` with the
    draft half changed.
    """
    named = [
        (action, draft.find(action.old_name))
        for action in statement.actions
        if isinstance(action, ChangeColumn | RenameColumn)
    ]
    renamed: dict[str, str] = {}
    added = {a.column.name.lower() for a in statement.actions if isinstance(a, AddColumn)}
    replaced: dict[str, ColumnDraft] = {}
    for action in statement.actions:
        if isinstance(action, DropColumn) and action.name.lower() in added:
            if draft.find(action.name) or not action.if_exists:
                replaced[action.name.lower()] = draft.replace_column(action.name)
        else:
            _drop(draft, action)
    targets: dict[int, ColumnDraft] = {}
    for change, target in named:
        if target is None or target not in draft.columns:
            if isinstance(change, ChangeColumn) and change.if_exists:
                continue
            raise Contradiction(f"there is no column {change.old_name}")
        targets[id(change)] = target
        if isinstance(change, RenameColumn):
            target.column = replace(target.column, name=change.new_name)
        else:
            target.column = draft.column_of(change.column)
        if target.column.name != change.old_name:
            renamed[change.old_name] = target.column.name
    for action in statement.actions:
        if isinstance(action, AddColumn):
            if not (action.if_not_exists and draft.find(action.column.name)):
                old = replaced.get(action.column.name.lower())
                draft.add_column(action.column, action.after, old)
        elif isinstance(action, ChangeColumn) and id(action) in targets:
            if action.after is not None:
                draft.place(targets[id(action)], action.after)
            draft.add_implied_keys(action.column)
    new_name: str | None = None
    for action in statement.actions:
        if isinstance(action, RenameTo):
            new_name = action.table.within(default_schema)
        else:
            _add(draft, action)
    return renamed, new_name


def _drop(draft: TableDraft, action: AlterAction) -> None:
    if isinstance(action, DropColumn):
        if draft.find(action.name) or not action.if_exists:
            draft.drop_column(action.name)
    elif isinstance(action, DropKey):
        found = draft.drop_key(action.name)
        if not found and action.may_be_other:
            # DROP CONSTRAINT of a foreign key, or of a check, which is not kept here.
            draft.drop_foreign_key(action.name)
        elif not found and not action.if_exists:
            raise Contradiction(f"there is no key {action.name}")
    elif isinstance(action, DropForeignKey):
        draft.drop_foreign_key(action.name)
    elif isinstance(action, AddKey) and action.or_replace:
        draft.drop_key(action.key.name)


def _add(draft: TableDraft, action: AlterAction) -> None:
    if isinstance(action, AddKey):
        if not (action.if_not_exists and draft.key(action.key.name)):
            draft.add_key(action.key)
    elif isinstance(action, RenameKey):
        key = draft.key(action.old_name)
        if key is None:
            raise Contradiction(f"there is no key {action.old_name}")
        key.name = action.new_name
    elif isinstance(action, AddForeignKey):
        draft.add_foreign_key(action.foreign_key)
    elif isinstance(action, ChangeCharacterOptions):
        if action.convert:
            draft.convert(action.options)
        else:
            charset, collation = settled_collation(action.options, draft.options)
            draft.options = CharacterOptions(charset=charset, collation=collation)
