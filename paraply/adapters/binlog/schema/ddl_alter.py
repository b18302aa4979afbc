"""The actions of ALTER TABLE.

The parser skips known harmless options and refuses others.
"""

from __future__ import annotations

from paraply.adapters.binlog.schema.ddl import (
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterAction,
    ChangeCharacterOptions,
    ChangeColumn,
    ChangeDefault,
    CharacterOptions,
    DropColumn,
    DropForeignKey,
    DropKey,
    RenameColumn,
    RenameKey,
    RenameTo,
)
from paraply.adapters.binlog.schema.ddl_elements import (
    character_option,
    charset_clause,
    collate_clause,
    column_definition,
    default_clause,
    foreign_key_definition,
    key_definition,
    merged,
    table_name,
)
from paraply.adapters.binlog.schema.sql_tokens import TokenCursor

_PARTITION_VERBS = (
    "ANALYZE", "CHECK", "COALESCE", "DISCARD", "EXCHANGE", "IMPORT", "OPTIMIZE", "PARTITION",
    "REBUILD", "REMOVE", "REORGANIZE", "REPAIR", "TRUNCATE", "CONVERT",
)  # fmt: skip
_OPTIONS = (
    "ALGORITHM", "LOCK", "FORCE", "ENABLE", "DISABLE", "WITH", "WITHOUT", "ORDER", "ENGINE",
    "TYPE", "AUTO_INCREMENT", "AVG_ROW_LENGTH", "CHECKSUM", "COMMENT", "COMPRESSION",
    "CONNECTION", "DATA", "INDEX", "DELAY_KEY_WRITE", "ENCRYPTION", "ENCRYPTED",
    "ENCRYPTION_KEY_ID", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE", "INSERT_METHOD",
    "KEY_BLOCK_SIZE", "MAX_ROWS", "MIN_ROWS", "PACK_KEYS", "PAGE_CHECKSUM", "PAGE_COMPRESSED",
    "PAGE_COMPRESSION_LEVEL", "PASSWORD", "ROW_FORMAT", "SECONDARY_ENGINE", "SECONDARY_LOAD",
    "SECONDARY_UNLOAD", "STATS_AUTO_RECALC", "STATS_PERSISTENT", "STATS_SAMPLE_PAGES",
    "TABLESPACE", "TABLE_CHECKSUM", "TRANSACTIONAL", "UNION", "AUTOEXTEND_SIZE", "START",
    "IETF_QUOTES", "SEQUENCE",
)  # fmt: skip


def alter_actions(cursor: TokenCursor) -> tuple[AlterAction, ...]:
    """Read all actions of the statement."""
    actions: list[AlterAction] = []
    while not cursor.at_end():
        if cursor.accept_symbol(","):
            continue
        if _skip_partitioning(cursor):
            break
        actions += _action(cursor)
    return tuple(actions)


def _skip_partitioning(cursor: TokenCursor) -> bool:
    if not cursor.is_word(*_PARTITION_VERBS) or (
        cursor.is_word("CONVERT") and not cursor.is_word("PARTITION", "TABLE", ahead=1)
    ):
        return False
    while not cursor.at_end():
        cursor.take()
    return True


def _action(cursor: TokenCursor) -> list[AlterAction]:
    if cursor.accept("ADD"):
        return _add(cursor)
    if cursor.accept("DROP"):
        return _drop(cursor)
    if cursor.accept("CHANGE"):
        cursor.accept("COLUMN")
        if_exists = cursor.accept("IF", "EXISTS")
        return [_changed_column(cursor, cursor.name(), cursor.name(), if_exists=if_exists)]
    if cursor.accept("MODIFY"):
        cursor.accept("COLUMN")
        if_exists = cursor.accept("IF", "EXISTS")
        name = cursor.name()
        return [_changed_column(cursor, name, name, if_exists=if_exists)]
    if cursor.accept("RENAME"):
        return _rename(cursor)
    if cursor.accept("ALTER"):
        return _changed_default(cursor)
    if cursor.accept("CONVERT", "TO"):
        options = CharacterOptions(charset=charset_clause(cursor))
        options = merged(options, CharacterOptions(collation=collate_clause(cursor)))
        return [ChangeCharacterOptions(options=options, convert=True)]
    if found := character_option(cursor):
        return [ChangeCharacterOptions(options=found)]
    return _skip_option(cursor)


def _changed_default(cursor: TokenCursor) -> list[AlterAction]:
    found: list[AlterAction] = []
    if not cursor.accept_any("INDEX", "KEY", "CHECK", "CONSTRAINT"):
        cursor.accept("COLUMN")
        if_exists = cursor.accept("IF", "EXISTS")
        name = cursor.name()
        if cursor.accept("SET", "DEFAULT"):
            is_null, value = default_clause(cursor)
            found.append(
                ChangeDefault(name=name, is_null=is_null, value=value, if_exists=if_exists)
            )
        elif cursor.accept("DROP", "DEFAULT"):
            found.append(ChangeDefault(name=name, is_null=True, if_exists=if_exists))
    # Visibility of an index, a check or a column moves no key.
    cursor.skip_item()
    return found


