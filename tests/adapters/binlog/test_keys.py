"""Conflict keys: the real bugs, the rules, and mutants of the rules that these tests catch."""

from __future__ import annotations

import pytest

from adapters.binlog import collations, foreign_keys, key_parts, key_values, keys
from adapters.binlog.key_parts import NoKey
from adapters.binlog.keys import KeyBuilder, follow
from adapters.binlog.schema_registry import SchemaRegistry
from tests.builders.key_cases import (
    conflict,
    delete,
    insert,
    keyed,
    may_conflict,
    registry_of,
    transaction,
    update,
)
from vocabulary.keys import ConflictKey
from vocabulary.log import ABSENT, UNKNOWN, LoggedKind
from vocabulary.schema import Column, KeyPart, SchemaSource, TableSchema, UniqueKey

USERS = (
    "CREATE TABLE users (id int PRIMARY KEY, name varchar(20) COLLATE utf8mb4_general_ci,"
    " UNIQUE uk (name))"
)


def both(registry, *pair):
    return [keyed(registry, *(rows if isinstance(rows, tuple) else (rows,))) for rows in pair]


# Real bugs


def mysql_86078():
    """DELETE of unique 'C' and INSERT of unique 'c' under a *_ci collation conflict."""
    return conflict(*both(registry_of(USERS), delete("users", 1, "C"), insert("users", 2, "c")))


def test_mysql_bug_86078_values_equal_under_the_collation_share_the_key():
    assert mysql_86078() == {("d.users", "uk")}


def mysql_111027():
    """Two values that agree in the indexed prefix conflict in a multi-column prefix key."""
    registry = registry_of(
        "CREATE TABLE t (id int PRIMARY KEY, a varchar(20) COLLATE utf8mb4_bin, b int,"
        " UNIQUE uk (a(3), b))"
    )
    return conflict(*both(registry, delete("t", 1, "abcX", 7), insert("t", 2, "abcY", 7)))


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


def mysql_110071():
    """Two children of one parent."""
    return conflict(*both(family(), insert("child", 1, 7), insert("child", 2, 7)))


def family(rule="", parent_key="id int PRIMARY KEY, name varchar(9)"):
    return registry_of(
        f"CREATE TABLE parent ({parent_key})",
        f"CREATE TABLE child (id int PRIMARY KEY, pid int,"
        f" CONSTRAINT fk FOREIGN KEY (pid) REFERENCES parent (id) {rule})",
    )


def test_mysql_bug_110071_children_of_one_parent_do_not_conflict():
    assert not mysql_110071()


def dtle_795():
    """A child after its parent."""
    return conflict(*both(family(), insert("parent", 7, "x"), insert("child", 1, 7)))


def test_dtle_issue_795_child_conflicts_with_the_insert_of_its_parent():
    assert ("d.parent", "PRIMARY") in dtle_795()


@pytest.mark.parametrize("null_parts", [(None, 1), (1, None)])
def test_dtle_nullable_unique_a_null_part_makes_no_key(null_parts):
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, b int, UNIQUE u (a, b))")
    one, two = both(registry, insert("t", 1, *null_parts), insert("t", 2, *null_parts))
    assert not conflict(one, two)
    assert {key.index for key in one.keys} == {"PRIMARY"}


def dtle_keyless():
    """A keyless table beside a keyed one in the same transactions."""
    registry = registry_of("CREATE TABLE k (id int PRIMARY KEY)", "CREATE TABLE t (a int)")
    return may_conflict(
        *both(registry, (insert("k", 1), insert("t", 5)), (insert("k", 2), delete("t", 5)))
    )


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


def pxc_3729():
    """A unique value that is set and reset inside one transaction (3, 10, 3)."""
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE u (a))")
    moved = (update("t", (1, 3), (1, 10)), update("t", (1, 10), (1, 3)))
    return conflict(*both(registry, moved, insert("t", 2, 10)))


def test_pxc_3729_a_value_set_and_reset_inside_one_transaction_is_a_key():
    assert pxc_3729() == {("d.t", "u")}


def tiflow_10918():
    """One transaction moves keys (3 to 4, 2 to 3), another uses the key set free first."""
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, v int)")
    moves = (update("t", (3, 0), (4, 0)), update("t", (2, 0), (3, 0)))
    return conflict(*both(registry, moves, insert("t", 2, 9)))


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


