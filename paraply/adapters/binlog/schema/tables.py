"""One table under change; keys refer to column objects."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from paraply.adapters.binlog.keys.collation_names import dumped_collation, settled_collation
from paraply.adapters.binlog.schema.ddl import (
    CharacterOptions,
    ColumnDefinition,
    ForeignKeyDefinition,
    KeyDefinition,
)
from paraply.adapters.binlog.schema.ddl_elements import (
    BINARY_TYPES,
    BYTE_STRINGS,
    CHARACTER_TYPES,
    SPATIAL_TYPES,
)
from paraply.vocabulary.schema import (
    Column,
    ForeignKey,
    KeyPart,
    SchemaSource,
    TableSchema,
    UniqueKey,
)

_SPATIAL = "a part of it is a spatial column"
_HASHED = 3072 // 4 + 1  # characters, more than an index of InnoDB holds
_WITH_LENGTH = frozenset({"char", "varchar", "binary", "varbinary"})
_WITH_PREFIX = (CHARACTER_TYPES | BINARY_TYPES | {"json"}) - {"enum", "set", "vector"}


class Contradiction(Exception):  # noqa: N818 - it is an answer, not a fault
    """A statement that contradicts its known table."""


@dataclass(eq=False, slots=True)
class ColumnDraft:
    """A column that keys refer to."""

    column: Column


@dataclass(eq=False, slots=True)
class KeyDraft:
    """An index; ``beyond`` is why it cannot be built."""

    name: str
    parts: list[tuple[ColumnDraft, int]]
    is_unique: bool
    beyond: str = ""


@dataclass(eq=False, slots=True)
class ForeignKeyDraft:
    """A foreign key, possibly without parent table."""

    name: str
    columns: list[ColumnDraft]
    parent: str
    parent_columns: tuple[str, ...]
    on_delete: str
    on_update: str
    assumed: bool = False


@dataclass(eq=False, slots=True)
class TableDraft:
    """A table under change."""

    name: str
    options: CharacterOptions = field(default_factory=CharacterOptions)
    columns: list[ColumnDraft] = field(default_factory=list)
    keys: list[KeyDraft] = field(default_factory=list)
    foreign_keys: list[ForeignKeyDraft] = field(default_factory=list)
    keys_known: bool = False
    keys_complete: bool = False
    foreign_keys_known: bool = False
    is_versioned: bool = False
    is_mariadb: bool = False
    sources: set[SchemaSource] = field(default_factory=set)
    unknown_because: str = ""

    @property
    def schema(self) -> str:
        """Return the schema part of the name."""
        return self.name.partition(".")[0]

    def copy(self) -> TableDraft:
        """Return an independent copy."""
        drafts: dict[int, ColumnDraft] = {}

        def copied(draft: ColumnDraft) -> ColumnDraft:
            return drafts.setdefault(id(draft), ColumnDraft(draft.column))

        def key(old: KeyDraft) -> KeyDraft:
            parts = [(copied(column), size) for column, size in old.parts]
            return KeyDraft(old.name, parts, old.is_unique, old.beyond)

        return replace(
            self, columns=list(map(copied, self.columns)), sources=set(self.sources),
            keys=list(map(key, self.keys)),
            foreign_keys=[replace(k, columns=[*map(copied, k.columns)]) for k in self.foreign_keys],
        )  # fmt: skip

    def freeze(self) -> TableSchema:
        """Return the shared form: positions, unique keys in the server's order."""
        position = {id(draft): index for index, draft in enumerate(self.columns)}
        unique = [key for key in self.keys if key.is_unique]
        beyond = [f"{key.name}: {key.beyond}" for key in unique if key.beyond]
        reason = self.unknown_because or "; ".join(f"unique key {text}" for text in beyond)
        usable = sorted((key for key in unique if not key.beyond), key=_order)

        def parts(key: KeyDraft) -> tuple[KeyPart, ...]:
            return tuple(KeyPart(column=position[id(c)], prefix_length=n) for c, n in key.parts)

        return TableSchema(
            name=self.name,
            columns=tuple(draft.column for draft in self.columns),
            unique_keys=tuple(UniqueKey(name=key.name, parts=parts(key)) for key in usable),
            foreign_keys=tuple(
                ForeignKey(
                    name=key.name,
                    columns=tuple(position[id(draft)] for draft in key.columns),
                    parent=key.parent,
                    parent_columns=key.parent_columns,
                    on_delete=key.on_delete,
                    on_update=key.on_update,
                    index_columns=tuple(
                        sorted(position[id(draft)] for draft in self._index_columns(key, usable))
                    ),
                    assumed=key.assumed,
                )
                for key in self.foreign_keys
            ),
            keys_known=self.keys_known,
            keys_complete=self.keys_complete and not beyond,
            foreign_keys_known=self.foreign_keys_known,
            has_hidden_columns=self.is_versioned or any(map(_may_hide_columns, self.keys)),
            sources=set(self.sources),
            unknown_because=reason,
        )

    def _index_columns(
        self, foreign_key: ForeignKeyDraft, unique: list[KeyDraft]
    ) -> set[ColumnDraft]:
        """Return ``ForeignKey.index_columns``."""
        wanted = set(map(id, foreign_key.columns))
        indexes = [
            key for key in self.keys if {id(c) for c, _ in key.parts[: len(wanted)]} == wanted
        ]
        # Without a PRIMARY key, one without NULL is the clustered one.
        indexes += unique[:1] if unique and unique[0].name == "PRIMARY" else unique
        # An index that nobody declared is made of the key's own columns.
        return {*foreign_key.columns, *(draft for key in indexes for draft, _ in key.parts)}

    # Columns

    def find(self, name: str) -> ColumnDraft | None:
        """Return a column by name, ignoring case."""
        wanted = name.lower()
        return next((c for c in self.columns if c.column.name.lower() == wanted), None)

    def require(self, name: str) -> ColumnDraft:
        """Return a named column or raise ``Contradiction``."""
        draft = self.find(name)
        if draft is None:
            raise Contradiction(f"there is no column {name}")
        return draft

    def column_of(self, definition: ColumnDefinition) -> Column:
        """Return a column with resolved collation."""
        charset = collation = ""
        type_name = definition.type_name
        if type_name in BINARY_TYPES:
            collation = "binary"
        elif type_name in CHARACTER_TYPES:
            given = CharacterOptions(charset=definition.charset, collation=definition.collation)
            charset, collation = settled_collation(given, self.options)
            if charset == "binary":
                type_name = BYTE_STRINGS.get(type_name, type_name)
            elif definition.binary_collation and not (
                self.is_mariadb and collation.endswith("_bin")
            ):
                collation = f"{charset}_bin" if charset else ""
        elif definition.type_name == "json":
            # MariaDB's JSON is LONGTEXT with this collation; MySQL's cannot be part of a key.
            charset, collation = "utf8mb4", "utf8mb4_bin"
        return Column(
            name=definition.name,
            type_name=type_name,
            charset=charset,
            collation=collation,
            nullable=definition.nullable,
            unsigned=definition.unsigned,
            # The width of a number is shown, and means nothing.
            length=definition.length if type_name in _WITH_LENGTH else 0,
            generated=definition.generated,
            virtual=definition.virtual,
            visible=definition.visible,
            auto_increment=definition.auto_increment,
            omitted_is_null=definition.omitted_is_null,
            omitted_value=definition.omitted_value,
        )

    def redefine(
        self, draft: ColumnDraft, definition: ColumnDefinition, *, is_new: bool = False
    ) -> None:
        """Give a column another definition; its keys stay (``mysql_prepare_alter_table``).

        ``is_new`` is a column dropped and added: its key parts keep their length in characters.
        """
        old, draft.column = draft.column, self.column_of(definition)
        new = draft.column
        for key in self.keys:
            sizes = [size for part, size in key.parts if part is draft]
            if not sizes:
                continue
            if key.name == "PRIMARY":
                draft.column = replace(draft.column, nullable=False)
            if is_new and new.type_name in _WITH_PREFIX and not (sizes[0] or _characters(old)):
                key.beyond = f"column {new.name} was dropped and added with another type"
            if new.type_name in SPATIAL_TYPES:
                key.beyond = _SPATIAL
            if _may_leave_a_prefix(old) and new.type_name in _WITH_PREFIX:
                key.beyond = f"column {new.name} was a {old.type_name.upper()} before"
            size = sizes[0] or (_characters(old) if is_new else 0)
            if not is_new and (old.type_name not in _WITH_PREFIX or size == _characters(old)):
                size = 0
            key.parts = [
                (part, _prefix(size, new) if part is draft else theirs)
                for part, theirs in key.parts
            ]

    def place(self, draft: ColumnDraft, after: str | None) -> None:
        """Place first (empty ``after``), after another, or last."""
        if draft in self.columns:
            self.columns.remove(draft)
        if after is None:
            self.columns.append(draft)
        elif not after:
            self.columns.insert(0, draft)
        else:
            self.columns.insert(self.columns.index(self.require(after)) + 1, draft)

    def add_column(
        self,
        definition: ColumnDefinition,
        after: str | None = None,
        replaced: ColumnDraft | None = None,
    ) -> None:
        """Add a column without the keys of its definition; ``replaced`` keeps its own."""
        if self.find(definition.name):
            raise Contradiction(f"there is a column {definition.name} already")
        draft = replaced or ColumnDraft(self.column_of(definition))
        if replaced is not None:
            self.redefine(draft, definition, is_new=True)
        self.place(draft, after)

    def add_implied_keys(self, definition: ColumnDefinition, present: Collection[str] = ()) -> None:
        """Add the keys of a column definition, but for those that are ``present``, lower case."""
        parts = ((definition.name, 0),)
        if definition.is_primary and "primary" not in present:
            self.add_key(KeyDefinition(name="PRIMARY", parts=parts, is_primary=True))
        # MariaDB takes UNIQUE PRIMARY KEY for one key, MySQL for two.
        is_second = definition.is_primary and self.is_mariadb
        if definition.is_unique and not is_second and definition.name.lower() not in present:
            self.add_key(KeyDefinition(name="", parts=parts))
        if definition.references:
            self.add_foreign_key(definition.references, assumed=True)

    def replace_column(self, name: str) -> ColumnDraft:
        """Drop a column for re-adding; its keys stay."""
        draft = self.require(name)
        self.columns.remove(draft)
        return draft

    def doubt_keys(self, renamed: ColumnDraft, *, behind: ColumnDraft | None) -> None:
        """Doubt the keys of a renamed column behind one that was added by its old name.

        The servers look for a key's column by its old name, from the first column on.
        """
        if behind is None or self.columns.index(renamed) < self.columns.index(behind):
            return
        for key in self.keys:
            if any(part is renamed for part, _ in key.parts):
                key.beyond = f"column {behind.column.name} was renamed, and another added before it"

    def drop_column(self, name: str) -> None:
        """Drop a column and emptied keys."""
        draft = self.require(name)
        self.columns.remove(draft)
        for key in self.keys:
            key.parts = [part for part in key.parts if part[0] is not draft]
        self.keys = [key for key in self.keys if key.parts or key.beyond]
        self.foreign_keys = [key for key in self.foreign_keys if draft not in key.columns]

    def convert(self) -> None:
        """Apply CONVERT TO to every text column, also to one that the statement defines."""
        for draft in self.columns:
            column = draft.column
            is_text = column.type_name in CHARACTER_TYPES and column.collation != "binary"
            # MariaDB's JSON is a text.
            if is_text or (column.type_name == "json" and self.is_mariadb):
                draft.column = replace(
                    column, charset=self.options.charset, collation=self.options.collation
                )

    def settle_dumped_collations(self) -> set[str]:
        """Set the collations that a dump omits, and return them."""
        found = set()
        for draft in self.columns:
            if draft.column.charset and not draft.column.collation:
                collation = dumped_collation(draft.column.charset)
                draft.column = replace(draft.column, collation=collation)
                found.add(collation)
        return found

    # Keys

    def key(self, name: str) -> KeyDraft | None:
        """Return an index by name, ignoring case."""
        wanted = name.lower()
        return next((key for key in self.keys if key.name.lower() == wanted), None)

    def add_key(self, definition: KeyDefinition) -> None:
        """Add an index with the server's naming."""
        named = [(self.require(name), prefix) for name, prefix in definition.parts]
        parts = [(draft, _prefix(prefix, draft.column)) for draft, prefix in named]
        name = definition.name or self._generated_name(definition)
        if self.key(name):
            raise Contradiction(f"there is a key {name} already")
        if definition.is_primary:
            for draft, _ in parts:
                draft.column = replace(draft.column, nullable=False)
        beyond = definition.beyond
        if any(draft.column.type_name in SPATIAL_TYPES for draft, _ in parts):
            beyond = _SPATIAL
        self.keys.append(KeyDraft(name, parts, definition.is_unique, beyond))

    def _generated_name(self, definition: KeyDefinition) -> str:
        base = "functional_index" if definition.is_named_functional else definition.parts[0][0]
        name, count = base, 1
        while self.key(name):
            count += 1
            name = f"{base}_{count}"
        return name

    def drop_key(self, name: str) -> bool:
        """Drop an index; return whether it existed."""
        key = self.key(name)
        if key is None:
            return False
        self.keys.remove(key)
        return True

    def add_foreign_key(self, definition: ForeignKeyDefinition, *, assumed: bool = False) -> None:
        """Add a foreign key with InnoDB's naming."""
        self.foreign_keys.append(
            ForeignKeyDraft(
                name=definition.name or self._generated_foreign_key_name(),
                columns=[self.require(name) for name in definition.columns],
                parent=definition.parent.within(self.schema),
                parent_columns=definition.parent_columns,
                on_delete=definition.on_delete,
                on_update=definition.on_update,
                assumed=assumed,
            )
        )

    def _generated_foreign_key_name(self) -> str:
        prefix = self.name.partition(".")[2] + "_ibfk_"
        taken = [key.name.removeprefix(prefix) for key in self.foreign_keys]
        numbers = [int(text) for text in taken if text.isdecimal() and len(text) < 20]
        return f"{prefix}{max(numbers, default=0) + 1}"

    def drop_foreign_key(self, name: str) -> None:
        """Drop a foreign key, if it exists."""
        wanted = name.lower()
        self.foreign_keys = [key for key in self.foreign_keys if key.name.lower() != wanted]

    def rename(self, name: str) -> None:
        """Rename the table and generated foreign keys."""
        old, new = (each.partition(".")[2] + "_ibfk_" for each in (self.name, name))
        for key in self.foreign_keys:
            if key.name.startswith(old):
                key.name = new + key.name.removeprefix(old)
        self.name = name


