"""Elements of CREATE and ALTER TABLE.

The parser skips defaults, comments, checks and storage, and refuses unlisted attributes.
"""

from __future__ import annotations

import re

from paraply.adapters.binlog.schema.ddl import (
    CharacterOptions,
    ColumnDefinition,
    ForeignKeyDefinition,
    KeyDefinition,
    TableName,
)
from paraply.adapters.binlog.schema.sql_tokens import TokenCursor, TokenKind

TYPE_SYNONYMS = {
    "INTEGER": "int", "INT1": "tinyint", "INT2": "smallint", "INT3": "mediumint",
    "MIDDLEINT": "mediumint", "INT4": "int", "INT8": "bigint", "BOOL": "tinyint",
    "BOOLEAN": "tinyint", "DEC": "decimal", "NUMERIC": "decimal", "FIXED": "decimal",
    "NUMBER": "decimal", "REAL": "double", "FLOAT4": "float", "FLOAT8": "double",
    "CHARACTER": "char", "VARCHARACTER": "varchar", "VARCHAR2": "varchar", "NCHAR": "char",
    "NVARCHAR": "varchar", "CLOB": "longtext", "RAW": "varbinary", "SERIAL": "bigint",
}  # fmt: skip
CHARACTER_TYPES = frozenset(
    {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set"}
)
BINARY_TYPES = frozenset(
    {"binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "geometry", "vector"}
)
SPATIAL_TYPES = frozenset(
    {"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"}
    | {"multipolygon", "geometrycollection", "geomcollection"}
)
BYTE_STRINGS = {"char": "binary", "varchar": "varbinary"} | {
    f"{size}text": f"{size}blob" for size in ("tiny", "", "medium", "long")
}
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")
_NATIONAL = frozenset({"NATIONAL", "NCHAR", "NVARCHAR"})
_FLAGS_WITHOUT_MEANING = (
    "SIGNED", "VIRTUAL", "STORED", "PERSISTENT", "ENFORCED", "COMPRESSED",
)  # fmt: skip
_OPTIONS_WITH_VALUE = (
    "COMMENT", "COLUMN_FORMAT", "STORAGE", "ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE",
    "SRID", "REF_SYSTEM_ID",
)  # fmt: skip


def table_name(cursor: TokenCursor) -> TableName:
    """Read ``table`` or ``schema.table``."""
    first = cursor.name()
    if cursor.accept_symbol("."):
        return TableName(first, cursor.name())
    return TableName("", first)


def charset_clause(cursor: TokenCursor) -> str:
    """Read ``[CHARACTER SET

    CHARSET

    CHAR SET] [=] name``, or empty.
    """
    if not (
        cursor.accept("CHARACTER", "SET")
        or cursor.accept("CHAR", "SET")
        or cursor.accept("CHARSET")
    ):
        return ""
    cursor.accept_symbol("=")
    return _name_or_string(cursor).lower()


def collate_clause(cursor: TokenCursor) -> str:
    """Read ``COLLATE [=] name``, or return empty."""
    if not cursor.accept("COLLATE"):
        return ""
    cursor.accept_symbol("=")
    return _name_or_string(cursor).lower()


def _name_or_string(cursor: TokenCursor) -> str:
    if cursor.token.kind is TokenKind.STRING:
        return cursor.take().text
    return cursor.name()


class _ColumnBuilder:
    def __init__(self, name: str) -> None:
        self.name = name
        self.type_name = ""
        self.length = 0
        self.charset = self.collation = ""
        self.nullable = self.visible = True
        self.binary_collation = self.unsigned = self.generated = self.virtual = False
        self.is_primary = self.is_unique = self.versioning = self.auto_increment = False
        self.has_default = False
        self.default_value: int | None = None
        self.references: ForeignKeyDefinition | None = None

    def finished(self) -> ColumnDefinition:
        charset, type_name = self.charset, self.type_name
        if charset == "binary" and type_name in BYTE_STRINGS:
            type_name, charset = BYTE_STRINGS[type_name], ""
        return ColumnDefinition(
            name=self.name,
            type_name=f"{type_name} unsigned" if self.unsigned else type_name,
            length=self.length,
            charset=charset,
            collation=self.collation,
            binary_collation=self.binary_collation,
            nullable=self.nullable and not self.is_primary,
            unsigned=self.unsigned,
            generated=self.generated,
            virtual=self.virtual,
            visible=self.visible,
            is_primary=self.is_primary,
            is_unique=self.is_unique,
            auto_increment=self.auto_increment,
            omitted_is_null=not (self.has_default or self._has_own_value()),
            omitted_value=self.default_value,
            versioning=self.versioning,
            references=self.references,
        )

    def _has_own_value(self) -> bool:
        # The first TIMESTAMP had a default of its own before explicit_defaults_for_timestamp.
        return self.auto_increment or self.generated or self.type_name == "timestamp"

    def read_type(self, cursor: TokenCursor) -> None:
        word = cursor.name().upper()
        if word in _NATIONAL:
            self.charset = "utf8mb3"
            if word == "NATIONAL":
                word = cursor.name().upper()
        if word == "LONG":
            # LONG [VARCHAR] is MEDIUMTEXT, LONG VARBINARY is MEDIUMBLOB.
            is_bytes = cursor.accept("VARBINARY")
            if not is_bytes:
                cursor.accept_any("VARCHAR", "VARCHARACTER", "CHAR")
            word = "MEDIUMBLOB" if is_bytes else "MEDIUMTEXT"
        self.type_name = TYPE_SYNONYMS.get(word, word.lower())
        if self.type_name == "char" and cursor.accept_any("VARYING", "VARCHAR", "VARCHARACTER"):
            self.type_name = "varchar"
        if word == "DOUBLE":
            cursor.accept("PRECISION")
        if word == "SERIAL":
            self.unsigned, self.nullable, self.is_unique = True, False, True
            self.auto_increment = True
            cursor.accept("DEFAULT", "VALUE")
        if self.type_name in ("char", "binary"):
            self.length = 1
        if cursor.is_symbol("("):
            if cursor.ahead().kind is TokenKind.NUMBER and self.type_name not in ("enum", "set"):
                self.length = int(cursor.ahead().text[:10])
            cursor.skip_parenthesised()

    def read_attribute(self, cursor: TokenCursor) -> bool:
        charset, collation = charset_clause(cursor), collate_clause(cursor)
        if charset or collation:
            self.charset = charset or self.charset
            self.collation = collation or self.collation
            return True
        if word := cursor.accept_any("UNSIGNED", "ZEROFILL"):
            self.unsigned = bool(word)
        elif cursor.accept("BINARY"):
            self.binary_collation = True
        elif word := cursor.accept_any("ASCII", "UNICODE", "BYTE"):
            self.charset = {"ASCII": "latin1", "UNICODE": "ucs2", "BYTE": "binary"}[word]
        elif cursor.accept("NOT", "NULL"):
            self.nullable = False
        elif cursor.accept("NULL"):
            self.nullable = True
        elif word := cursor.accept_any("VISIBLE", "INVISIBLE"):
            self.visible = word == "VISIBLE"
        elif cursor.accept("SERIAL", "DEFAULT", "VALUE"):
            self.nullable, self.is_unique, self.auto_increment = False, True, True
        elif cursor.accept("AUTO_INCREMENT"):
            self.nullable, self.auto_increment = False, True
        elif cursor.accept("DEFAULT"):
            is_null, self.default_value = default_clause(cursor)
            self.has_default = not is_null
        elif cursor.accept("UNIQUE"):
            cursor.accept_any("KEY", "INDEX")
            self.is_unique = True
        elif cursor.accept("PRIMARY", "KEY") or cursor.accept("KEY"):
            self.is_primary = True
        elif cursor.accept("REFERENCES"):
            self.references = references_clause(cursor, "", (self.name,))
        else:
            return self._read_generation(cursor) or _skip_attribute(cursor)
        return True

    def _read_generation(self, cursor: TokenCursor) -> bool:
        if cursor.accept("GENERATED"):
            cursor.accept("ALWAYS")
            if not cursor.is_word("AS"):
                raise cursor.not_understood("expected AS")
        if not cursor.accept("AS"):
            return False
        if cursor.accept("ROW"):
            cursor.accept_any("START", "END")
            self.versioning = True
        else:
            cursor.skip_parenthesised()
            self.generated = True
            self.virtual = not cursor.accept_any("STORED", "PERSISTENT")
        return True


def _skip_attribute(cursor: TokenCursor) -> bool:
    if cursor.accept("ON", "UPDATE"):
        default_clause(cursor)
    elif cursor.accept_any(*_OPTIONS_WITH_VALUE):
        cursor.accept_symbol("=")
        cursor.take()
    elif cursor.accept("CONSTRAINT"):
        if not cursor.is_word("CHECK"):
            cursor.name()
    elif cursor.accept("CHECK"):
        cursor.skip_parenthesised()
    elif cursor.accept("NOT", "ENFORCED") or cursor.accept("NOT", "SECONDARY"):
        pass
    elif cursor.accept_any("WITH", "WITHOUT"):
        cursor.expect("SYSTEM", "VERSIONING")
    elif cursor.accept_any(*_FLAGS_WITHOUT_MEANING):
        if cursor.accept_symbol("="):
            cursor.take()
    else:
        return False
    return True


def default_clause(cursor: TokenCursor) -> tuple[bool, int | None]:
    """Read what follows DEFAULT; return whether it is NULL, and its value if a whole number."""
    return (True, None) if cursor.accept("NULL") else (False, _default_value(cursor))


def _default_value(cursor: TokenCursor) -> int | None:
    if cursor.accept("NEXT", "VALUE", "FOR"):
        table_name(cursor)
        return None
    value = None
    sign = ""
    while cursor.is_symbol("+-"):
        sign += cursor.take().text
    if not cursor.is_symbol("("):
        first = cursor.take()
        text = (sign if len(sign) < 2 else "") + first.text
        if first.kind in (TokenKind.NUMBER, TokenKind.STRING) and _WHOLE_NUMBER.fullmatch(text):
            value = int(text)
        if cursor.is_symbol(".") and first.kind is not TokenKind.STRING:
            value = None
            cursor.take()
            cursor.take()
        elif first.kind is TokenKind.WORD and cursor.token.kind is TokenKind.STRING:
            cursor.take()  # _utf8mb4'text', x'00', b'0', DATE'2020-01-01'
    if cursor.is_symbol("("):
        cursor.skip_parenthesised()
    return value


def column_definition(cursor: TokenCursor, name: str) -> ColumnDefinition:
    """Read type and attributes of column ``name``."""
    builder = _ColumnBuilder(name)
    builder.read_type(cursor)
    while not (cursor.at_end() or cursor.is_symbol(",)") or cursor.is_word("FIRST", "AFTER")):
        if not builder.read_attribute(cursor):
            raise cursor.not_understood(f"unknown attribute of column {name}")
    return builder.finished()


def key_parts(cursor: TokenCursor) -> tuple[tuple[tuple[str, int], ...], str]:
    """Read ``(a, b(10) DESC, (expression))``; return why it is no list of columns."""
    cursor.expect_symbol("(")
    parts: list[tuple[str, int]] = []
    beyond = ""
    while True:
        if cursor.is_symbol("("):
            cursor.skip_parenthesised()
            beyond = "a part of it is an expression"
        else:
            name = cursor.name()
            prefix = 0
            if cursor.accept_symbol("("):
                prefix = cursor.number()
                cursor.expect_symbol(")")
            parts.append((name, prefix))
        cursor.accept_any("ASC", "DESC")
        if cursor.accept("WITHOUT", "OVERLAPS"):
            parts.pop()  # It names a period, not a column.
            beyond = "it forbids overlapping periods"
        if cursor.accept_symbol(")"):
            return tuple(parts), beyond
        cursor.expect_symbol(",")


def key_definition(cursor: TokenCursor, symbol: str = "") -> KeyDefinition | None:
    """Read an optional key with CONSTRAINT name ``symbol``."""
    is_primary = cursor.accept("PRIMARY", "KEY")
    is_unique = is_primary or cursor.accept("UNIQUE")
    kind = "" if is_unique else cursor.accept_any("FULLTEXT", "SPATIAL")
    if (
        not is_unique
        and not kind
        and cursor.is_word("VECTOR")
        and cursor.is_word("INDEX", "KEY", ahead=1)
    ):
        kind = cursor.take().text
    if not is_primary:
        named = cursor.accept_any("INDEX", "KEY")
        if not (is_unique or kind or named):
            return None
        cursor.accept("IF", "NOT", "EXISTS")
    name = ""
    if cursor.is_name() and not cursor.is_word("USING", "TYPE"):
        name = cursor.name()
    while cursor.accept_any("USING", "TYPE"):
        cursor.take()
    is_functional = cursor.ahead().text == "("
    parts, beyond = key_parts(cursor)
    cursor.skip_item()
    return KeyDefinition(
        name="PRIMARY" if is_primary else name or symbol,
        parts=parts,
        is_primary=is_primary,
        is_unique=is_unique,
        beyond=beyond,
        is_named_functional=is_functional,
    )


def references_clause(
    cursor: TokenCursor, name: str, columns: tuple[str, ...]
) -> ForeignKeyDefinition:
    """Read the clause after REFERENCES."""
    parent = table_name(cursor)
    parent_columns: tuple[str, ...] = ()
    if cursor.is_symbol("("):
        parent_columns = tuple(part for part, _ in key_parts(cursor)[0])
    rules = {"DELETE": "RESTRICT", "UPDATE": "RESTRICT"}
    while True:
        if cursor.accept("MATCH"):
            cursor.take()
        elif cursor.is_word("ON") and cursor.is_word("DELETE", "UPDATE", ahead=1):
            cursor.take()
            event = cursor.take().text.upper()
            rules[event] = _referential_action(cursor)
        else:
            break
    return ForeignKeyDefinition(
        name=name,
        columns=columns,
        parent=parent,
        parent_columns=parent_columns,
        on_delete=rules["DELETE"],
        on_update=rules["UPDATE"],
    )


def _referential_action(cursor: TokenCursor) -> str:
    for phrase in (("SET", "NULL"), ("SET", "DEFAULT"), ("NO", "ACTION")):
        if cursor.accept(*phrase):
            return " ".join(phrase)
    if word := cursor.accept_any("CASCADE", "RESTRICT"):
        return word
    raise cursor.not_understood("expected a referential action")


def foreign_key_definition(cursor: TokenCursor, symbol: str = "") -> ForeignKeyDefinition | None:
    """Read an optional FOREIGN KEY clause."""
    if not cursor.accept("FOREIGN", "KEY"):
        return None
    cursor.accept("IF", "NOT", "EXISTS")
    index_name = "" if cursor.is_symbol("(") else cursor.name()
    columns = tuple(part for part, _ in key_parts(cursor)[0])
    cursor.expect("REFERENCES")
    return references_clause(cursor, symbol or index_name, columns)


def character_option(cursor: TokenCursor) -> CharacterOptions | None:
    """Read an optional CHARACTER SET or COLLATE."""
    if cursor.is_word("DEFAULT") and not cursor.is_word(
        "CHARACTER", "CHARSET", "CHAR", "COLLATE", ahead=1
    ):
        return None
    cursor.accept("DEFAULT")
    charset, collation = charset_clause(cursor), collate_clause(cursor)
    if not charset and not collation:
        return None
    return CharacterOptions(charset=charset, collation=collation)


def merged(first: CharacterOptions, second: CharacterOptions) -> CharacterOptions:
    """Merge options; a later character set discards the collation."""
    if second.charset and second.charset != "default":
        return second
    return CharacterOptions(charset=first.charset, collation=second.collation or first.collation)