def mysql_non_unique_parent():
    """A foreign key to columns that are not unique ties child and parent all the same."""
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, code int, KEY (code))",
        "CREATE TABLE child (id int PRIMARY KEY, code int,"
        " FOREIGN KEY (code) REFERENCES parent (code))",
    )
    return conflict(*both(registry, insert("parent", 1, 5), insert("child", 1, 5)))


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


# Keys of rows


def test_an_update_writes_keys_of_both_images():
    txn = keyed(registry_of(USERS), update("users", (1, "a"), (2, "b")))
    assert {(key.index, key.shown) for key in txn.keys} == {
        ("PRIMARY", "1"), ("PRIMARY", "2"), ("uk", "'a'"), ("uk", "'b'"),
    }  # fmt: skip
    assert not txn.uncertain_keys | txn.shared_keys
    assert not txn.unkeyed_tables | txn.partly_keyed_tables | txn.reached_tables


def test_decimals_floats_and_times_compare_by_value():
    from decimal import Decimal

    registry = registry_of(
        "CREATE TABLE t (a decimal(9,2), b double, c datetime(6), PRIMARY KEY (a, b, c))"
    )
    one, two = both(
        registry,
        insert("t", Decimal("1.0"), -0.0, "2020-01-01 00:00:00.500000"),
        insert("t", Decimal("1.00"), 0.0, "2020-01-01 00:00:00.5"),
    )
    assert conflict(one, two) == {("d.t", "PRIMARY")}


def test_integers_without_signedness_in_the_log_are_read_as_the_schema_says():
    registry = registry_of("CREATE TABLE t (a bigint unsigned PRIMARY KEY)")
    one, two = both(registry, insert("t", -1), insert("t", 2**64 - 1))
    assert conflict(one, two) == {("d.t", "PRIMARY")}


def test_binary_columns_compare_with_and_without_the_zeros_that_fill_them():
    registry = registry_of("CREATE TABLE t (a binary(3) PRIMARY KEY)")
    one, two, three = both(registry, insert("t", b"a"), insert("t", b"a\0\0"), insert("t", b"a "))
    assert conflict(one, two)
    assert not conflict(one, three)


def test_json_in_a_mysql_key_cannot_be_compared():
    column = Column(name="j", type_name="geometry")
    assert key_values.folder_of(column)(b"x") == (key_values.INCOMPARABLE, False)


def test_text_outside_ascii_of_an_unknown_collation_makes_the_table_partly_keyed():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a varchar(9), UNIQUE (a))")
    one, two = both(registry, insert("t", 1, "é".encode()), insert("t", 2, "e"))
    assert not conflict(one, two)
    assert may_conflict(one, two) == {"d.t"}


def test_ascii_text_of_an_unknown_collation_gives_an_uncertain_key():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a varchar(9), UNIQUE u (a))")
    one, two = both(registry, insert("t", 1, b"Ab "), insert("t", 2, "aB"))
    assert conflict(one, two) == {("d.t", "u")}
    assert one.keys & two.keys <= one.uncertain_keys


def test_a_sequence_conflicts_with_itself():
    registry = registry_of("CREATE SEQUENCE s START WITH 1")
    one, two = both(registry, *(insert("s", n, 1, 9, 1, 1, 1000, 0, 0) for n in (1, 1001)))
    assert conflict(one, two) == {("d.s", "SEQUENCE")}


# Incomplete knowledge


def full_metadata(table="t"):
    return TableSchema(
        name=f"d.{table}",
        columns=(Column(name="id", type_name="int"), Column(name="a", type_name="int")),
        unique_keys=(UniqueKey(name="PRIMARY", parts=(KeyPart(column=0),)),),
        keys_known=True,
        sources={SchemaSource.TABLE_MAP},
    )


def test_table_map_metadata_alone_keys_partly():
    registry = SchemaRegistry()
    registry.observe_table_map(full_metadata())
    one, two = both(registry, insert("t", 1, 5), insert("t", 2, 5))
    assert not conflict(one, two)
    assert may_conflict(one, two) == {"d.t"}
    assert not one.unkeyed_tables


def test_unknown_tables_are_unkeyed_and_partly_keyed():
    one, two = both(SchemaRegistry(), insert("t", 1), insert("t", 2))
    assert may_conflict(one, two) == {"d.t"}
    assert one.unkeyed_tables == one.partly_keyed_tables == {"d.t"}


