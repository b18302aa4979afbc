"""CREATE TABLE and ALTER TABLE applied to a draft."""

from __future__ import annotations

from collections.abc import Sequence
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
    ChangeDefault,
    CharacterOptions,
    CreateTable,
    DropColumn,
    DropForeignKey,
    DropKey,
    RenameColumn,
    RenameKey,
    RenameTo,
)
from paraply.adapters.binlog.schema.match import family, same_definition
from paraply.adapters.binlog.schema.tables import (
    ColumnDraft,
    Contradiction,
    KeyDraft,
    TableDraft,
)
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
    *,
    is_mariadb: bool,
) -> TableDraft:
    """Return a new table's draft; incomplete definitions have no keys."""
    charset, collation = settled_collation(statement.options, database)
    draft = TableDraft(
        name=name,
        options=CharacterOptions(charset=charset, collation=collation),
        sources={source},
        is_mariadb=is_mariadb,
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
        if not statement.columns:
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
        for column in statement.columns:
            draft.add_implied_keys(column)
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
    defaults = [
        (action, draft.find(action.name))
        for action in statement.actions
        if isinstance(action, ChangeDefault)
    ]
    additions = [
        action
        for action in statement.actions
        if isinstance(action, AddColumn)
        and not (action.if_not_exists and draft.find(action.column.name))
    ]
    # MariaDB's IF [NOT] EXISTS asks for the keys of a definition on their own.
    present = {key.name.lower() for key in draft.keys}
    renamed: dict[str, str] = {}
    added = {action.column.name.lower() for action in additions}
    replaced: dict[str, ColumnDraft] = {}
    for action in statement.actions:
        if isinstance(action, DropColumn) and action.name.lower() in added:
            if draft.find(action.name) or not action.if_exists:
                replaced[action.name.lower()] = draft.replace_column(action.name)
        else:
            _drop(draft, action)
    options = [a for a in statement.actions if isinstance(a, ChangeCharacterOptions)]
    if len({action.convert for action in options}) == 2:
        raise Contradiction("it has both CONVERT TO and other character options")
    if any(action.convert for action in options) and any(
        action.column.binary_collation
        for action in statement.actions
        if isinstance(action, AddColumn | ChangeColumn)
    ):
        raise Contradiction("it has both CONVERT TO and a BINARY column")
    for action in options:
        charset, collation = settled_collation(action.options, draft.options)
        draft.options = CharacterOptions(charset=charset, collation=collation)
    targets: dict[int, ColumnDraft] = {}
    for change, target in named:
        if target is None or target not in draft.columns:
            if target is None and isinstance(change, ChangeColumn) and change.if_exists:
                continue
            raise Contradiction(f"there is no column {change.old_name}")
        if target in targets.values():
            raise Contradiction(f"column {change.old_name} is changed twice")
        targets[id(change)] = target
        if isinstance(change, RenameColumn):
            target.column = replace(target.column, name=change.new_name)
        else:
            draft.redefine(target, change.column)
        if target.column.name != change.old_name:
            renamed[change.old_name] = target.column.name
    names = [each.column.name.lower() for each in draft.columns]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Contradiction(f"there is a column {twice} already")
    for action in statement.actions:
        if isinstance(action, AddColumn) and action in additions:
            old = replaced.get(action.column.name.lower())
            draft.add_column(action.column, action.after, old)
        elif isinstance(action, ChangeColumn):
            moved = targets.get(id(action))
            if moved is not None and action.after is not None:
                draft.place(moved, action.after)
    for default, target in defaults:
        found = target if target in draft.columns else draft.find(default.name)
        if found is not None:
            found.column = _with_default(found.column, default)
        elif not default.if_exists:
            raise Contradiction(f"there is no column {default.name}")
    for old_name, name in renamed.items():
        if old_name.lower() in added:
            draft.doubt_keys(draft.require(name), behind=draft.find(old_name))
    if any(action.convert for action in options):
        draft.convert()
    new_name: str | None = None
    known = len(draft.keys)
    for action in statement.actions:
        if isinstance(action, RenameTo):
            new_name = action.table.within(default_schema)
        elif isinstance(action, AddColumn):
            draft.add_implied_keys(action.column, present if action.if_not_exists else ())
        elif isinstance(action, ChangeColumn):
            draft.add_implied_keys(action.column, present if action.if_exists else ())
        else:
            _add(draft, action)
        present |= {key.name.lower() for key in draft.keys[known:]}
    if new_name is not None and any(
        isinstance(action, AddForeignKey)
        and action.foreign_key.parent.within(draft.schema) == draft.name
        for action in statement.actions
    ):
        raise Contradiction("a new foreign key names the table as it was called before")
    return renamed, new_name


def _with_default(column: Column, change: ChangeDefault) -> Column:
    return replace(column, omitted_is_null=change.is_null, omitted_value=change.value)


def undone(draft: TableDraft, statement: AlterTable) -> TableDraft | None:
    """Return the table before an ALTER that made it ``draft``, None where that is unknown.

    What ALTER took away or replaced is unknown, except the type of a column outside of all keys.
    Raises ``Contradiction`` if ``draft`` lacks what it adds or names.
    """
    before = draft.copy()
    for action in reversed(_in_order(statement.actions)):
        if not _undo(before, action):
            return None
    if not any(key.is_unique for key in before.keys) and not all(
        each.column.type_name for each in before.columns
    ):
        return None  # Without a key, all columns together name a row.
    again = before.copy()
    try:
        alter(again, statement, draft.schema)
    except Contradiction:
        return None
    return before if same_definition(again, draft) else None


def may_result(draft: TableDraft, statement: AlterTable) -> bool:
    """Return whether an ALTER may have made ``draft``: done once more, it would change nothing.

    What servers may do in more than one way does not tell.
    """
    actions = statement.actions
    again = draft.copy()
    if not all(_is_done(again, action, actions) for action in _in_order(actions)):
        return False
    if any(isinstance(one, ChangeCharacterOptions) and one.convert for one in actions):
        again.convert()
    return same_definition(again, draft)


def _in_order(actions: Sequence[AlterAction]) -> list[AlterAction]:
    """Return the actions with defaults last: MariaDB sets those of added columns, too."""
    return sorted(actions, key=lambda action: isinstance(action, ChangeDefault))


def _is_done(draft: TableDraft, action: AlterAction, actions: Sequence[AlterAction]) -> bool:
    """Return whether a draft may be one after ``action``; do again what can be done twice."""
    given = {a.column.name.lower() for a in actions if isinstance(a, AddColumn | ChangeColumn)}
    given |= {a.new_name.lower() for a in actions if isinstance(a, RenameColumn)}
    renames = any(
        isinstance(a, RenameColumn | RenameKey)
        or (isinstance(a, ChangeColumn) and a.old_name != a.column.name)
        for a in actions
    )
    if isinstance(action, AddColumn | ChangeColumn):
        column = draft.find(action.column.name)
        if column is None or (isinstance(action, AddColumn) and action.if_not_exists):
            return column is not None or (isinstance(action, ChangeColumn) and action.if_exists)
        old = column.column
        draft.redefine(column, action.column)
        column.column = _as_told(old, column.column)
        is_placed = isinstance(action, AddColumn) or action.after is not None
        others = sum(
            isinstance(a, AddColumn) or (isinstance(a, ChangeColumn) and a.after is not None)
            for a in actions
        )
        if is_placed and others == 1 and not renames:
            if action.after and draft.find(action.after) is None:
                return False
            draft.place(column, action.after)
        return True
    if isinstance(action, DropColumn):
        return action.name.lower() in given or draft.find(action.name) is None
    if isinstance(action, RenameColumn):
        return draft.find(action.new_name) is not None
    if isinstance(action, ChangeDefault):
        found = None if renames else draft.find(action.name)
        if found is not None:
            found.column = _with_default(found.column, action)
        return True
    adds_keys = any(isinstance(a, AddKey | AddColumn | ChangeColumn | RenameKey) for a in actions)
    if isinstance(action, AddKey):
        return renames or _has_key(draft, action)
    if isinstance(action, DropKey):
        return adds_keys or draft.key(action.name) is None
    if isinstance(action, RenameKey):
        return draft.key(action.new_name) is not None
    if isinstance(action, ChangeCharacterOptions):
        charset, collation = settled_collation(action.options, draft.options)
        kept = draft.options.collation
        draft.options = CharacterOptions(charset=charset, collation=collation)
        return not kept or collation in ("", kept)
    if isinstance(action, RenameTo):
        return action.table.within(draft.schema).lower() == draft.name.lower()
    return True


def _as_told(old: Column, new: Column) -> Column:
    """Return a column defined anew, without what servers may have chosen for it."""
    new = replace(new, name=old.name)
    if not old.collation or not new.collation:
        new = replace(new, charset=old.charset, collation=old.collation)
    if new.type_name == "timestamp":  # explicit_defaults_for_timestamp
        new = replace(new, nullable=old.nullable, omitted_is_null=old.omitted_is_null)
    if family(new.type_name) == family(old.type_name) == "blob":  # TEXT(100) is TINYTEXT.
        new = replace(new, type_name=old.type_name)
    return new


def _has_key(draft: TableDraft, action: AddKey) -> bool:
    key = action.key
    if key.beyond or not (key.is_unique or key.is_primary):
        return True
    if key.name and (action.if_not_exists or action.or_replace):
        return draft.key(key.name) is not None
    names = [name.lower() for name, _ in key.parts]
    return any(
        each.is_unique
        and (not key.name or each.name.lower() == key.name.lower())
        and [part.column.name.lower() for part, _ in each.parts] == names
        for each in draft.keys
    )


def _undo(draft: TableDraft, action: AlterAction) -> bool:
    if isinstance(action, AddColumn):
        added = draft.require(action.column.name)
        is_own = action.column.is_primary or action.column.is_unique or action.column.references
        if action.if_not_exists or is_own or _is_key_part(draft, added):
            return False
        draft.columns.remove(added)
        return True
    if isinstance(action, AddKey):
        # Columns of a primary key are NOT NULL; before, they may have been NULL.
        if action.if_not_exists or action.or_replace or action.key.is_primary or action.key.beyond:
            return False
        key = draft.key(action.key.name) if action.key.name else _unnamed(draft, action)
        if key is None:
            raise Contradiction(f"there is no key {action.key.name}")
        draft.keys.remove(key)
        return True
    if isinstance(action, RenameColumn):
        column = draft.require(action.new_name)
        column.column = replace(column.column, name=action.old_name)
        return True
    if isinstance(action, ChangeDefault):
        if action.if_exists and draft.find(action.name) is None:
            return True
        column = draft.require(action.name)
        column.column = replace(column.column, omitted_is_null=False, omitted_value=None)
        return True
    if isinstance(action, ChangeColumn):
        column = draft.require(action.column.name)
        is_plain = action.after is None and not action.if_exists
        is_own = action.column.is_primary or action.column.is_unique or action.column.references
        if not is_plain or is_own or _is_key_part(draft, column, unique_only=True):
            return False
        column.column = Column(name=action.old_name, type_name="")
        return True
    if isinstance(action, RenameKey):
        key = draft.key(action.new_name)
        if key is None:
            raise Contradiction(f"there is no key {action.new_name}")
        key.name = action.old_name
        return True
    if isinstance(action, ChangeCharacterOptions):
        draft.options = CharacterOptions()
        return not action.convert
    return False


def _unnamed(draft: TableDraft, action: AddKey) -> KeyDraft | None:
    """Return the newest key with the parts of one that was added without a name."""
    parts = [(name.lower(), prefix) for name, prefix in action.key.parts]
    return next(
        (
            key
            for key in reversed(draft.keys)
            if key.is_unique == action.key.is_unique
            and [(part.column.name.lower(), prefix) for part, prefix in key.parts] == parts
        ),
        None,
    )


def _is_key_part(draft: TableDraft, column: ColumnDraft, *, unique_only: bool = False) -> bool:
    keys = [key for key in draft.keys if key.is_unique or not unique_only]
    in_keys = any(part is column for key in keys for part, _ in key.parts)
    return in_keys or any(column in key.columns for key in draft.foreign_keys)


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
