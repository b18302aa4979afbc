"""Conflict keys: the real bugs of servers and appliers, each reduced to a pair of transactions."""

from __future__ import annotations

import pytest

from paraply.adapters.binlog.column_types import ColumnType, WireColumn
from paraply.adapters.binlog.compiled.descriptors import part_rule
from paraply.vocabulary.schema import Column, KeyPart
from tests.builders.column_specs import UTF8MB4
from tests.builders.key_cases import conflict, insert, may_conflict, registry_of, update
from tests.builders.key_pairs import (
    both,
    dtle_795,
    dtle_keyless,
    mysql_86078,
    mysql_110071,
    mysql_111027,
    mysql_non_unique_parent,
    pxc_3729,
    tiflow_10918,
)


def test_mysql_bug_86078_values_equal_under_the_collation_share_the_key():
    assert mysql_86078() == {("d.users", "uk")}


def test_mysql_bug_111027_prefix_keys_compare_prefixes():
    assert mysql_111027() == {("d.t", "uk")}


def test_prefix_counts_characters_not_bytes():
    registry = registry_of(
        "CREATE TABLE t (id int PRIMARY KEY, a varchar(9) COLLATE utf8mb4_bin, UNIQUE u (a(2)))"
    )
    one, two, three = both(
        registry, insert("t", 1, "éèx"), insert("t", 2, "éèy".encode()), insert("t", 3, "éay")
    )
    assert conflict(one, two) == {("d.t", "u")}
    assert not conflict(one, three)


def test_prefix_of_bytes_counts_bytes():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a blob, UNIQUE u (a(2)))")
    one, two = both(registry, insert("t", 1, b"\x00\xffA"), insert("t", 2, b"\x00\xffB"))
    assert conflict(one, two) == {("d.t", "u")}


NO_PAD = [
    # MariaDB compares CHAR(n) with its filling spaces: no-break space and space weigh the same.
    ("utf8mb4_uca1400_nopad_ai_ci", True),
    ("utf8mb4_unicode_nopad_ci", True),
    ("utf8mb4_nopad_bin", False),
    # MySQL cuts the spaces first.
    ("utf8mb4_0900_ai_ci", False),
]


@pytest.mark.parametrize(("collation", "equal"), NO_PAD)
def test_char_of_a_nopad_collation_compares_with_its_filling_spaces(collation, equal):
    registry = registry_of(f"CREATE TABLE t (a char(4) COLLATE {collation} PRIMARY KEY)")
    one, two, three, four = both(
        registry,
        insert("t", "e"),
        insert("t", "e\xa0"),
        insert("t", "f\xa0".encode()),
        insert("t", "f \xa0"),
    )
    assert bool(conflict(one, two)) is equal
    assert bool(conflict(three, four)) is equal
    assert not conflict(one, three)


def test_varchar_of_a_nopad_collation_has_no_filling_spaces():
    registry = registry_of(
        "CREATE TABLE t (a varchar(4) COLLATE utf8mb4_uca1400_nopad_ai_ci PRIMARY KEY)"
    )
    one, two = both(registry, insert("t", "e"), insert("t", "e\xa0"))
    assert not conflict(one, two)


@pytest.mark.parametrize(("kind", "filled"), [("char", 4), ("varchar", 0)])
def test_kernels_fill_char_of_a_nopad_collation_with_spaces(kind, filled):
    column = Column(
        name="a", type_name=kind, length=4, charset="utf8mb4",
        collation="utf8mb4_uca1400_nopad_ai_ci",
    )  # fmt: skip
    code = ColumnType.STRING if kind == "char" else ColumnType.VARCHAR
    wire = WireColumn(kind=code, size=16, collation=UTF8MB4)
    rule = part_rule(KeyPart(column=0), column, wire)
    assert rule is not None
    assert rule.filled == filled


def test_mysql_bug_110071_children_of_one_parent_do_not_conflict():
    assert not mysql_110071()


def test_dtle_issue_795_child_conflicts_with_the_insert_of_its_parent():
    assert ("d.parent", "NEW REFERENCES(id)") in dtle_795()


@pytest.mark.parametrize("null_parts", [(None, 1), (1, None)])
def test_dtle_nullable_unique_a_null_part_makes_no_key(null_parts):
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, b int, UNIQUE u (a, b))")
    one, two = both(registry, insert("t", 1, *null_parts), insert("t", 2, *null_parts))
    assert not conflict(one, two)
    assert {key.index for key in one.keys} == {"PRIMARY"}


def test_dtle_keyless_rows_are_named_beside_keyed_ones():
    assert dtle_keyless() == {"d.t"}


def test_dtle_rows_whose_only_unique_key_is_null_are_unkeyed():
    registry = registry_of("CREATE TABLE t (a int, UNIQUE (a))")
    one, two, three = both(registry, insert("t", None), update("t", (None,), (4,)), insert("t", 5))
    assert may_conflict(one, two) == {"d.t"}
    assert not three.unkeyed_tables


def test_dm_2035_keys_of_different_indexes_never_collide():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE (a))")
    one, two = both(registry, insert("t", 1, 2), insert("t", 2, 1))
    assert not conflict(one, two)


def test_pxc_3729_a_value_set_and_reset_inside_one_transaction_is_a_key():
    assert pxc_3729() == {("d.t", "u")}


def test_tiflow_10918_key_moves_write_old_and_new_keys():
    assert tiflow_10918() == {("d.t", "PRIMARY")}


def test_tiflow_9430_swapping_unique_values_touches_both():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, v int, UNIQUE u (v))")
    swap, one, two = both(
        registry,
        (update("t", (1, 1), (1, 0)), update("t", (2, 2), (2, 1)), update("t", (1, 0), (1, 2))),
        insert("t", 8, 1),
        insert("t", 9, 2),
    )
    assert conflict(swap, one) == conflict(swap, two) == {("d.t", "u")}


def test_mysql_documented_limit_reference_to_a_non_unique_key_is_tied():
    assert mysql_non_unique_parent() == {("d.parent", "REFERENCES(code)")}


def test_two_parents_that_share_a_non_unique_referenced_value_conflict_only_uncertainly():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, code int, KEY (code))",
        "CREATE TABLE child (id int PRIMARY KEY, code int,"
        " FOREIGN KEY (code) REFERENCES parent (code))",
    )
    one, two = both(registry, insert("parent", 1, 5), insert("parent", 2, 5))
    shared = one.keys & two.keys
    assert shared
    assert shared <= one.uncertain_keys & two.uncertain_keys
