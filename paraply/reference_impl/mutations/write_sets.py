"""Mutants of write-set extraction."""

from __future__ import annotations

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from collections.abc import Iterator

from paraply.reference_impl.certification.write_set_items import ItemComposer, head_of, with_length
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.reference_impl.write_set_subject import WriteSetSubject
from paraply.vocabulary.log import RowImage
from paraply.vocabulary.schema import Column, ForeignKey, KeyPart, TableSchema, UniqueKey
from paraply.vocabulary.write_set import WriteSet

FAMILY = "write sets"


def mutate(
    name: str,
    source: str,
    fault: str,
    composer: type[ItemComposer],
    caught_by: str = "equal_keys_share_an_item",
) -> None:
    """Register a composer mutant."""
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=WriteSetSubject(composer),
            workload=Workload(transactions=6),
        )
    )


class RawBytes(ItemComposer):
    """Hashes use text without sort keys."""

    def value_text(self, column: Column, value: object) -> bytes:
        return str(value).encode()


mutate(
    "raw_bytes_are_hashed",
    "bug 86078",
    "Two values that the collation calls equal are two items.",
    RawBytes,
)


class WholeColumns(ItemComposer):
    """Prefix indexes hash whole columns."""

    def part_text(self, column: Column, value: object, part: KeyPart) -> bytes:
        return with_length(self.value_text(column, value))


mutate(
    "whole_column_is_hashed",
    "bug 111027",
    "Two values that are equal in the indexed prefix are two items.",
    WholeColumns,
)


class NoParents(ItemComposer):
    """Foreign keys add nothing."""

    def parent_items(
        self, foreign_key: ForeignKey, table: TableSchema, image: RowImage
    ) -> Iterator[bytes]:
        yield from ()


mutate(
    "parents_are_left_out",
    "bug 110071 in reverse",
    "A child row and its parent row share no item.",
    NoParents,
    caught_by="children_share_an_item_with_their_parents",
)


class AfterImageOnly(ItemComposer):
    """Before images count only without after images."""

    def compose(
        self, table: TableSchema, before: RowImage | None, after: RowImage | None
    ) -> tuple[bytes, ...]:
        return super().compose(table, None if after is not None else before, after)


mutate(
    "before_images_are_left_out",
    "rpl_write_set_handler.cc: both images of an update are added",
    "An update that gives a key value up does not meet the one that takes it.",
    AfterImageOnly,
)


class PrimaryOnly(ItemComposer):
    """Only PRIMARY is hashed."""

    def unique_key_items(
        self, table: TableSchema, key: UniqueKey, image: RowImage
    ) -> Iterator[bytes]:
        if key.name == "PRIMARY":
            yield from super().unique_key_items(table, key, image)


mutate(
    "only_the_primary_key_is_hashed",
    "rpl_write_set_handler.cc: PRIMARY and every UNIQUE key",
    "Two rows that meet in a UNIQUE key are two items.",
    PrimaryOnly,
)


class LengthsLeftOut(ItemComposer):
    """The parent's table name lacks its length."""

    def parent_items(
        self, foreign_key: ForeignKey, table: TableSchema, image: RowImage
    ) -> Iterator[bytes]:
        for text in super().parent_items(foreign_key, table, image):
            yield text.replace(head_of("PRIMARY", foreign_key.parent), b"PRIMARY", 1)


mutate(
    "parent_is_composed_otherwise",
    "rpl_write_set_handler.cc: the child composes the text that the parent composes",
    "Child and parent name the parent's key in two ways.",
    LengthsLeftOut,
    caught_by="children_share_an_item_with_their_parents",
)


class OneItemForAll(ItemComposer):
    """Every change has one and the same item."""

    def write_set(
        self, table: TableSchema, before: RowImage | None, after: RowImage | None
    ) -> WriteSet:
        return frozenset({0})


mutate(
    "every_change_has_one_item",
    "sql/rpl_write_set_handler.cc: add_pke",
    "All transactions conflict, so replicas apply one after the other.",
    OneItemForAll,
    caught_by="items_are_shared_for_a_reason",
)


class TablesAreLeftOut(ItemComposer):
    """Items of two tables are equal where their keys are."""

    def compose(
        self, table: TableSchema, before: RowImage | None, after: RowImage | None
    ) -> tuple[bytes, ...]:
        name, plain = table.name.encode(), with_length(b"")
        texts = super().compose(table, before, after)
        return tuple(text.replace(with_length(name.partition(b".")[2]), plain) for text in texts)


mutate(
    "items_leave_out_the_table",
    "sql/rpl_write_set_handler.cc: add_pke",
    "Rows of two tables with equal keys have one item.",
    TablesAreLeftOut,
    caught_by="items_are_shared_for_a_reason",
)