def test_a_functional_unique_key_makes_the_table_partly_keyed():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE f ((a + 1)))")
    txn = keyed(registry, insert("t", 1, 5))
    assert txn.partly_keyed_tables == {"d.t"}
    assert {key.index for key in txn.keys} == {"PRIMARY"}


# Minimal row images

EMAILS = "CREATE TABLE t (id int PRIMARY KEY, e int, v int, UNIQUE u (e))"


def test_minimal_update_that_leaves_the_unique_column_alone_is_fully_keyed():
    txn = keyed(registry_of(EMAILS), update("t", (1, ABSENT, ABSENT), (ABSENT, ABSENT, 5)))
    assert {key.index for key in txn.keys} == {"PRIMARY"}
    assert not txn.partly_keyed_tables | txn.unkeyed_tables


def test_minimal_update_of_the_unique_column_hides_the_value_it_releases():
    txn = keyed(registry_of(EMAILS), update("t", (1, ABSENT, ABSENT), (ABSENT, 7, ABSENT)))
    assert {(key.index, key.shown) for key in txn.keys} == {("PRIMARY", "1"), ("u", "7")}
    assert txn.partly_keyed_tables == {"d.t"}


def test_update_of_the_unique_column_to_a_value_not_shown_is_partly_keyed():
    txn = keyed(registry_of(EMAILS), update("t", (1, 6, 0), (1, UNKNOWN, 0)))
    assert {(key.index, key.shown) for key in txn.keys} == {("PRIMARY", "1"), ("u", "6")}
    assert txn.partly_keyed_tables == {"d.t"}
    assert not txn.unkeyed_tables


def test_update_of_the_primary_key_to_a_value_not_shown_is_unkeyed():
    txn = keyed(registry_of(EMAILS), update("t", (1, 6, 0), (UNKNOWN, 6, 0)))
    assert txn.unkeyed_tables == {"d.t"}


def minimal_delete():
    """A DELETE that does not record the unique value it releases, then its reuse."""
    return may_conflict(
        *both(registry_of(EMAILS), delete("t", 1, ABSENT, ABSENT), insert("t", 2, 7, 0))
    )


def test_minimal_delete_hides_the_unique_value_it_releases():
    assert minimal_delete() == {"d.t"}


def test_image_without_the_primary_key_is_unkeyed():
    txn = keyed(registry_of(EMAILS), update("t", (ABSENT, 3, ABSENT), (ABSENT, 3, 5)))
    assert txn.unkeyed_tables == {"d.t"}


def test_minimal_update_moves_the_primary_key_with_the_columns_it_keeps():
    registry = registry_of("CREATE TABLE t (a int, b int, v int, PRIMARY KEY (a, b))")
    txn = keyed(registry, update("t", (1, 2, ABSENT), (ABSENT, 3, ABSENT)))
    assert {key.shown for key in txn.keys} == {"1, 2", "1, 3"}


# Foreign keys


def test_child_insert_conflicts_with_any_change_of_the_locked_parent_row():
    one, two = both(family(), update("parent", (7, "x"), (7, "y")), insert("child", 1, 7))
    assert conflict(one, two) == {("d.parent", "PRIMARY")}


def test_child_delete_does_not_conflict_with_an_update_of_the_parent_beside_its_key():
    one, two = both(family(), update("parent", (7, "x"), (7, "y")), delete("child", 1, 7))
    assert not conflict(one, two)


def restrict_release():
    """The parent goes once its last child has gone."""
    return conflict(*both(family(), delete("child", 1, 7), delete("parent", 7, "x")))


def test_child_delete_conflicts_with_the_delete_of_its_parent():
    assert restrict_release() == {("d.parent", "REFERENCES(id)")}


def test_child_moved_to_another_parent_is_tied_to_both():
    move, old, new = both(
        family(), update("child", (1, 7), (1, 8)), delete("parent", 7, "x"), insert("parent", 8, "")
    )
    assert conflict(move, old)
    assert conflict(move, new)


def test_child_that_keeps_its_parent_is_not_tied_under_restrict():
    one, two = both(family(), update("child", (1, 7), (2, 7)), delete("parent", 7, "x"))
    assert not conflict(one, two)


