"""Conflict keys of rows: their values, incomplete knowledge, minimal images, a log in its order."""

from __future__ import annotations

import pytest

from paraply.adapters.binlog.keys import parts as key_parts
from paraply.adapters.binlog.keys import values as key_values
from paraply.adapters.binlog.keys.builder import KeyBuilder, follow
from paraply.adapters.binlog.partial_json import PartialJson
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.keys import ConflictKey
from paraply.vocabulary.log import ABSENT, UNKNOWN, LoggedKind, table_of
from paraply.vocabulary.schema import Column, KeyPart, SchemaSource, TableSchema, UniqueKey
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
from tests.builders.key_pairs import EMAILS, USERS, both, minimal_delete

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


def test_rows_of_an_unknown_collation_are_one_if_their_text_is_the_same():
    builder = KeyBuilder(registry_of("CREATE TABLE t (v varchar(9) PRIMARY KEY)"))

    def identity(text):
        return builder.identities_of("d.t", (text,))

    # The coarse fold merges i and j, and cannot fold ß.
    assert builder.keys_of("d.t", ("i",)) == builder.keys_of("d.t", ("j",))
    assert builder.keys_of("d.t", ("ß",)) == ()
    assert len({identity(text) for text in ("i", "j", "ß", "ss", bytearray(b"i"), b"i")}) == 5
    assert identity("ß") == identity("ß") != ()


SHOWN_SEQUENCE = """CREATE TABLE `s` (
  `next_not_cached_value` bigint(21) NOT NULL, `minimum_value` bigint(21) NOT NULL,
  `maximum_value` bigint(21) NOT NULL, `start_value` bigint(21) NOT NULL COMMENT 'start',
  `increment` bigint(21) NOT NULL, `cache_size` bigint(21) unsigned NOT NULL,
  `cycle_option` tinyint(1) unsigned NOT NULL, `cycle_count` bigint(21) NOT NULL
) ENGINE=InnoDB SEQUENCE=1"""


@pytest.mark.parametrize("created", ["CREATE SEQUENCE s START WITH 1", SHOWN_SEQUENCE])
def test_a_sequence_conflicts_with_itself(created):
    registry = registry_of(created)
    one, two = both(registry, *(insert("s", n, 1, 9, 1, 1, 1000, 0, 0) for n in (1, 1001)))
    assert conflict(one, two) == {("d.s", "SEQUENCE")}


def test_shown_values_are_cut_and_do_not_take_part_in_equality():
    assert key_parts.show("x" * 100) == "'" + "x" * 64 + "…'"
    assert key_parts.show(bytes(range(200, 256))).startswith("0xC8")
    one = ConflictKey(table="d.t", index="u", values=(1,), shown="a")
    assert one == ConflictKey(table="d.t", index="u", values=(1,), shown="b")


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


def test_minimal_update_that_leaves_the_unique_column_alone_is_fully_keyed():
    txn = keyed(registry_of(EMAILS), update("t", (1, ABSENT, ABSENT), (ABSENT, ABSENT, 5)))
    assert {key.index for key in txn.keys} == {"PRIMARY"}
    assert not txn.partly_keyed_tables | txn.unkeyed_tables


def test_minimal_update_of_the_unique_column_hides_the_value_it_releases():
    txn = keyed(registry_of(EMAILS), update("t", (1, ABSENT, ABSENT), (ABSENT, 7, ABSENT)))
    assert {(key.index, key.shown) for key in txn.keys} == {("PRIMARY", "1"), ("u", "7")}
    takes = keyed(registry_of(EMAILS), insert("t", 2, 8, 0))
    assert may_conflict(txn, takes) == {"d.t"}


def test_hidden_values_of_a_unique_key_meet_only_what_may_take_or_release_them():
    registry = registry_of(EMAILS)
    frees, another, takes, moves, hides, other, null = both(
        registry,
        delete("t", 1, ABSENT, ABSENT),
        delete("t", 2, ABSENT, ABSENT),
        insert("t", 3, 7, 0),
        update("t", (4, ABSENT, ABSENT), (ABSENT, 8, ABSENT)),
        update("t", (5, 6, 0), (5, UNKNOWN, 0)),
        update("t", (6, ABSENT, ABSENT), (ABSENT, ABSENT, 5)),
        insert("t", 9, None, 0),
    )
    # Of two that release one value, one does so after another has taken it.
    assert not may_conflict(frees, another)
    assert not may_conflict(takes, null)
    assert not may_conflict(frees, null)
    for one, two in (
        (frees, takes),
        (frees, moves),
        (frees, hides),
        (hides, takes),
        (hides, hides),
    ):
        assert may_conflict(one, two) == may_conflict(two, one) == {"d.t"}
    for one in (frees, takes, moves, hides):
        assert not may_conflict(one, other)


