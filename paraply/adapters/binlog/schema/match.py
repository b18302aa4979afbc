"""Comparison of definitions: with each other, and with the metadata of table maps."""

from __future__ import annotations

from dataclasses import replace

from paraply.adapters.binlog.keys.collation_names import charset_of
from paraply.adapters.binlog.schema.ddl_elements import SPATIAL_TYPES
from paraply.adapters.binlog.schema.tables import TableDraft
from paraply.vocabulary.counting import counted
from paraply.vocabulary.schema import Column, SchemaSource, TableSchema

_FAMILIES = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint"), ""),
    **dict.fromkeys(("char", "varchar", "binary", "varbinary", "uuid", "inet4", "inet6"), "string"),
    **dict.fromkeys(
        ("tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "mediumblob"), "blob"
    ),
    **dict.fromkeys(SPATIAL_TYPES, "geometry"),
    "longblob": "blob", "json": "blob", "float": "floating", "double": "floating",
}  # fmt: skip
"""Types that share one wire type."""


def family(type_name: str) -> str:
    """Return the family; text and bytes share one."""
    first = type_name.partition(" ")[0]
    return _FAMILIES.get(first, first) or first


def mismatch(known: TableSchema, metadata: TableSchema) -> str:
    """Return why a table map contradicts, or empty."""
    if not known.columns:
        return ""
    extra = len(metadata.columns) - len(known.columns)
    if extra and (extra < 0 or not known.has_hidden_columns):
        return (
            f"it was known with {counted(len(known.columns), 'column')} ({_from(known)}), "
            f"the log has {len(metadata.columns)}"
        )
    for position, (ours, theirs) in enumerate(
        zip(known.columns, metadata.columns, strict=False), start=1
    ):
        if not _fits(ours, theirs):
            return (
                f"column {position} was known as {ours.name} {ours.type_name} ({_from(known)}), "
                f"the log has {theirs.name} {theirs.type_name}"
            )
    # Column names come with full metadata only, and then a missing primary key is missing.
    tells_primary = bool(metadata.unique_keys) or not metadata.columns[0].name.startswith("@")
    if tells_primary and known.keys_complete and not _same_primary(known, metadata):
        return f"its primary key in the log differs from that known ({_from(known)})"
    return ""


def _same_primary(known: TableSchema, metadata: TableSchema) -> bool:
    """MariaDB logs a NOT NULL UNIQUE key as primary if none exists."""
    theirs = [key.parts for key in metadata.unique_keys if key.name == "PRIMARY"]
    ours = [key.parts for key in known.unique_keys if key.name == "PRIMARY"]
    if ours or not theirs:
        return ours == theirs
    return any(key.parts == theirs[0] for key in known.unique_keys)


def _fits(ours: Column, theirs: Column) -> bool:
    if not theirs.type_name or not ours.type_name:
        return True
    if not theirs.name.startswith("@") and theirs.name.lower() != ours.name.lower():
        return False
    one, two = family(ours.type_name), family(theirs.type_name)
    # MariaDB's VECTOR travels as VARBINARY, its JSON as LONGTEXT; MySQL has types for both.
    return one == two or {one, two} <= {"json", "blob"} or {one, two} <= {"vector", "string"}


def shows(column: Column, metadata: Column) -> bool:
    """Return whether a table map shows the type, length, collation and NULL of a column."""
    is_text = bool(column.collation or column.charset)
    return (
        _fits(column, metadata)
        and column.nullable == metadata.nullable
        and (not is_text or column.collation == metadata.collation != "")
        and (not is_text or column.length == metadata.length)
    )


def _from(known: TableSchema) -> str:
    return ", ".join(sorted(source.value for source in known.sources))


def adopt_metadata(draft: TableDraft, metadata: TableSchema) -> bool:
    """Adopt collations and signedness; return whether any changed."""
    changed = False
    for ours, theirs in zip(draft.columns, metadata.columns, strict=False):
        column = ours.column
        if theirs.collation and theirs.collation != column.collation:
            charset = "" if theirs.collation == "binary" else charset_of(theirs.collation)
            column = replace(column, collation=theirs.collation, charset=charset)
        if theirs.unsigned and not column.unsigned:
            column = replace(column, unsigned=True)
        if column is not ours.column:
            ours.column = column
            changed = True
    if SchemaSource.TABLE_MAP not in draft.sources:
        draft.sources.add(SchemaSource.TABLE_MAP)
        changed = True
    return changed


def same_definition(one: TableDraft, other: TableDraft) -> bool:
    """Return whether columns and indexes are equal, the latter in any order."""
    return _definition(one) == _definition(other)


def same_keys(one: TableDraft, other: TableDraft) -> bool:
    """Return whether the same rows have equal keys, whatever the columns outside of them are."""
    keys = _keys(one)
    return same_definition(one, other) or (keys is not None and keys == _keys(other))


def _keys(draft: TableDraft) -> tuple[object, ...] | None:
    """Return the keys with their columns; None if all columns together name a row."""
    frozen = draft.freeze()
    if not frozen.unique_keys:
        return None
    columns = _settled(frozen)
    parts = {part.column for key in frozen.unique_keys for part in key.parts}
    parts |= {column for key in frozen.foreign_keys for column in key.columns}
    return (
        len(columns),
        {column: columns[column] for column in parts},
        sorted(frozen.unique_keys, key=lambda key: key.name),
        sorted(frozen.foreign_keys, key=lambda key: key.name),
        frozen.keys_known, frozen.keys_complete, frozen.foreign_keys_known,
        frozen.has_hidden_columns,
    )  # fmt: skip


def _definition(draft: TableDraft) -> tuple[object, ...]:
    frozen = draft.freeze()
    indexes = [
        (key.name, [(part.column.name, prefix) for part, prefix in key.parts], key.is_unique)
        for key in draft.keys
    ]
    return (
        _settled(frozen),
        sorted(frozen.unique_keys, key=lambda key: key.name),
        sorted(frozen.foreign_keys, key=lambda key: key.name),
        sorted(indexes),
    )


def _settled(table: TableSchema) -> tuple[Column, ...]:
    """Return the columns without what has no meaning: NULL as the default of a NOT NULL column."""
    return tuple(
        one if one.nullable else replace(one, omitted_is_null=False) for one in table.columns
    )
