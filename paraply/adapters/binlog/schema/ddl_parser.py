"""Parser of MySQL and MariaDB schema statements.

Others become ``Unreadable``, never a guess: the log lacks the columns of CREATE TABLE ... SELECT
and of system versioning.
"""

from __future__ import annotations

from functools import lru_cache

from paraply.adapters.binlog.schema.ddl import (
    AddKey,
    AlterTable,
    CharacterOptions,
    ColumnDefinition,
    CreateTable,
    DropDatabase,
    DropKey,
    DropTables,
    ForeignKeyDefinition,
    KeyDefinition,
    NoSchemaChange,
    RenameTables,
    SchemaStatement,
    SetDatabase,
    TableName,
    Unreadable,
    UseDatabase,
)
from paraply.adapters.binlog.schema.ddl_alter import alter_actions
from paraply.adapters.binlog.schema.ddl_elements import (
    character_option,
    column_definition,
    foreign_key_definition,
    key_definition,
    key_parts,
    merged,
    table_name,
)
from paraply.adapters.binlog.schema.sql_tokens import (
    NotUnderstood,
    TokenCursor,
    TokenKind,
    tokenize,
)

_SCHEMA_VERBS = ("CREATE", "ALTER", "DROP", "RENAME", "TRUNCATE", "USE")
_INDEX_KINDS = ("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR")