@pytest.mark.parametrize(
    ("keys", "is_implied"),
    [
        ("PRIMARY KEY (a), UNIQUE (a, b)", True),
        ("PRIMARY KEY (a), UNIQUE (b)", False),
        ("PRIMARY KEY (a), UNIQUE (b), UNIQUE (c, b)", False),
        ("PRIMARY KEY (a), UNIQUE u (b, a), UNIQUE v (a, b)", True),
        # 'ß' is 'ss', and does not begin as 'ss' does.
        ("PRIMARY KEY (d(1)), UNIQUE (d, b)", False),
    ],
)
def test_a_key_that_contains_another_needs_no_value(keys, is_implied):
    registry = registry_of(f"CREATE TABLE t (a int, b int, c int, d varchar(9), {keys})")
    frees, takes = both(registry, delete("t", 1, ABSENT, ABSENT, "x"), insert("t", 2, 7, 8, "y"))
    assert (not may_conflict(frees, takes)) is is_implied


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("int NOT NULL", 0), ("int DEFAULT 3", 3), ("int DEFAULT -3", -3), ("int DEFAULT '3'", 3),
        ("int DEFAULT 3 NOT NULL", 3), ("bigint unsigned NOT NULL DEFAULT +4", 4),
        ("int DEFAULT (1 + 2)", None), ("int DEFAULT 1.5", None), ("int DEFAULT b'1'", None),
        ("int DEFAULT NULL", None), ("int", None), ("varchar(3) DEFAULT 3", None),
        ("varchar(3) NOT NULL", None), ("int AUTO_INCREMENT", None), ("int AS (id) STORED", None),
    ],
)  # fmt: skip
def test_omitted_whole_number_is_its_default(column, value):
    registry = registry_of(f"CREATE TABLE t (id int PRIMARY KEY, a {column}, UNIQUE u (a))")
    txn = keyed(registry, insert("t", 1, ABSENT))
    found = [key.values for key in txn.keys if key.index == "u"]
    assert found == ([] if value is None else [(value,)])


def test_altered_default_is_followed():
    registry = registry_of(
        "CREATE TABLE t (id int PRIMARY KEY, a int DEFAULT 3, UNIQUE u (a))",
        "ALTER TABLE t ALTER a SET DEFAULT 4",
    )
    assert ("u", "4") in {(k.index, k.shown) for k in keyed(registry, insert("t", 1, ABSENT)).keys}
    registry.observe_statement("ALTER TABLE d.t ALTER a DROP DEFAULT")
    assert {key.index for key in keyed(registry, insert("t", 1, ABSENT)).keys} == {"PRIMARY"}


def test_update_of_the_unique_column_to_a_value_not_shown_releases_the_old_one():
    txn = keyed(registry_of(EMAILS), update("t", (1, 6, 0), (1, UNKNOWN, 0)))
    assert {(key.index, key.shown) for key in txn.keys} == {("PRIMARY", "1"), ("u", "6")}
    assert not txn.partly_keyed_tables
    assert not txn.unkeyed_tables


def test_update_of_the_primary_key_to_a_value_not_shown_is_unkeyed():
    txn = keyed(registry_of(EMAILS), update("t", (1, 6, 0), (UNKNOWN, 6, 0)))
    assert txn.unkeyed_tables == {"d.t"}


def test_minimal_delete_hides_the_unique_value_it_releases():
    assert minimal_delete() == {"d.t"}


def test_image_without_the_primary_key_is_unkeyed():
    txn = keyed(registry_of(EMAILS), update("t", (ABSENT, 3, ABSENT), (ABSENT, 3, 5)))
    assert txn.unkeyed_tables == {"d.t"}


def test_minimal_update_moves_the_primary_key_with_the_columns_it_keeps():
    registry = registry_of("CREATE TABLE t (a int, b int, v int, PRIMARY KEY (a, b))")
    txn = keyed(registry, update("t", (1, 2, ABSENT), (ABSENT, 3, ABSENT)))
    assert {key.shown for key in txn.keys} == {"1, 2", "1, 3"}


# Following a log


def test_update_that_leaves_out_a_generated_column_hides_its_keys():
    table = "CREATE TABLE t (id int PRIMARY KEY, b int, v int AS (b + 1) STORED, UNIQUE (v))"
    full = update("t", (1, 2, ABSENT), (1, 7, ABSENT))
    minimal = update("t", (1, ABSENT, ABSENT), (ABSENT, 7, ABSENT))
    for row, domain, hidden in (
        (full, 0, {"d.t"}), (full, None, {"d.t"}), (minimal, 0, {"d.t"}), (minimal, None, set()),
    ):  # fmt: skip
        txn = transaction(row)
        txn.domain = domain
        KeyBuilder(registry_of(table)).complete_transaction(txn)
        assert {table_of(name) for name in txn.reached_tables} == hidden


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


