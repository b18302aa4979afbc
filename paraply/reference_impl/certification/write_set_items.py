"""Write-set items in the server's format: one hashed text per key value of a changed row.

The text has index name, schema, table and key values, each but the first before its length:
``PRIMARY½test½4t1½21½1`` is row 1 of test.t1.

Source: ``add_pke`` in sql/rpl_write_set_handler.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from paraply.reference_impl.certification.sort_keys import sort_key
from paraply.reference_impl.certification.xxh64 import xxh64
from paraply.vocabulary.log import ABSENT, RowImage
from paraply.vocabulary.schema import Column, ForeignKey, TableSchema, UniqueKey
from paraply.vocabulary.write_set import WriteSet

SEPARATOR = "½".encode()


@dataclass(frozen=True, kw_only=True)
class ItemComposer:
    """Composes row changes' items; ``tables`` has keys ``schema.table``."""

    tables: Mapping[str, TableSchema] = field(default_factory=dict)
    foreign_key_checks: bool = True

    def write_set(
        self, table: TableSchema, before: RowImage | None, after: RowImage | None
    ) -> WriteSet:
        """Return the hashed items of both images."""
        return frozenset(xxh64(text) for text in self.compose(table, before, after))

    def compose(
        self, table: TableSchema, before: RowImage | None, after: RowImage | None
    ) -> tuple[bytes, ...]:
        """Return texts, before image first."""
        texts: list[bytes] = []
        for image in (before, after):
            if image is not None:
                for key in table.unique_keys:
                    texts.extend(self.unique_key_items(table, key, image))
                for foreign_key in table.foreign_keys:
                    texts.extend(self.parent_items(foreign_key, table, image))
        return tuple(dict.fromkeys(texts))

    def unique_key_items(
        self, table: TableSchema, key: UniqueKey, image: RowImage
    ) -> Iterator[bytes]:
        """Yield the items of one PRIMARY or UNIQUE key; none if a part is NULL.

        A prefix key yields prefixes and whole columns: versions before the fix of bug 111027
        compose the latter.
        """
        columns = [table.columns[part.column] for part in key.parts]
        values = [image[part.column] for part in key.parts]
        if any(value is None or value is ABSENT for value in values):
            return
        head = head_of(key.name, table.name)
        # An index over a JSON array contains each element.
        alternatives = [value if isinstance(value, list) else [value] for value in values]
        prefixes = tuple(part.prefix_length for part in key.parts)
        for elements in product(*alternatives):
            for lengths in dict.fromkeys([prefixes, (0,) * len(prefixes)]):
                yield head + b"".join(map(value_text, columns, elements, lengths))

    def parent_items(
        self, foreign_key: ForeignKey, table: TableSchema, image: RowImage
    ) -> Iterator[bytes]:
        """Yield a child's item for its parent row.

        The parent's unique key composes the same text, so child and parent conflict, as do two
        children (bug 110071). The text omits NULL parts. Other references have no item.
        """
        parent = self.tables.get(foreign_key.parent)
        if parent is None or not self.foreign_key_checks:
            return
        key = referenced_key(parent, foreign_key)
        if key is None:
            return
        text = head_of(key.name, parent.name)
        for position, part in zip(foreign_key.columns, key.parts, strict=True):
            if image[position] is not None and image[position] is not ABSENT:
                text += value_text(table.columns[position], image[position], part.prefix_length)
        yield text


def value_text(column: Column, value: object, prefix_length: int) -> bytes:
    """Return a key value's bytes, sort key or text, with length."""
    if prefix_length and isinstance(value, str | bytes):
        value = value[:prefix_length]
    if isinstance(value, str) and column.collation:
        value = sort_key(value, column.collation)
    return with_length(value if isinstance(value, bytes) else str(value).encode())


def head_of(index: str, table: str) -> bytes:
    """Return the text before the values."""
    schema_name, _, table_name = table.partition(".")
    return (
        index.encode()
        + SEPARATOR
        + with_length(schema_name.encode())
        + with_length(table_name.encode())
    )


def with_length(text: bytes) -> bytes:
    """Return ``text`` with separator and length."""
    return text + SEPARATOR + str(len(text)).encode()


def referenced_key(parent: TableSchema, foreign_key: ForeignKey) -> UniqueKey | None:
    """Return the referenced unique key."""
    for key in parent.unique_keys:
        names = tuple(parent.columns[part.column].name for part in key.parts)
        if names == foreign_key.parent_columns:
            return key
    return None