class _Parser:
    def __init__(self, sql: str) -> None:
        self.cursor = TokenCursor(tokenize(sql))
        self.tables: list[TableName] = []

    def table(self) -> TableName:
        name = table_name(self.cursor)
        self.tables.append(name)
        return name

    def statement(self) -> SchemaStatement:
        cursor = self.cursor
        if cursor.accept("SET", "STATEMENT"):  # MariaDB: SET STATEMENT x=1 FOR ALTER TABLE ...
            while not cursor.accept("FOR"):
                if cursor.at_end():
                    return NoSchemaChange()
                cursor.take()
        verb = cursor.accept_any(*_SCHEMA_VERBS)
        if verb == "CREATE":
            return self._create()
        if verb == "ALTER":
            return self._alter()
        if verb == "DROP":
            return self._drop()
        if verb == "RENAME":
            return self._rename()
        if verb == "TRUNCATE":
            cursor.accept("TABLE")
            self.table()
            return NoSchemaChange()
        if verb == "USE":
            return UseDatabase(name=cursor.name())
        return NoSchemaChange()

    # CREATE

    def _create(self) -> SchemaStatement:
        cursor = self.cursor
        or_replace = cursor.accept("OR", "REPLACE")
        is_temporary = cursor.accept("TEMPORARY")
        if cursor.accept("TABLE"):
            statement = self._create_table(or_replace)
            return NoSchemaChange() if is_temporary else statement
        if cursor.accept_any("DATABASE", "SCHEMA"):
            if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
            name = cursor.name()
            return SetDatabase(
                name=name,
                options=self._database_options(),
                create=True,
                if_not_exists=if_not_exists,
            )
        if cursor.accept("SEQUENCE"):
            if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
            return CreateTable(
                table=self.table(),
                if_not_exists=if_not_exists,
                or_replace=or_replace,
                is_sequence=True,
            )
        cursor.accept_any("ONLINE", "OFFLINE")
        kind = cursor.accept_any(*_INDEX_KINDS)
        if cursor.accept("INDEX"):
            return self._create_index(is_unique=kind == "UNIQUE", or_replace=or_replace)
        return NoSchemaChange()

    def _create_table(self, or_replace: bool) -> CreateTable:
        cursor = self.cursor
        if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
        table = self.table()
        like = self._like()
        columns: list[ColumnDefinition] = []
        keys: list[KeyDefinition] = []
        foreign_keys: list[ForeignKeyDefinition] = []
        if like is None and cursor.is_symbol("("):
            if cursor.is_word("SELECT", "WITH", ahead=1):
                cursor.skip_parenthesised()
                return CreateTable(table=table, if_not_exists=if_not_exists, from_query=True)
            cursor.take()
            like = self._like()
            while like is None:
                self._table_element(columns, keys, foreign_keys)
                if not cursor.accept_symbol(","):
                    break
            cursor.expect_symbol(")")
        options, is_sequence, versioned, from_query = self._table_options()
        return CreateTable(
            table=table,
            if_not_exists=if_not_exists,
            or_replace=or_replace,
            columns=tuple(columns),
            keys=tuple(keys),
            foreign_keys=tuple(foreign_keys),
            options=options,
            like=like,
            from_query=from_query,
            versioned=versioned or any(column.versioning for column in columns),
            is_sequence=is_sequence,
        )

    def _like(self) -> TableName | None:
        return table_name(self.cursor) if self.cursor.accept("LIKE") else None

    def _table_element(
        self,
        columns: list[ColumnDefinition],
        keys: list[KeyDefinition],
        foreign_keys: list[ForeignKeyDefinition],
    ) -> None:
        cursor = self.cursor
        if cursor.is_word("PERIOD") and cursor.is_word("FOR", ahead=1):
            cursor.skip_item()
            return
        symbol = ""
        if cursor.accept("CONSTRAINT") and not cursor.is_word(
            "CHECK", "PRIMARY", "UNIQUE", "FOREIGN"
        ):
            symbol = cursor.name()
        if cursor.accept("CHECK"):
            cursor.skip_item()
        elif foreign_key := foreign_key_definition(cursor, symbol):
            foreign_keys.append(foreign_key)
        elif key := key_definition(cursor, symbol):
            keys.append(key)
        elif symbol:
            raise cursor.not_understood("unknown constraint")
        else:
            columns.append(column_definition(cursor, cursor.name()))

    def _table_options(self) -> tuple[CharacterOptions, bool, bool, bool]:
        cursor = self.cursor
        options, is_sequence, versioned = CharacterOptions(), False, False
        while not cursor.at_end():
            if cursor.is_word("SELECT", "AS", "VALUES", "TABLE") or (
                cursor.is_word("WITH") and not cursor.is_word("SYSTEM", ahead=1)
            ):
                return options, is_sequence, versioned, True
            if found := character_option(cursor):
                options = merged(options, found)
            elif cursor.accept("WITH", "SYSTEM", "VERSIONING"):
                versioned = True
            elif cursor.accept("SEQUENCE"):
                # MariaDB shows a sequence as a table, too.
                cursor.accept_symbol("=")
                is_sequence = cursor.take().text.upper() in ("1", "YES")
            elif cursor.is_symbol("("):
                cursor.skip_parenthesised()
            else:
                cursor.take()
        return options, is_sequence, versioned, False

    def _create_index(self, *, is_unique: bool, or_replace: bool) -> AlterTable:
        cursor = self.cursor
        if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
        name = cursor.name()
        while cursor.accept_any("USING", "TYPE"):
            cursor.take()
        cursor.expect("ON")
        table = self.table()
        parts, beyond = key_parts(cursor)
        key = KeyDefinition(name=name, parts=parts, is_unique=is_unique, beyond=beyond)
        action = AddKey(key=key, if_not_exists=if_not_exists, or_replace=or_replace)
        return AlterTable(table=table, actions=(action,))

    def _database_options(self) -> CharacterOptions:
        options = CharacterOptions()
        while not self.cursor.at_end():
            if found := character_option(self.cursor):
                options = merged(options, found)
            else:
                self.cursor.take()
        return options

    # ALTER, DROP, RENAME

    def _alter(self) -> SchemaStatement:
        cursor = self.cursor
        if cursor.accept_any("DATABASE", "SCHEMA"):
            has_name = cursor.is_name() and not cursor.is_word(
                "DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION", "READ", "COMMENT",
                "UPGRADE",
            )  # fmt: skip
            name = cursor.name() if has_name else ""
            return SetDatabase(name=name, options=self._database_options(), create=False)
        while cursor.accept_any("ONLINE", "OFFLINE", "IGNORE"):
            pass
        if not cursor.accept("TABLE"):
            return NoSchemaChange()
        cursor.accept("IF", "EXISTS")
        table = self.table()
        if cursor.accept("WAIT"):
            cursor.number()
        cursor.accept("NOWAIT")
        return AlterTable(table=table, actions=alter_actions(cursor))

    def _drop(self) -> SchemaStatement:
        cursor = self.cursor
        is_temporary = cursor.accept("TEMPORARY")
        if cursor.accept_any("TABLE", "TABLES", "SEQUENCE"):
            cursor.accept("IF", "EXISTS")
            names = [self.table()]
            while cursor.accept_symbol(","):
                names.append(self.table())
            return NoSchemaChange() if is_temporary else DropTables(tables=tuple(names))
        if cursor.accept_any("DATABASE", "SCHEMA"):
            cursor.accept("IF", "EXISTS")
            return DropDatabase(name=cursor.name())
        cursor.accept_any("ONLINE", "OFFLINE")
        if cursor.accept("INDEX"):
            if_exists = cursor.accept("IF", "EXISTS")
            name = cursor.name()
            cursor.expect("ON")
            action = DropKey(name=name, if_exists=if_exists)
            return AlterTable(table=self.table(), actions=(action,))
        return NoSchemaChange()

    def _rename(self) -> SchemaStatement:
        cursor = self.cursor
        if not cursor.accept_any("TABLE", "TABLES"):
            return NoSchemaChange()
        cursor.accept("IF", "EXISTS")
        pairs: list[tuple[TableName, TableName]] = []
        while True:
            old = self.table()
            while cursor.accept_any("WAIT", "NOWAIT"):
                if cursor.token.kind is TokenKind.NUMBER:
                    cursor.take()
            cursor.expect("TO")
            pairs.append((old, self.table()))
            if not cursor.accept_symbol(","):
                return RenameTables(pairs=tuple(pairs))


@lru_cache(64)
def parse_statement(sql: str) -> SchemaStatement:
    """Parse one SQL statement; never raises."""
    parser = _Parser(sql)
    try:
        return parser.statement()
    except NotUnderstood as refusal:
        return Unreadable(tables=tuple(parser.tables), reason=refusal.reason, offset=refusal.offset)