def test_rows_without_a_key_are_named_by_all_columns():
    registry = registry_of("CREATE TABLE t (a int, b json)")
    one, two, three = both(
        registry,
        update("t", (1, "{}"), (2, "{}")),
        insert("t", 2, "{}"),
        update("t", (2, "[]"), (1, "{}")),
    )
    assert one.left_rows == two.left_rows != three.left_rows == one.searched_rows
    assert not two.searched_rows
    assert one.unkeyed_tables == {"d.t"}
    assert not one.unidentified_tables | one.keys


def test_rows_without_a_key_of_which_a_column_is_unknown_are_not_identified():
    registry = registry_of("CREATE TABLE t (a int, b json)")
    partial = PartialJson(diffs=())
    for before, after in [((1, ABSENT), (2, "{}")), ((1, "{}"), (1, partial))]:
        txn = keyed(registry, update("t", before, after))
        assert txn.unidentified_tables == {"d.t"}
        assert len(txn.searched_rows | txn.left_rows) == 1


def undecided(one, two):
    """Return whether the judges leave open if two transactions may overlap."""
    return any(a.reached_tables & ({"d.t"} | b.aspects) for a, b in ((one, two), (two, one)))


def test_insert_that_omits_columns_may_leave_any_row_that_another_searches_for():
    registry = registry_of("CREATE TABLE t (a int DEFAULT (7), b int)")
    omitting, deleting, another = both(
        registry, insert("t", ABSENT, 3), delete("t", None, 3), insert("t", ABSENT, 3)
    )
    assert undecided(omitting, deleting)
    # Equal rows may be inserted in either order.
    assert not undecided(omitting, another)
    assert not undecided(keyed(registry, insert("t", 1, 3)), deleting)


@pytest.mark.parametrize(
    ("column", "change", "is_null"),
    [
        ("a int", "", True),
        ("a int DEFAULT NULL", "", True),
        ("a int DEFAULT 7", "", False),
        ("a int DEFAULT (7)", "", False),
        ("a int NOT NULL", "", False),
        ("a timestamp", "", False),
        ("a int AS (b + 1) STORED", "", False),
        ("a int", "ALTER a SET DEFAULT 7", False),
        ("a int DEFAULT 7", "ALTER COLUMN a DROP DEFAULT", True),
        ("a int DEFAULT 7", "ALTER a SET DEFAULT NULL", True),
        ("a int DEFAULT 7", "MODIFY a int", True),
        ("a int", "CHANGE a c int DEFAULT 7", False),
        ("a int DEFAULT 7", "RENAME COLUMN a TO c", False),
        ("a int", "ALTER INDEX k INVISIBLE", True),
    ],
)
def test_insert_that_omits_a_column_leaves_null_only_where_that_is_the_default(
    column, change, is_null
):
    registry = registry_of(f"CREATE TABLE t ({column}, b int, KEY k (b))")
    if change:
        registry.observe_statement(f"ALTER TABLE t {change}", "d", where="bin.000001:4")
    # Text dumps leave out the end of an image.
    for image, whole in [((ABSENT, 3), (None, 3)), ((ABSENT,), (None, None))]:
        txn = keyed(registry, insert("t", *image))
        told = keyed(registry, insert("t", *whole))
        assert (txn.left_rows == told.left_rows) is is_null
        assert (txn.rows[0].after[0] is None) is is_null


def test_unique_key_that_an_insert_leaves_null_meets_nothing():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, u int, v int, UNIQUE (u))")
    txn = keyed(registry, insert("t", 1, ABSENT, 2))
    assert {key.index for key in txn.keys} == {"PRIMARY"}
    assert not txn.partly_keyed_tables


def test_search_for_a_row_that_is_not_known_may_find_any():
    registry = registry_of("CREATE TABLE t (a int, b json)")
    searching, inserting = both(registry, delete("t", 1, UNKNOWN), insert("t", 1, "{}"))
    assert undecided(searching, inserting)


def test_undecoded_rows_leave_their_table_unkeyed():
    txn = transaction()
    txn.undecoded_tables = frozenset({"d.users"})
    KeyBuilder(registry_of(USERS)).complete_transaction(txn)
    assert txn.unkeyed_tables == txn.partly_keyed_tables == {"d.users"}