def _characters(column: Column) -> int:
    """Return the length of CHAR, VARCHAR and their byte strings; 0 for others."""
    return column.length if column.type_name in _WITH_LENGTH else 0


def _may_leave_a_prefix(column: Column) -> bool:
    """Return whether an ENUM or SET that becomes text leaves a key its bytes as a prefix."""
    # One or two bytes are less than a character of these, so the whole column is the part.
    is_wide = column.charset in ("utf8mb3", "utf8mb4", "utf16", "utf32")
    return column.type_name == "set" or (column.type_name == "enum" and not is_wide)


def _prefix(size: int, column: Column) -> int:
    """Return the prefix length that a key part has on a column: 0 where it covers the column."""
    length = _characters(column)
    if column.type_name not in _WITH_PREFIX | {""} or 0 < length <= size:
        return 0
    return size


def _may_hide_columns(key: KeyDraft) -> bool:
    """Return whether row images may show its expression (MySQL), or a hash of texts (MariaDB)."""
    whole = [one.column for one, size in key.parts if not size]
    sizes = [_characters(each) or _HASHED for each in whole if each.type_name in _WITH_PREFIX]
    return bool(key.beyond) or (key.is_unique and sum(sizes) >= _HASHED)


def draft_of(schema: TableSchema) -> TableDraft:
    """Return a draft of table-map metadata."""
    columns = [ColumnDraft(column) for column in schema.columns]
    return TableDraft(
        name=schema.name,
        columns=columns,
        keys=[
            KeyDraft(
                key.name, [(columns[one.column], one.prefix_length) for one in key.parts], True
            )
            for key in schema.unique_keys
        ],
        keys_known=schema.keys_known,
        keys_complete=schema.keys_complete,
        sources=set(schema.sources) or {SchemaSource.TABLE_MAP},
        unknown_because=schema.unknown_because,
    )


@dataclass(frozen=True, slots=True)
class DatedTable:
    """A dumped table with its definition at each time between the log's ALTERs of it."""

    name: str
    states: tuple[TableDraft | None, ...] = (None,)
    """Before the first ALTER, and after each; None where unknown."""


def _order(key: KeyDraft) -> tuple[bool, bool, bool, bool]:
    """Order as ``sort_keys`` of the servers: what partial images name a row by comes first."""
    is_primary = key.name == "PRIMARY"
    has_null = any(draft.column.nullable for draft, _ in key.parts) and not is_primary
    has_prefix = any(prefix for _, prefix in key.parts)
    return not is_primary, has_null, has_prefix, any(draft.column.virtual for draft, _ in key.parts)
