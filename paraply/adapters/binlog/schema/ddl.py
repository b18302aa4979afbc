"""Schema statements as data.

Names are as written; an empty schema is the default.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TableName:
    """A table name, qualified or not."""

    schema: str
    table: str

    def within(self, default_schema: str) -> str:
        """Return ``schema.table``."""
        return f"{self.schema or default_schema}.{self.table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDefinition:
    """One column; the table completes empty text options."""

    name: str
    type_name: str
    length: int = 0
    charset: str = ""
    collation: str = ""
    binary_collation: bool = False
    """The BINARY attribute: the ``_bin`` collation."""
    nullable: bool = True
    unsigned: bool = False
    generated: bool = False
    virtual: bool = False
    visible: bool = True
    is_primary: bool = False
    is_unique: bool = False
    auto_increment: bool = False
    omitted_is_null: bool = True
    """The default is NULL."""
    omitted_value: int | None = None
    """The default, if it is a whole number."""
    versioning: bool = False
    references: ForeignKeyDefinition | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDefinition:
    """A key or other index.

    ``parts`` are (column name, prefix length). ``beyond`` is why it cannot be built.
    """

    name: str
    parts: tuple[tuple[str, int], ...]
    is_primary: bool = False
    is_unique: bool = True
    beyond: str = ""
    is_named_functional: bool = False
    """Without a name, it has that of its first part, which is an expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignKeyDefinition:
    """A foreign key; empty ``parent_columns`` means PRIMARY."""

    name: str
    columns: tuple[str, ...]
    parent: TableName
    parent_columns: tuple[str, ...]
    on_delete: str = "RESTRICT"
    on_update: str = "RESTRICT"


@dataclass(frozen=True, slots=True, kw_only=True)
class CharacterOptions:
    """DEFAULT CHARACTER SET and COLLATE."""

    charset: str = ""
    collation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    """CREATE TABLE; ``from_query`` has unnamed columns."""

    table: TableName
    if_not_exists: bool = False
    or_replace: bool = False
    columns: tuple[ColumnDefinition, ...] = ()
    keys: tuple[KeyDefinition, ...] = ()
    foreign_keys: tuple[ForeignKeyDefinition, ...] = ()
    options: CharacterOptions = field(default_factory=CharacterOptions)
    like: TableName | None = None
    from_query: bool = False
    versioned: bool = False
    is_sequence: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AddColumn:
    """ADD COLUMN; ``after`` None is last, empty FIRST."""

    column: ColumnDefinition
    after: str | None = None
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeColumn:
    """CHANGE or MODIFY; ``after`` None stays, empty FIRST."""

    old_name: str
    column: ColumnDefinition
    after: str | None = None
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameColumn:
    """RENAME COLUMN a TO b."""

    old_name: str
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDefault:
    """ALTER COLUMN name SET DEFAULT or DROP DEFAULT."""

    name: str
    is_null: bool
    """Also if it is dropped: a column that may be NULL is NULL then (MySQL 9.7, MariaDB 10.11)."""
    value: int | None = None
    """The default, if it is a whole number."""
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropColumn:
    """DROP COLUMN."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AddKey:
    """ADD KEY or CREATE INDEX."""

    key: KeyDefinition
    if_not_exists: bool = False
    or_replace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropKey:
    """DROP INDEX, PRIMARY KEY or CONSTRAINT (``may_be_other``)."""

    name: str
    if_exists: bool = False
    may_be_other: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameKey:
    """RENAME INDEX a TO b."""

    old_name: str
    new_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AddForeignKey:
    """ADD FOREIGN KEY."""

    foreign_key: ForeignKeyDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class DropForeignKey:
    """DROP FOREIGN KEY."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTo:
    """ALTER TABLE ... RENAME TO."""

    table: TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCharacterOptions:
    """Default character options, or CONVERT TO (``convert``)."""

    options: CharacterOptions
    convert: bool = False


AlterAction = (
    AddColumn
    | ChangeColumn
    | RenameColumn
    | ChangeDefault
    | DropColumn
    | AddKey
    | DropKey
    | RenameKey
    | AddForeignKey
    | DropForeignKey
    | RenameTo
    | ChangeCharacterOptions
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlterTable:
    """ALTER TABLE, CREATE INDEX and DROP INDEX."""

    table: TableName
    actions: tuple[AlterAction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameTables:
    """RENAME TABLE, pairs in order."""

    pairs: tuple[tuple[TableName, TableName], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DropTables:
    """DROP TABLE or DROP SEQUENCE."""

    tables: tuple[TableName, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetDatabase:
    """CREATE or ALTER DATABASE; empty ``name`` means default."""

    name: str
    options: CharacterOptions
    create: bool
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DropDatabase:
    """DROP DATABASE."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UseDatabase:
    """USE."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSchemaChange:
    """A statement that changes no permanent table definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """An unsupported statement; empty ``tables`` means every table."""

    tables: tuple[TableName, ...]
    reason: str
    offset: int = 0


SchemaStatement = (
    CreateTable
    | AlterTable
    | RenameTables
    | DropTables
    | SetDatabase
    | DropDatabase
    | UseDatabase
    | NoSchemaChange
    | Unreadable
)