def _skip_option(cursor: TokenCursor) -> list[AlterAction]:
    if not cursor.is_word(*_OPTIONS):
        raise cursor.not_understood("unknown ALTER TABLE action")
    if cursor.accept("ORDER", "BY"):
        while not cursor.at_end():
            cursor.take()
        return []
    if cursor.accept("WITH", "SYSTEM") or cursor.accept("WITHOUT", "SYSTEM"):
        raise cursor.not_understood("system versioning changes columns and keys")
    # Options may follow one another without commas: ENGINE=InnoDB ROW_FORMAT=DYNAMIC.
    cursor.take()
    cursor.accept_any("DIRECTORY", "KEYS", "VALIDATION", "TRANSACTION")
    if cursor.accept_symbol("="):
        if cursor.is_symbol("("):
            cursor.skip_parenthesised()
        else:
            cursor.take()
    elif not (
        cursor.at_end()
        or cursor.is_symbol(",")
        or cursor.is_word(*_OPTIONS, "DEFAULT", "CHARACTER", "CHARSET", "CHAR", "COLLATE")
    ):
        cursor.take()
    return []


def _position(cursor: TokenCursor) -> str | None:
    if cursor.accept("FIRST"):
        return ""
    return cursor.name() if cursor.accept("AFTER") else None


def _changed_column(
    cursor: TokenCursor, old_name: str, new_name: str, *, if_exists: bool
) -> ChangeColumn:
    column = column_definition(cursor, new_name)
    return ChangeColumn(
        old_name=old_name, column=column, after=_position(cursor), if_exists=if_exists
    )


def _add(cursor: TokenCursor) -> list[AlterAction]:
    if cursor.is_word("PARTITION"):
        while not cursor.at_end():
            cursor.take()
        return []
    if cursor.is_word("SYSTEM") and cursor.is_word("VERSIONING", ahead=1):
        raise cursor.not_understood("system versioning changes columns and keys")
    if cursor.is_word("PERIOD") and cursor.is_word("FOR", ahead=1):
        raise cursor.not_understood("a period changes columns and keys")
    symbol = ""
    if cursor.accept("CONSTRAINT"):
        cursor.accept("IF", "NOT", "EXISTS")
        if not cursor.is_word("CHECK", "PRIMARY", "UNIQUE", "FOREIGN"):
            symbol = cursor.name()
    if cursor.accept("CHECK"):
        cursor.skip_item()
        return []
    if foreign_key := foreign_key_definition(cursor, symbol):
        return [AddForeignKey(foreign_key=foreign_key)]
    # IF NOT EXISTS stands after INDEX or UNIQUE; key_definition consumes it, so look for it here.
    guarded = any(cursor.is_word("IF", ahead=count) for count in (1, 2))
    if key := key_definition(cursor, symbol):
        return [AddKey(key=key, if_not_exists=guarded)]
    cursor.accept("COLUMN")
    guarded = cursor.accept("IF", "NOT", "EXISTS")
    if not cursor.accept_symbol("("):
        column = column_definition(cursor, cursor.name())
        return [AddColumn(column=column, after=_position(cursor), if_not_exists=guarded)]
    columns: list[AlterAction] = []
    while True:
        # The list in parentheses may hold keys as well as columns.
        if key := key_definition(cursor):
            columns.append(AddKey(key=key))
        else:
            column = column_definition(cursor, cursor.name())
            columns.append(AddColumn(column=column, if_not_exists=guarded))
        if cursor.accept_symbol(")"):
            return columns
        cursor.expect_symbol(",")


def _drop(cursor: TokenCursor) -> list[AlterAction]:
    if cursor.is_word("PARTITION"):
        while not cursor.at_end():
            cursor.take()
        return []
    if cursor.is_word("SYSTEM", "PERIOD") and cursor.is_word("VERSIONING", "FOR", ahead=1):
        raise cursor.not_understood("system versioning changes columns and keys")
    if cursor.accept("PRIMARY", "KEY"):
        return [DropKey(name="PRIMARY")]
    if cursor.accept("FOREIGN", "KEY"):
        cursor.accept("IF", "EXISTS")
        return [DropForeignKey(name=cursor.name())]
    if cursor.accept("CHECK"):
        cursor.skip_item()
        return []
    if word := cursor.accept_any("INDEX", "KEY", "CONSTRAINT"):
        if_exists = cursor.accept("IF", "EXISTS")
        return [DropKey(name=cursor.name(), if_exists=if_exists, may_be_other=word == "CONSTRAINT")]
    cursor.accept("COLUMN")
    if_exists = cursor.accept("IF", "EXISTS")
    name = cursor.name()
    cursor.accept_any("RESTRICT", "CASCADE")
    return [DropColumn(name=name, if_exists=if_exists)]


def _rename(cursor: TokenCursor) -> list[AlterAction]:
    if cursor.accept("COLUMN"):
        cursor.accept("IF", "EXISTS")
        old_name = cursor.name()
        cursor.expect("TO")
        return [RenameColumn(old_name=old_name, new_name=cursor.name())]
    if cursor.accept_any("INDEX", "KEY"):
        cursor.accept("IF", "EXISTS")
        old_name = cursor.name()
        cursor.expect("TO")
        return [RenameKey(old_name=old_name, new_name=cursor.name())]
    cursor.accept_any("TO", "AS")
    cursor.accept_symbol("=")
    return [RenameTo(table=table_name(cursor))]
