"""What ALTER TABLE and column definitions make of keys, NULL, defaults and collations.

``tests/oracle/definitions.py`` found most of these on servers.
"""

from __future__ import annotations

import pytest

from paraply.adapters.binlog.schema.registry import SchemaRegistry
from tests.adapters.binlog.test_schema_registry import T, keys
from tests.builders.key_cases import registry_of


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ADD COLUMN x int FIRST", {"PRIMARY": ("id",), "uk": ("a(3)", "b")}),
        ("DROP COLUMN a", {"PRIMARY": ("id",), "uk": ("b",)}),
        ("DROP COLUMN a, DROP COLUMN b", {"PRIMARY": ("id",)}),
        ("RENAME COLUMN a TO z", {"PRIMARY": ("id",), "uk": ("z(3)", "b")}),
        ("CHANGE a z varchar(5) AFTER b", {"PRIMARY": ("id",), "uk": ("z(3)", "b")}),
        ("RENAME COLUMN a TO b, RENAME COLUMN b TO a", {"PRIMARY": ("id",), "uk": ("b(3)", "a")}),
        ("CHANGE a b int, CHANGE b a int", {"PRIMARY": ("id",), "uk": ("b", "a")}),
        ("MODIFY a varchar(3)", {"PRIMARY": ("id",), "uk": ("a", "b")}),
        ("MODIFY a text", {"PRIMARY": ("id",), "uk": ("a(3)", "b")}),
        ("ADD UNIQUE u2 (a(9), b(2))",
         {"PRIMARY": ("id",), "uk": ("a(3)", "b"), "u2": ("a", "b")}),
        ("MODIFY b int PRIMARY KEY UNIQUE, DROP PRIMARY KEY",
         {"uk": ("a(3)", "b"), "PRIMARY": ("b",), "b": ("b",)}),
        ("ADD n int UNIQUE FIRST, ADD UNIQUE (n, b)",
         {"PRIMARY": ("id",), "uk": ("a(3)", "b"), "n": ("n",), "n_2": ("n", "b")}),
        ("DROP COLUMN a, ADD COLUMN a varchar(2)", {"PRIMARY": ("id",), "uk": ("a", "b")}),
        ("MODIFY b bigint FIRST", {"PRIMARY": ("id",), "uk": ("a(3)", "b")}),
        ("DROP INDEX uk", {"PRIMARY": ("id",)}),
        ("DROP CONSTRAINT uk", {"PRIMARY": ("id",)}),
        ("DROP CONSTRAINT some_check", {"PRIMARY": ("id",), "uk": ("a(3)", "b")}),
        ("DROP PRIMARY KEY, ADD PRIMARY KEY (b)", {"uk": ("a(3)", "b"), "PRIMARY": ("b",)}),
        ("RENAME INDEX uk TO ku", {"PRIMARY": ("id",), "ku": ("a(3)", "b")}),
        ("ADD UNIQUE (b), ADD UNIQUE (b, a)",
         {"PRIMARY": ("id",), "uk": ("a(3)", "b"), "b": ("b",), "b_2": ("b", "a")}),
        ("ADD UNIQUE u2 (n), ADD COLUMN n int",
         {"PRIMARY": ("id",), "uk": ("a(3)", "b"), "u2": ("n",)}),
        ("MODIFY b int UNIQUE", {"PRIMARY": ("id",), "uk": ("a(3)", "b"), "b": ("b",)}),
        ("DROP COLUMN a, ADD COLUMN a int", {"PRIMARY": ("id",), "uk": ("a", "b")}),
        ("DROP COLUMN a, DROP COLUMN b, ADD COLUMN a int", {"PRIMARY": ("id",), "uk": ("a",)}),
        ("RENAME COLUMN a TO n, ADD COLUMN a int",
         {"PRIMARY": ("id",), "uk": ("n(3)", "b")}),
        ("CHANGE b a2 int, ADD COLUMN b int", {"PRIMARY": ("id",), "uk": ("a(3)", "a2")}),
        ("DROP INDEX IF EXISTS nothing", {"PRIMARY": ("id",), "uk": ("a(3)", "b")}),
        ("ENGINE=InnoDB", {"PRIMARY": ("id",), "uk": ("a(3)", "b")}),
    ],
)  # fmt: skip
def test_alter_table_changes_the_keys_as_the_server_does(change, expected):
    registry = registry_of(T, f"ALTER TABLE t {change}")
    assert keys(registry) == expected
    assert registry.table("d.t").keys_complete


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        # The servers look for a key's column by its old name, and find the new one first.
        (["CHANGE b a2 int, ADD COLUMN b int FIRST"], "added before it"),
        # They keep the length of the key's part, in bytes of the old type.
        (["DROP COLUMN b, ADD COLUMN b varchar(9)"], "dropped and added"),
        (["MODIFY a enum('x') CHARACTER SET latin1", "MODIFY a varchar(9)"], "was a ENUM"),
        (["MODIFY a set('x')", "MODIFY a varchar(9)"], "was a SET"),
        (["MODIFY b point"], "spatial"),
    ],
)
def test_key_whose_parts_a_change_leaves_unclear_is_unknown_and_says_why(changes, reason):
    registry = registry_of(T, *(f"ALTER TABLE t {change}" for change in changes))
    assert keys(registry) == {"PRIMARY": ("id",)}
    assert not registry.table("d.t").keys_complete
    assert reason in registry.table("d.t").unknown_because