def cascade_hits_child():
    """A cascade may hit a child row whose change does not touch the foreign key."""
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (id int AUTO_INCREMENT PRIMARY KEY, pid int, v int,"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    )
    pair = both(registry, update("child", (1, 7, 0), (1, 7, 1)), delete("parent", 7))
    return conflict(*pair)


def test_child_that_keeps_its_parent_is_tied_under_cascade():
    assert cascade_hits_child() == {("d.parent", "REFERENCES(id)")}


def test_null_reference_ties_to_no_parent():
    one, two = both(family(), insert("child", 1, None), delete("parent", 7, "x"))
    assert not one.shared_keys | one.reached_tables
    assert not conflict(one, two)


def test_foreign_key_of_two_columns_in_another_order_meets_the_primary_key_of_the_parent():
    registry = registry_of(
        "CREATE TABLE parent (a int, b int, PRIMARY KEY (a, b))",
        "CREATE TABLE child (id int PRIMARY KEY, x int, y int,"
        " FOREIGN KEY (y, x) REFERENCES parent (b, a))",
    )
    one, two, other = both(
        registry, insert("parent", 1, 2), insert("child", 9, 1, 2), insert("child", 9, 2, 1)
    )
    assert ("d.parent", "PRIMARY") in conflict(one, two)
    assert not conflict(one, other)


def test_text_reference_is_folded_by_the_collation_of_the_parent():
    registry = registry_of(
        "CREATE TABLE parent (k varchar(9) COLLATE latin1_swedish_ci PRIMARY KEY)",
        "CREATE TABLE child (id int PRIMARY KEY, k varchar(20) COLLATE latin1_swedish_ci,"
        " FOREIGN KEY (k) REFERENCES parent (k))",
    )
    one, two = both(registry, insert("parent", "É".encode("latin1")), insert("child", 1, "é"))
    assert ("d.parent", "PRIMARY") in conflict(one, two)


def test_unknown_parent_is_reached_instead_of_keyed():
    registry = registry_of(
        "CREATE TABLE child (id int PRIMARY KEY, pid int, FOREIGN KEY (pid) REFERENCES parent (id))"
    )
    one, two, three = both(
        registry, insert("child", 1, 7), insert("parent", 7), insert("child", 2, None)
    )
    assert may_conflict(one, two) == {"d.parent"}
    assert not three.reached_tables


def test_minimal_delete_of_a_child_reaches_its_parent():
    one, two = both(family(), delete("child", 1, ABSENT), delete("parent", 7, "x"))
    assert may_conflict(one, two) == {"d.parent"}


def test_self_reference_ties_a_row_to_another_of_the_same_table():
    registry = registry_of(
        "CREATE TABLE staff (id int PRIMARY KEY, boss int,"
        " FOREIGN KEY (boss) REFERENCES staff (id))"
    )
    boss, one, two = both(
        registry, insert("staff", 1, None), insert("staff", 2, 1), insert("staff", 3, 1)
    )
    assert conflict(boss, one)
    assert not conflict(one, two)


def test_inline_reference_is_assumed_and_its_key_uncertain():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (id int PRIMARY KEY, pid int REFERENCES parent (id))",
    )
    txn = keyed(registry, insert("child", 1, 7))
    assert txn.shared_keys
    assert txn.shared_keys <= txn.uncertain_keys


CHAIN = (
    "CREATE TABLE a (id int PRIMARY KEY)",
    "CREATE TABLE b (id int AUTO_INCREMENT PRIMARY KEY, aid int,"
    " FOREIGN KEY (aid) REFERENCES a (id) ON DELETE {rule})",
    "CREATE TABLE c (id int PRIMARY KEY, bid int,"
    " FOREIGN KEY (bid) REFERENCES b (id) ON DELETE {below})",
)


def chain(rule, below):
    return registry_of(*(sql.format(rule=rule, below=below) for sql in CHAIN))


def two_level_cascade():
    """A cascade of two levels against a change at the bottom."""
    return may_conflict(*both(chain("CASCADE", "CASCADE"), insert("c", 1, 5), delete("a", 7)))


def test_cascade_of_two_levels_reaches_the_lowest_table():
    assert two_level_cascade() == {"d.c"}


def test_two_cascades_into_one_table_do_not_conflict():
    one, two = both(chain("CASCADE", "CASCADE"), delete("a", 7), delete("a", 8))
    assert one.reached_tables == two.reached_tables == {"d.c"}
    assert not conflict(one, two)
    assert not may_conflict(one, two)


def test_cascade_reaches_a_table_that_restricts_it():
    # The row of c must be gone before the cascade deletes the row of b that it refers to.
    one, two = both(chain("CASCADE", "RESTRICT"), delete("c", 1, 5), delete("a", 7))
    assert may_conflict(one, two) == {"d.c"}


