"""Write-set items: composed and hashed as the server does."""

from __future__ import annotations

import pytest

from paraply.reference_impl.certification.sort_keys import sort_key
from paraply.reference_impl.certification.write_set_items import ItemComposer, head_of
from paraply.vocabulary.log import ABSENT
from paraply.vocabulary.schema import Column, ForeignKey, KeyPart, TableSchema, UniqueKey

ID = Column(name="id", type_name="int")
NAME = Column(name="name", type_name="varchar", collation="utf8mb4_general_ci")
PRIMARY = UniqueKey(name="PRIMARY", parts=(KeyPart(column=0),))


def table(*columns, keys=(PRIMARY,), foreign_keys=(), name="test.t1"):
    return TableSchema(
        name=name,
        columns=columns,
        unique_keys=keys,
        foreign_keys=foreign_keys,
        keys_known=True,
        keys_complete=True,
    )


T1 = table(ID)
PARENT = table(ID, name="test.parent")


def texts(schema, before, after, **options):
    composed = ItemComposer(**options).compose(schema, before, after)
    return [text.decode() for text in composed]


def test_published_row_composes_and_hashes_to_the_servers_number():
    assert texts(T1, None, (1,)) == ["PRIMARY½test½4t1½21½1"]
    assert ItemComposer().write_set(T1, None, (1,)) == {340395741608101502}


def test_update_of_a_key_yields_the_old_and_the_new_row():
    assert texts(T1, (1,), (22,)) == ["PRIMARY½test½4t1½21½1", "PRIMARY½test½4t1½222½2"]


def test_update_that_keeps_the_key_yields_it_once():
    schema = table(ID, NAME)
    assert texts(schema, (1, "a"), (1, "b")) == ["PRIMARY½test½4t1½21½1"]


def test_every_unique_key_yields_an_item_and_one_with_null_none():
    unique = UniqueKey(name="uk", parts=(KeyPart(column=1),))
    schema = table(ID, Column(name="n", type_name="int"), keys=(PRIMARY, unique))
    assert texts(schema, None, (1, 7)) == ["PRIMARY½test½4t1½21½1", "uk½test½4t1½27½1"]
    assert texts(schema, None, (1, None)) == ["PRIMARY½test½4t1½21½1"]
    assert texts(schema, None, (1, ABSENT)) == ["PRIMARY½test½4t1½21½1"]


@pytest.mark.parametrize("part", [(None, 7), (7, None)])
def test_null_in_one_part_leaves_out_a_key_of_several_columns(part):
    unique = UniqueKey(name="uk", parts=(KeyPart(column=1), KeyPart(column=2)))
    numbers = [Column(name=name, type_name="int") for name in "nm"]
    schema = table(ID, *numbers, keys=(PRIMARY, unique))
    assert texts(schema, None, (1, *part)) == ["PRIMARY½test½4t1½21½1"]


def test_table_without_key_yields_nothing():
    assert texts(table(ID, keys=()), None, (1,)) == []


def test_bug_86078_values_equal_under_the_collation_are_one_item():
    unique = UniqueKey(name="uk", parts=(KeyPart(column=1),))
    schema = table(ID, NAME, keys=(PRIMARY, unique))
    deleted = ItemComposer().write_set(schema, (1, "C"), None)
    inserted = ItemComposer().write_set(schema, None, (2, "c"))
    assert len(deleted & inserted) == 1


def test_bug_111027_values_equal_in_the_indexed_prefix_are_one_item():
    unique = UniqueKey(name="uk", parts=(KeyPart(column=1, prefix_length=2), KeyPart(column=0)))
    schema = table(ID, NAME, keys=(unique,))
    # The second item, of whole columns, is for members that do not know prefixes.
    first = texts(schema, None, (1, "abc"))
    assert first == ["uk½test½4t1½2ab½21½1", "uk½test½4t1½2abc½31½1"]
    assert set(first) & set(texts(schema, None, (1, "abd"))) == {"uk½test½4t1½2ab½21½1"}


def test_element_of_a_multi_valued_index_is_an_item_of_its_own():
    tags = UniqueKey(name="tags", parts=(KeyPart(column=1),))
    schema = table(ID, Column(name="tags", type_name="json"), keys=(tags,))
    assert texts(schema, None, (1, ["x", "y"])) == ["tags½test½4t1½2x½1", "tags½test½4t1½2y½1"]


def child(parent_columns=("id",)):
    reference = ForeignKey(
        name="fk", columns=(1,), parent="test.parent", parent_columns=parent_columns
    )
    return table(
        ID, Column(name="parent", type_name="int"), foreign_keys=(reference,), name="test.child"
    )


def test_child_row_meets_its_parent_in_an_item():
    tables = {"test.parent": PARENT}
    composer = ItemComposer(tables=tables)
    inserted = composer.write_set(child(), None, (1, 5))
    deleted = composer.write_set(PARENT, (5,), None)
    assert len(inserted & deleted) == 1


def test_bug_110071_two_children_of_one_parent_meet_too():
    composer = ItemComposer(tables={"test.parent": PARENT})
    first = composer.write_set(child(), None, (1, 5))
    second = composer.write_set(child(), None, (2, 5))
    assert len(first & second) == 1


@pytest.mark.parametrize(
    ("options", "schema"),
    [
        ({"tables": {"test.parent": PARENT}, "foreign_key_checks": False}, child()),
        ({"tables": {}}, child()),
        # Documented limit: a parent column that is no unique key ties nothing.
        ({"tables": {"test.parent": PARENT}}, child(parent_columns=("other",))),
    ],
)
def test_child_has_no_parent_item_where_the_server_composes_none(options, schema):
    assert texts(schema, None, (1, 5), **options) == ["PRIMARY½test½4child½51½1"]


def test_null_part_of_a_foreign_key_is_left_out_of_the_text():
    composed = texts(child(), None, (1, None), tables={"test.parent": PARENT})
    assert composed[-1] == "PRIMARY½test½4parent½6"


def test_binary_values_are_taken_as_they_are():
    schema = table(Column(name="b", type_name="binary"))
    assert ItemComposer().compose(schema, None, (b"\xff\x00",)) == (
        head_of("PRIMARY", "test.t1") + b"\xff\x00" + "½2".encode(),
    )


@pytest.mark.parametrize(
    ("collation", "a", "b", "equal"),
    [
        ("utf8mb4_general_ci", "Straße", "straße ", True),
        ("utf8mb4_0900_ai_ci", "é", "E", True),
        ("utf8mb4_0900_ai_ci", "a", "a ", False),
        ("utf8mb4_0900_as_ci", "é", "e", False),
        ("utf8mb4_0900_as_cs", "a", "A", False),
        ("utf8mb4_bin", "a", "a ", True),
        ("utf8mb4_bin", "a", "A", False),
        ("binary", "a", "a ", False),
    ],
)
def test_sort_keys_are_equal_where_the_collation_says_equal(collation, a, b, equal):
    assert (sort_key(a, collation) == sort_key(b, collation)) is equal