def test_enum_of_wide_characters_becomes_text_with_a_whole_key():
    registry = registry_of(
        T,
        "ALTER TABLE t MODIFY a enum('x') CHARACTER SET utf8mb4",
        "ALTER TABLE t MODIFY a char(9)",
    )
    assert keys(registry)["uk"] == ("a", "b")


@pytest.mark.parametrize(
    ("definition", "is_nullable"),
    [
        ("int", True), ("int NOT NULL", False), ("int NOT NULL NULL", True),
        ("int NULL NOT NULL", False), ("int UNIQUE AUTO_INCREMENT", False),
        ("int SERIAL DEFAULT VALUE", False), ("serial", False), ("int PRIMARY KEY", False),
    ],
)  # fmt: skip
def test_column_takes_null_as_the_server_says(definition, is_nullable):
    registry = registry_of(f"CREATE TABLE t (x {definition}, y int)")
    assert registry.table("d.t").columns[0].nullable is is_nullable


def test_column_of_the_primary_key_stays_free_of_null_whatever_its_change_says():
    registry = registry_of(
        T, "ALTER TABLE t MODIFY id int", "ALTER TABLE t CHANGE id i bigint NULL"
    )
    assert not registry.table("d.t").columns[0].nullable


def test_default_is_set_on_the_column_that_the_same_statement_defines():
    registry = registry_of(T, "ALTER TABLE t ALTER b SET DEFAULT 2, MODIFY b bigint DEFAULT NULL")
    assert not registry.table("d.t").columns[2].omitted_is_null


@pytest.mark.parametrize(
    "change",
    [
        "MODIFY a char COLLATE latin1_bin, CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        "MODIFY a varchar(9), DEFAULT COLLATE utf8mb4_bin",
        "DROP COLUMN a, ADD COLUMN a char(3), COLLATE=utf8mb4_bin",
    ],
)
def test_character_options_of_a_statement_are_those_of_the_columns_that_it_defines(change):
    registry = registry_of(T + " CHARSET=latin1", f"ALTER TABLE t {change}")
    column = next(each for each in registry.table("d.t").columns if each.name == "a")
    assert column.collation == "utf8mb4_bin"


def test_conversion_leaves_bytes_alone():
    registry = registry_of(
        "CREATE TABLE t (a set('x') CHARACTER SET binary, b varchar(3) CHARACTER SET binary)",
        "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4",
    )
    assert [column.collation for column in registry.table("d.t").columns] == ["binary", "binary"]


@pytest.mark.parametrize(
    "change",
    [
        "CHARACTER SET latin1, CONVERT TO CHARACTER SET utf8mb4",
        "RENAME TO u, ADD FOREIGN KEY (b) REFERENCES t (id)",
    ],
)
def test_statement_that_means_two_things_makes_the_table_unknown(change):
    assert not registry_of(T, f"ALTER TABLE t {change}").table("d.t").keys_known


def test_mariadb_takes_unique_primary_key_for_one_key_and_its_guards_for_the_keys_as_well():
    registry = SchemaRegistry()
    registry.note_mariadb()
    for sql in (
        "CREATE TABLE t (id int UNIQUE PRIMARY KEY, b int UNIQUE, c char(3) BINARY)"
        " COLLATE=utf8mb4_nopad_bin",
        "ALTER TABLE t MODIFY IF EXISTS b int UNIQUE, ADD IF NOT EXISTS c int UNIQUE",
    ):
        registry.observe_statement(sql, "d")
    assert keys(registry) == {"PRIMARY": ("id",), "b": ("b",), "c": ("c",)}
    assert registry.table("d.t").columns[2].collation == "utf8mb4_nopad_bin"