def test_set_null_reaches_nothing_below_columns_it_leaves_alone():
    txn = keyed(chain("SET NULL", "CASCADE"), delete("a", 7))
    assert not txn.reached_tables


def test_update_of_the_parent_beside_its_key_cascades_nothing():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY, v int)",
        "CREATE TABLE child (k int PRIMARY KEY, pid int,"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
    )
    txn = keyed(registry, update("parent", (1, 0), (1, 1)))
    assert not txn.reached_tables
    assert {key.index for key in txn.keys} == {"PRIMARY"}


def cascade_frees_values():
    """A cascaded delete frees a natural key of the child, which another row then takes."""
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (code int PRIMARY KEY, pid int,"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    )
    return may_conflict(*both(registry, delete("parent", 7), insert("child", 5, 8)))


def test_cascaded_delete_that_frees_natural_keys_reaches_the_child():
    assert cascade_frees_values() == {"d.child"}


def test_cascaded_delete_of_keys_that_contain_the_reference_reaches_nothing():
    registry = registry_of(
        "CREATE TABLE parent (id int PRIMARY KEY)",
        "CREATE TABLE child (pid int, line int, PRIMARY KEY (pid, line),"
        " FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    )
    one, two, other = both(
        registry, delete("parent", 7), insert("child", 7, 1), insert("child", 8, 1)
    )
    assert not one.reached_tables
    assert conflict(one, two)
    assert not conflict(one, other)


def test_generated_values_freed_by_a_cascade_are_an_assumption_that_is_printed():
    registry = chain("CASCADE", "CASCADE")
    keyed(registry, delete("a", 7))
    assert any("AUTO_INCREMENT values of d.b" in text for text in registry.assumptions)


def test_cycles_of_cascades_end():
    registry = registry_of(
        "CREATE TABLE a (id int PRIMARY KEY, b int)",
        "CREATE TABLE b (id int PRIMARY KEY, a int,"
        " FOREIGN KEY (a) REFERENCES a (id) ON DELETE CASCADE)",
        "ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b (id) ON DELETE CASCADE",
    )
    assert keyed(registry, delete("a", 1, 2)).reached_tables == {"d.a", "d.b"}


# Following a log


def test_statements_and_rows_are_followed_in_log_order():
    builder = KeyBuilder(SchemaRegistry())
    log = [
        transaction(
            kind=LoggedKind.DDL, statements=("CREATE TABLE t (id int PRIMARY KEY, a int)",)
        ),
        transaction(insert("t", 1, 2)),
        transaction(kind=LoggedKind.DDL, statements=("ALTER TABLE t ADD UNIQUE u (a)",)),
        transaction(insert("t", 2, 3)),
        transaction(kind=LoggedKind.DDL, statements=("ALTER TABLE t DROP PRIMARY KEY",)),
        transaction(insert("t", 3, 4)),
    ]
    found = [{key.index for key in txn.keys} for txn in follow(builder, log)]
    assert found == [set(), {"PRIMARY"}, set(), {"PRIMARY", "u"}, set(), {"u"}]


def test_a_statement_that_the_reader_cut_makes_its_table_unknown():
    builder = KeyBuilder(SchemaRegistry())
    sql = "CREATE TABLE t (id int PRIMARY KEY) COMMENT='" + "x" * 70_000
    txn = transaction(kind=LoggedKind.DDL, statements=(sql[: 1 << 16],))
    builder.complete_transaction(txn)
    assert "was not understood" in builder.schema_of("d.t").unknown_because


def test_rows_taken_in_batches_give_the_same_keys():
    rows = [insert("users", n, f"n{n}") for n in range(5)]
    whole = keyed(registry_of(USERS), *rows)
    builder = KeyBuilder(registry_of(USERS))
    txn = transaction()
    for row in rows:
        builder.take_rows(txn, [row])
    builder.complete_transaction(txn)
    assert txn.keys == whole.keys


def test_row_keys_of_one_image():
    builder = KeyBuilder(registry_of(USERS))
    assert [str(key) for key in builder.keys_of("d.users", (1, "it's"))] == [
        "d.users.PRIMARY(1)",
        "d.users.uk('it''s')",
    ]
    assert [key.index for key in builder.keys_of("d.users", (1, None))] == ["PRIMARY"]
    assert [key.index for key in builder.keys_of("d.users", (1, ABSENT))] == ["PRIMARY"]
    assert builder.keys_of("d.nowhere", (1,)) is None
    assert builder.schema_of("d.users").keys_complete
    assert builder.schema_of("d.nowhere") is None


def test_undecoded_rows_leave_their_table_unkeyed():
    txn = transaction()
    txn.undecoded_tables = frozenset({"d.users"})
    KeyBuilder(registry_of(USERS)).complete_transaction(txn)
    assert txn.unkeyed_tables == txn.partly_keyed_tables == {"d.users"}


# Mutants: each rule broken, and the case above that notices


def raw_bytes_hashed(monkeypatch):
    plain = collations._IdentityFold(pads=False)
    monkeypatch.setattr(key_values, "fold_of", lambda collation: plain)


def whole_column_instead_of_prefix(monkeypatch):
    real = key_parts.folder_of
    monkeypatch.setattr(key_parts, "folder_of", lambda column, prefix=0: real(column))


def only_after_images(monkeypatch):
    real = keys._take_key
    monkeypatch.setattr(
        keys, "_take_key", lambda key, row, old, new, to: real(key, row, NoKey.NULL, new, to)
    )


def only_net_changes(monkeypatch):
    real = KeyBuilder.take_rows

    def take(self, txn, rows):
        rows = list(rows)
        if len(rows) > 1:
            rows = [update("t", rows[0].before, rows[-1].after)]
        real(self, txn, rows)

    monkeypatch.setattr(KeyBuilder, "take_rows", take)


def null_is_a_value(monkeypatch):
    real = key_parts.KeyPlan.build

    def build(self, image):
        return real(self, tuple(0 if value is None else value for value in image))

    monkeypatch.setattr(key_parts.KeyPlan, "build", build)


def parent_key_exclusive(monkeypatch):
    monkeypatch.setattr(keys.TransactionKeys, "share", keys.TransactionKeys.write)


def foreign_keys_ignored(monkeypatch):
    monkeypatch.setattr(keys, "child_ties", lambda registry, schema: ())


def cascades_ignored(monkeypatch):
    monkeypatch.setattr(foreign_keys, "CHANGES_CHILD", frozenset())


def freed_values_ignored(monkeypatch):
    monkeypatch.setattr(foreign_keys, "_frees_other_values", lambda *_: False)


def released_values_ignored(monkeypatch):
    real = keys._take_key
    monkeypatch.setattr(keys, "_take_key", lambda *args: bool(real(*args)) and False)


def keyless_ignored(monkeypatch):
    real = keys.TransactionKeys.store

    def store(self, txn):
        if self.written:
            self.unkeyed.clear()
        real(self, txn)

    monkeypatch.setattr(keys.TransactionKeys, "store", store)


@pytest.mark.parametrize(
    ("mutant", "case"),
    [
        (raw_bytes_hashed, mysql_86078),
        (whole_column_instead_of_prefix, mysql_111027),
        (only_after_images, mysql_86078),
        (only_after_images, tiflow_10918),
        (only_net_changes, pxc_3729),
        (parent_key_exclusive, mysql_110071),
        (foreign_keys_ignored, dtle_795),
        (foreign_keys_ignored, restrict_release),
        (foreign_keys_ignored, mysql_non_unique_parent),
        (cascades_ignored, cascade_hits_child),
        (cascades_ignored, two_level_cascade),
        (freed_values_ignored, cascade_frees_values),
        (released_values_ignored, minimal_delete),
        (keyless_ignored, dtle_keyless),
    ],
    ids=lambda each: each.__name__,
)
def test_mutant_changes_the_answer_of_the_case_that_guards_its_rule(monkeypatch, mutant, case):
    right = case()
    mutant(monkeypatch)
    assert case() != right


def test_mutant_null_is_a_value_is_caught(monkeypatch):
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE u (a))")
    null_is_a_value(monkeypatch)
    one, two = both(registry, insert("t", 1, None), insert("t", 2, None))
    assert conflict(one, two)


def test_shown_values_are_cut_and_do_not_take_part_in_equality():
    assert key_parts.show("x" * 100) == "'" + "x" * 64 + "…'"
    assert key_parts.show(bytes(range(200, 256))).startswith("0xC8")
    one = ConflictKey(table="d.t", index="u", values=(1,), shown="a")
    assert one == ConflictKey(table="d.t", index="u", values=(1,), shown="b")
