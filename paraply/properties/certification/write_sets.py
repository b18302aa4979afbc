"""Rows have their images, and those with a common key share a write set item.

Compares keys by rows and schema, without hashes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import hashed_items, keyed_rows, prefix_keys
from paraply.vocabulary.history import History
from paraply.vocabulary.log import ABSENT, Operation, RowImage
from paraply.vocabulary.schema import Column, TableSchema, UniqueKey
from paraply.vocabulary.transactions import Transaction, TransactionId

KeyValue = tuple[str, str, tuple[object, ...]]
"""Table, index, and folded values."""
Meeting = tuple[Transaction, Transaction, KeyValue]
"""Two transactions and their common key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingUnseen(Violation):
    """Transactions with a common key share no item."""

    earlier: TransactionId
    later: TransactionId
    table: str
    index: str

    def __str__(self) -> str:
        return (
            f"T{self.earlier} and T{self.later} have one key of {self.table}.{self.index}, "
            "and their write sets share no item"
        )


class ParentUnseen(MeetingUnseen):
    """A child row and changed parent share no item."""

    __slots__ = ()


class WholeValueUnseen(MeetingUnseen):
    """Transactions with a common value of a prefix key share too few items."""

    __slots__ = ()

    def __str__(self) -> str:
        return (
            f"T{self.earlier} and T{self.later} have one value of {self.table}.{self.index}, and "
            "no common item of the whole value, only of its prefix"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedWithoutMeeting(Violation):
    """Transactions share an item and no key."""

    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return f"T{self.earlier} and T{self.later} share an item, but no key and no parent row"


def _images(transaction: Transaction, history: History) -> Iterator[tuple[TableSchema, RowImage]]:
    for table, image in _all_images(transaction, history):
        if _fits(table, image):
            yield table, image


def _all_images(
    transaction: Transaction, history: History
) -> Iterator[tuple[TableSchema, RowImage]]:
    tables = _tables(history)
    for row in transaction.rows:
        for image in (row.before, row.after):
            if image is not None and row.table in tables:
                yield tables[row.table], image


def _tables(history: History) -> dict[str, TableSchema]:
    return {table.name: table for table in history.header.schema}


def _fits(table: TableSchema, image: RowImage) -> bool:
    return _is_sound(table) and len(image) == len(table.columns)


def _is_sound(table: TableSchema) -> bool:
    """Return whether the keys are of the table's columns; a history may be damaged."""
    of_keys = [part.column for key in table.unique_keys for part in key.parts]
    of_parents = [column for one in table.foreign_keys for column in one.columns]
    return all(0 <= column < len(table.columns) for column in (*of_keys, *of_parents))


def _has_known_rows(transaction: Transaction, history: History) -> bool:
    is_described = {row.table for row in transaction.rows} <= _tables(history).keys()
    images = _all_images(transaction, history)
    return bool(transaction.rows) and is_described and all(_fits(*each) for each in images)


def _rows_of_another_shape(history: History) -> Iterator[str]:
    for one in history.transactions:
        for table, image in _all_images(one, history):
            if not _fits(table, image):
                yield f"a row of T{one.id} does not fit the columns of {table.name}"


@sometimes(of=hashed_items, source="sql/rpl_write_set_handler.cc: add_pke")
def two_transactions_meet_nowhere(history: History) -> bool:
    """Two transactions change rows without a common key or parent row."""
    return any(True for _ in _strangers(history))


@always(
    of=hashed_items,
    source="sql/rpl_write_set_handler.cc: add_pke",
    witness=two_transactions_meet_nowhere,
    gaps=(_rows_of_another_shape,),
    is_safety=False,
)
def items_are_shared_for_a_reason(history: History) -> list[SharedWithoutMeeting]:
    """Two transactions without a common key or parent row share no item.

    Otherwise a replica applies them one after the other for nothing.
    """
    return [
        SharedWithoutMeeting(earlier=earlier.id, later=later.id)
        for earlier, later in _strangers(history)
        if not earlier.write_set.isdisjoint(later.write_set)
    ]


@sometimes(of=hashed_items, source="sql/rpl_write_set_handler.cc: a key with a NULL part")
def a_null_keeps_two_rows_apart(history: History) -> bool:
    """Two rows without a common key or parent are equal in a key of several columns, one NULL."""
    return any(
        not _null_keys_of(earlier, history).isdisjoint(_null_keys_of(later, history))
        for earlier, later in _strangers(history)
    )


@sometimes(of=keyed_rows, source="sql/rpl_write_set_handler.cc: add_pke")
def two_transactions_meet_in_a_key(history: History) -> bool:
    """Two transactions change rows with an equal PRIMARY or UNIQUE key."""
    return any(True for _ in _meetings(history))


@sometimes(of=keyed_rows, source="sql/rpl_write_set_handler.cc: both images of an update are added")
def an_update_to_or_from_null_meets_a_key(history: History) -> bool:
    """Two transactions have one key alone in common, which one sets from or to NULL."""
    keys = {one.id: _keys_of(one, history) for one in history.transactions}
    nulled = {one.id: _nulled_keys_of(one, history) for one in history.transactions}
    return any(
        len(keys[earlier.id] & keys[later.id]) == 1
        and common in nulled[earlier.id] | nulled[later.id]
        for earlier, later, common in _meetings(history)
    )


@sometimes(of=keyed_rows, source="sql/rpl_write_set_handler.cc: foreign keys")
def a_child_meets_its_parent(history: History) -> bool:
    """Two transactions change a child row and its parent row."""
    return any(True for _ in _family_meetings(history))


@always(
    of=keyed_rows,
    source="bugs 86078, 89141 and 111027; sql/rpl_write_set_handler.cc",
    witness=two_transactions_meet_in_a_key,
    gaps=(_rows_of_another_shape,),
)
def equal_keys_share_an_item(history: History) -> list[MeetingUnseen]:
    """Two transactions whose rows have an equal key share an item.

    Compares all images by collation and indexed prefix. NULL equals nothing.
    """
    return _unseen(MeetingUnseen, _meetings(history))


@always(
    of=prefix_keys,
    source="bug 111027: versions before its fix compose whole columns",
    witness=lambda history: sum(1 for _ in _whole_meetings(history)),
    gaps=(_rows_of_another_shape,),
)
def whole_values_have_items_of_their_own(history: History) -> list[MeetingUnseen]:
    """Transactions with an equal value of a prefix key share an item of all of it, too."""
    return [
        WholeValueUnseen(earlier=earlier.id, later=later.id, table=table, index=index)
        for earlier, later, (table, index, _), least in _whole_meetings(history)
        if 0 < len(earlier.write_set & later.write_set) < least
    ]


@always(
    of=keyed_rows,
    source="bug 110071; sql/rpl_write_set_handler.cc: foreign keys",
    witness=a_child_meets_its_parent,
    gaps=(_rows_of_another_shape,),
)
def children_share_an_item_with_their_parents(history: History) -> list[MeetingUnseen]:
    """A transaction that changes a child row shares an item with those that change its parent."""
    return _unseen(ParentUnseen, _family_meetings(history))


def _unseen(kind: type[MeetingUnseen], meetings: Iterator[Meeting]) -> list[MeetingUnseen]:
    return [
        kind(earlier=earlier.id, later=later.id, table=table, index=index)
        for earlier, later, (table, index, _) in meetings
        if earlier.write_set.isdisjoint(later.write_set)
    ]


def _meetings(history: History) -> Iterator[Meeting]:
    keys = {one.id: _keys_of(one, history) for one in history.transactions}
    for earlier, later in combinations(history.transactions, 2):
        for common in sorted(keys[earlier.id] & keys[later.id], key=repr):
            yield earlier, later, common


def _whole_meetings(history: History) -> Iterator[tuple[Transaction, Transaction, KeyValue, int]]:
    """Yield two transactions, a common value that has more than its prefix, and the least number
    of items that they share: one for each value and each prefix."""
    prefixes = {one.id: _keys_of(one, history) for one in history.transactions}
    wholes = {one.id: _keys_of(one, history, is_whole=True) for one in history.transactions}
    for earlier, later in combinations(history.transactions, 2):
        common = prefixes[earlier.id] & prefixes[later.id]
        longer = wholes[earlier.id] & wholes[later.id] - common
        for one in sorted(longer, key=repr):
            yield earlier, later, one, len(common | longer)


def _family_meetings(history: History) -> Iterator[Meeting]:
    keys = {one.id: _keys_of(one, history) for one in history.transactions}
    parents = {one.id: _parent_keys_of(one, history) for one in history.transactions}
    for earlier, later in combinations(history.transactions, 2):
        met = keys[earlier.id] & parents[later.id] | parents[earlier.id] & keys[later.id]
        for common in sorted(met, key=repr):
            yield earlier, later, common


def _strangers(history: History) -> Iterator[tuple[Transaction, Transaction]]:
    keys = {
        one.id: _keys_of(one, history) | _parent_keys_of(one, history)
        for one in history.transactions
        if _has_known_rows(one, history)
    }
    for earlier, later in combinations([one for one in history.transactions if one.id in keys], 2):
        if keys[earlier.id].isdisjoint(keys[later.id]):
            yield earlier, later


def _keys_of(
    transaction: Transaction, history: History, *, is_whole: bool = False
) -> frozenset[KeyValue]:
    """Return the key values, cut to the indexed prefixes unless whole."""
    found: set[KeyValue] = set()
    for table, image in _images(transaction, history):
        for key in table.unique_keys:
            values = [image[part.column] for part in key.parts]
            if None not in values and ABSENT not in values:
                found.add((table.name, key.name, _fold_key(table, key, image, is_whole)))
    return frozenset(found)


def _nulled_keys_of(transaction: Transaction, history: History) -> frozenset[KeyValue]:
    """Return the keys of one image of an update for which the other has NULL."""
    tables = _tables(history)
    return frozenset(
        (table.name, key.name, _fold_key(table, key, image, is_whole=False))
        for row in transaction.rows
        if (table := tables.get(row.table)) is not None
        for image, other in ((row.before, row.after), (row.after, row.before))
        if image is not None and other is not None
        if _fits(table, image) and _fits(table, other)
        for key in table.unique_keys
        if None in [other[part.column] for part in key.parts]
    )


def _null_keys_of(transaction: Transaction, history: History) -> frozenset[KeyValue]:
    return frozenset(
        (table.name, key.name, _fold_key(table, key, image, is_whole=False))
        for table, image in _images(transaction, history)
        for key in table.unique_keys
        if len(key.parts) > 1 and None in [image[part.column] for part in key.parts]
    )


def _parent_keys_of(transaction: Transaction, history: History) -> frozenset[KeyValue]:
    tables = _tables(history)
    found: set[KeyValue] = set()
    for table, image in _images(transaction, history):
        for foreign_key in table.foreign_keys:
            values = [image[column] for column in foreign_key.columns]
            parent = tables.get(foreign_key.parent)
            if parent is None or not _is_sound(parent) or None in values or ABSENT in values:
                continue
            for key in parent.unique_keys:
                names = tuple(parent.columns[part.column].name for part in key.parts)
                if names == foreign_key.parent_columns:
                    folded = tuple(
                        _fold(parent.columns[part.column], value, part.prefix_length)
                        for part, value in zip(key.parts, values, strict=True)
                    )
                    found.add((parent.name, key.name, folded))
    return frozenset(found)


def _fold_key(
    table: TableSchema, key: UniqueKey, image: RowImage, is_whole: bool
) -> tuple[object, ...]:
    return tuple(
        _fold(table.columns[part.column], image[part.column], 0 if is_whole else part.prefix_length)
        for part in key.parts
    )


def _fold(column: Column, value: object, prefix_length: int) -> object:
    if not isinstance(value, str):
        return value
    text = value[:prefix_length] if prefix_length else value
    if "_0900_" not in column.collation and column.collation != "binary":
        text = text.rstrip(" ")
    if column.collation.endswith("_ci"):
        plain = unicodedata.normalize("NFKD", text.casefold())
        if "_as_" not in column.collation:
            plain = "".join(mark for mark in plain if not unicodedata.combining(mark))
        return plain
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagesDiffer(Violation):
    """A row change lacks an image, or has one too many."""

    transaction: TransactionId
    operation: Operation

    def __str__(self) -> str:
        operation = self.operation.value
        return f"T{self.transaction} has images of a row that are not those of an {operation}"


def logged_rows(history: History) -> bool:
    """Transactions have row changes."""
    return any(one.rows for one in history.transactions)


@always(
    of=logged_rows,
    source="WRITE_ROWS_EVENT, UPDATE_ROWS_EVENT, DELETE_ROWS_EVENT: before and after images",
    witness=lambda history: sum(len(one.rows) for one in history.transactions),
)
def row_changes_have_their_images(history: History) -> tuple[ImagesDiffer, ...]:
    """An insert has an after image, a delete a before image, and an update both."""
    return tuple(
        ImagesDiffer(transaction=one.id, operation=row.operation)
        for one in history.transactions
        for row in one.rows
        if (row.before is None, row.after is None)
        != (row.operation is Operation.INSERT, row.operation is Operation.DELETE)
    )
