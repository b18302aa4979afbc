"""What is known of tables at each moment of a log, and how far it may be trusted."""

from __future__ import annotations

import pytest

from paraply.adapters.binlog.schema import registry as schema_registry
from paraply.adapters.binlog.schema.dump import load_schema_file, load_schema_text
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schema import Column, KeyPart, SchemaSource, TableSchema, UniqueKey
from tests.builders.key_cases import registry_of


def keys(registry, table="d.t"):
    """Return the unique keys of a table by name, as column names with prefixes."""
    schema = registry.table(table)
    return {
        key.name: tuple(
            schema.columns[part.column].name
            + (f"({part.prefix_length})" if part.prefix_length else "")
            for part in key.parts
        )
        for key in schema.unique_keys
    }


def columns(registry, table="d.t"):
    return [column.name for column in registry.table(table).columns]


def table_map(*named_types, name="d.t", primary=None, collations=()):
    """Return metadata as a decoder makes it; unnamed columns are @1, @2..."""
    found = []
    for position, spec in enumerate(named_types, start=1):
        column, _, type_name = spec.rpartition(" ")
        collation = collations[position - 1] if collations else ""
        found.append(
            Column(name=column or f"@{position}", type_name=type_name, collation=collation)
        )
    unique = ()
    if primary is not None:
        unique = (UniqueKey(name="PRIMARY", parts=tuple(KeyPart(column=at) for at in primary)),)
    return TableSchema(
        name=name,
        columns=tuple(found),
        unique_keys=unique,
        keys_known=primary is not None,
        sources={SchemaSource.TABLE_MAP},
    )


T = "CREATE TABLE t (id int PRIMARY KEY, a varchar(9), b int, UNIQUE KEY uk (a(3), b))"


# Statements


def test_key_that_partial_images_name_rows_by_comes_first():
    table = registry_of(
        "CREATE TABLE t (a int, b int NOT NULL, c varchar(9) NOT NULL, d int NOT NULL,"
        " UNIQUE null_able (a), UNIQUE prefixed (c(3)), UNIQUE whole (b), PRIMARY KEY (d))"
    ).table("d.t")
    assert [key.name for key in table.unique_keys] == ["PRIMARY", "whole", "prefixed", "null_able"]


def test_created_table_is_known_completely():
    registry = registry_of(T)
    schema = registry.table("d.t")
    assert keys(registry) == {"PRIMARY": ("id",), "uk": ("a(3)", "b")}
    assert schema.keys_known
    assert schema.keys_complete
    assert schema.sources == {SchemaSource.LOGGED_DDL}
    assert not schema.unknown_because
    assert not schema.columns[0].nullable
    assert not registry.assumptions


def test_columns_move_as_the_server_moves_them():
    registry = registry_of(T, "ALTER TABLE t ADD x int AFTER id, MODIFY b int FIRST, ADD y int")
    assert columns(registry) == ["b", "id", "x", "a", "y"]


@pytest.mark.parametrize(
    "change",
    ["ADD COLUMN a int", "DROP COLUMN z", "MODIFY z int", "DROP INDEX z", "ADD UNIQUE (z)",
     "ADD UNIQUE uk (b)", "RENAME INDEX z TO y", "FANCY NEW THING"],
)  # fmt: skip
def test_statement_that_does_not_fit_makes_the_table_unknown_and_says_why(change):
    registry = registry_of(T, f"ALTER TABLE t {change}")
    schema = registry.table("d.t")
    assert not schema.unique_keys
    assert not schema.keys_known
    assert "bin.000001:4" in schema.unknown_because


def test_unknown_table_stays_unknown_with_its_reason_until_it_is_created_anew():
    registry = registry_of(T, "ALTER TABLE t FANCY", "ALTER TABLE t ADD UNIQUE (b)")
    assert "FANCY" in registry.table("d.t").unknown_because
    registry.observe_table_map(table_map("id int", "a varchar", "b int", primary=(0,)))
    assert "FANCY" in registry.table("d.t").unknown_because
    assert keys(registry) == {"PRIMARY": ("id",)}
    registry.observe_statement(T, "d")
    assert registry.table("d.t").keys_complete


def test_statement_whose_table_is_not_even_clear_puts_every_table_in_doubt():
    registry = registry_of(T, "CREATE TABLE u (a int)", "ALTER TABLE `t")
    assert registry.table("d.t").unknown_because
    assert registry.table("d.u").unknown_because


def test_create_if_not_exists_keeps_what_is_known():
    registry = registry_of(T, "CREATE TABLE IF NOT EXISTS t (x int)")
    assert columns(registry) == ["id", "a", "b"]
    assert not registry.assumptions


def test_create_if_not_exists_of_an_unknown_table_leaves_it_unknown():
    registry = registry_of("CREATE TABLE IF NOT EXISTS t (x int PRIMARY KEY)")
    assert keys(registry) == {}
    assert "IF NOT EXISTS" in registry.table("d.t").unknown_because


@pytest.mark.parametrize(
    "before",
    ["DROP TABLE IF EXISTS t", "DROP DATABASE d", "CREATE DATABASE d", "RENAME TABLE t TO old"],
)
def test_create_if_not_exists_creates_what_the_log_showed_to_be_absent(before):
    registry = registry_of(before, "CREATE TABLE IF NOT EXISTS t (x int PRIMARY KEY)")
    assert keys(registry) == {"PRIMARY": ("x",)}
    assert registry.table("d.t").foreign_keys_known


@pytest.mark.parametrize(
    "before",
    [
        "CREATE DATABASE IF NOT EXISTS d",
        "DROP TABLE u",
        "DROP TEMPORARY TABLE IF EXISTS t",
        "DROP TABLE t; RENAME TABLE x TO t",
        "CREATE DATABASE d; RENAME TABLE e.x TO d.t",
    ],
)
def test_create_if_not_exists_believes_nothing_less(before):
    registry = registry_of(*before.split("; "), "CREATE TABLE IF NOT EXISTS t (x int PRIMARY KEY)")
    assert keys(registry) == {}
    assert not registry.table("d.t").foreign_keys_known


def test_like_copies_keys_but_not_foreign_keys():
    registry = registry_of(
        T, "ALTER TABLE t ADD FOREIGN KEY (b) REFERENCES p (id)", "CREATE TABLE u LIKE t"
    )
    assert keys(registry, "d.u") == keys(registry)
    assert not registry.table("d.u").foreign_keys


def test_like_an_unknown_table_and_tables_from_queries_are_unknown():
    registry = registry_of("CREATE TABLE u LIKE nowhere", "CREATE TABLE v AS SELECT 1 AS a")
    assert "like a table" in registry.table("d.u").unknown_because
    assert "query" in registry.table("d.v").unknown_because


def test_rename_takes_keys_and_references_along():
    registry = registry_of(
        T,
        "CREATE TABLE c (id int PRIMARY KEY, tid int, FOREIGN KEY (tid) REFERENCES t (id))",
        "RENAME TABLE t TO x, x TO e.y",
        "ALTER TABLE e.y RENAME COLUMN id TO key_id",
    )
    assert registry.table("d.t") is None
    assert keys(registry, "e.y")["PRIMARY"] == ("key_id",)
    (child,) = registry.referencing("e.y")
    assert child[0] == "d.c"
    assert child[1].parent_columns == ("key_id",)


def test_generated_foreign_key_names_follow_the_table():
    registry = registry_of(
        "CREATE TABLE c (a int, b int, FOREIGN KEY (a) REFERENCES p (x),"
        " FOREIGN KEY (b) REFERENCES p (y))",
        "RENAME TABLE c TO k",
        "ALTER TABLE k DROP FOREIGN KEY k_ibfk_1",
    )
    assert [key.name for key in registry.table("d.k").foreign_keys] == ["k_ibfk_2"]


def test_dropped_tables_and_databases_are_forgotten():
    registry = registry_of(T, "CREATE TABLE u (a int)", "DROP TABLE IF EXISTS t, nowhere")
    assert registry.table("d.t") is None
    registry.observe_statement("DROP DATABASE d")
    assert registry.tables() == ()


@pytest.mark.parametrize("spelled", ["t", "T"])
def test_table_map_after_a_drop_teaches_what_the_same_one_taught_before(spelled):
    registry = registry_of(T)
    shown = table_map("id int", "a varchar", "b int", primary=(0,))
    registry.observe_table_map(shown)
    registry.observe_statement(f"DROP TABLE {spelled}", "d")
    assert registry.table("d.t") is None
    registry.observe_table_map(shown)
    assert registry.table("d.t").unique_keys == shown.unique_keys


def test_truncate_changes_nothing_that_is_known():
    registry = registry_of(T)
    version = registry.version
    registry.observe_statement("TRUNCATE TABLE t", "d")
    assert registry.version == version


def test_defaults_of_database_table_and_column_settle_the_collation():
    registry = registry_of(
        "CREATE DATABASE d CHARACTER SET latin1",
        "CREATE TABLE t (a char(1), b char(1) CHARACTER SET utf8, c char(1) BINARY, d blob)",
        "CREATE TABLE u (a char(1)) COLLATE utf8mb4_bin",
        "CREATE TABLE e.v (a char(1))",
    )
    assert [column.collation for column in registry.table("d.t").columns] == [
        "latin1_swedish_ci", "", "latin1_bin", "binary",
    ]  # fmt: skip
    assert registry.table("d.u").columns[0].collation == "utf8mb4_bin"
    assert registry.table("e.v").columns[0].collation == ""
    registry.observe_statement("ALTER TABLE t CONVERT TO CHARACTER SET ascii", "d")
    assert [column.collation for column in registry.table("d.t").columns] == [
        "ascii_general_ci", "ascii_general_ci", "ascii_general_ci", "binary",
    ]  # fmt: skip


def test_collations_of_mysql_mean_others_in_mariadb():
    registry = registry_of(
        "CREATE TABLE t (a char(4) COLLATE utf8mb4_0900_ai_ci, b char(4) COLLATE utf8mb4_0900_bin,"
        " c char(4) COLLATE utf8mb4_da_0900_ai_ci, d char(4) COLLATE utf8mb4_bin)"
    )
    in_mysql = [column.collation for column in registry.table("d.t").columns]
    assert in_mysql == [
        "utf8mb4_0900_ai_ci", "utf8mb4_0900_bin", "utf8mb4_da_0900_ai_ci", "utf8mb4_bin",
    ]  # fmt: skip
    version = registry.version
    registry.note_mariadb()
    registry.note_mariadb()
    assert registry.version == version + 1
    assert [column.collation for column in registry.table("d.t").columns] == [
        "utf8mb4_uca1400_nopad_ai_ci", "utf8mb4_nopad_bin", "", "utf8mb4_bin",
    ]  # fmt: skip


def test_functional_key_makes_the_keys_incomplete_with_the_reason():
    schema = registry_of("CREATE TABLE t (id int PRIMARY KEY, UNIQUE f ((id + 1)))").table("d.t")
    assert not schema.keys_complete
    assert "expression" in schema.unknown_because


@pytest.mark.parametrize(
    ("column", "hashed"),
    [
        ("a text UNIQUE", True),
        ("a longblob, UNIQUE (a)", True),
        ("a varchar(769) UNIQUE", True),
        ("a text, UNIQUE (a(9))", False),
        ("a text, KEY (a)", False),
        ("a varchar(768) UNIQUE", False),
    ],
)
def test_hash_that_mariadb_keeps_of_long_unique_values_is_a_hidden_column(column, hashed):
    registry = registry_of(f"CREATE TABLE t (id int PRIMARY KEY, {column})")
    named = keys(registry)
    kind = registry.table("d.t").columns[1].type_name
    registry.observe_table_map(table_map("int", kind, "bigint"))
    assert registry.table("d.t").keys_complete == hashed
    assert keys(registry) == (named if hashed else {})


def test_key_without_overlaps_leaves_the_table_known():
    columns = "id int, s date, e date, PERIOD FOR p (s, e)"
    sql = f"CREATE TABLE t ({columns}, UNIQUE (id, p WITHOUT OVERLAPS))"
    schema = registry_of(sql).table("d.t")
    assert not schema.keys_complete
    assert schema.foreign_keys_known
    assert "periods" in schema.unknown_because


@pytest.mark.parametrize(
    ("sql", "nothing"),
    [
        ("CREATE TABLE IF NOT EXISTS t (i int)", True),
        ("CREATE TABLE IF NOT EXISTS d.T (i int)", False),
        ("CREATE TABLE IF NOT EXISTS dumped (i int)", False),
        ("CREATE TABLE IF NOT EXISTS gone (i int)", False),
        ("CREATE TABLE IF NOT EXISTS seen LIKE t", True),
        ("CREATE TABLE t (i int)", False),
        ("CREATE OR REPLACE TABLE t (i int)", False),
        ("CREATE DATABASE IF NOT EXISTS d", True),
        ("CREATE DATABASE IF NOT EXISTS e", False),
        ("ALTER DATABASE d CHARACTER SET latin1", False),
        ("DROP TABLE IF EXISTS t", False),
    ],
)
def test_statement_that_creates_only_what_the_log_shows_creates_nothing(sql, nothing):
    registry = SchemaRegistry()
    load_schema_text(registry, "CREATE TABLE d.dumped (i int);", "dump")
    registry.observe_statement(T, "d")
    registry.observe_table_map(table_map("int", name="d.seen"))
    registry.observe_statement("CREATE TABLE gone (i int)", "d")
    registry.observe_statement("DROP TABLE gone", "d")
    assert registry.creates_nothing(sql, "d") is nothing


def test_version_grows_with_every_change_only():
    registry = SchemaRegistry()
    registry.observe_statement(T, "d")
    version = registry.version
    registry.observe_statement("INSERT INTO t VALUES (1)", "d")
    assert registry.version == version
    registry.observe_statement("ALTER TABLE t DROP INDEX uk", "d")
    assert registry.version > version


# Table maps


def test_metadata_alone_knows_the_primary_key_but_not_that_it_is_all():
    registry = SchemaRegistry()
    registry.observe_table_map(table_map("id int", "a varchar", primary=(0,)))
    schema = registry.table("d.t")
    assert keys(registry) == {"PRIMARY": ("id",)}
    assert schema.keys_known
    assert not schema.keys_complete
    assert schema.sources == {SchemaSource.TABLE_MAP}


def test_metadata_completes_a_statement_with_collations_and_signedness():
    registry = registry_of("CREATE TABLE t (id int PRIMARY KEY, a varchar(9), UNIQUE (a))")
    registry.observe_table_map(table_map(" int", " varchar", collations=("", "utf8mb4_0900_ai_ci")))
    schema = registry.table("d.t")
    assert schema.columns[1].collation == "utf8mb4_0900_ai_ci"
    assert schema.columns[1].charset == "utf8mb4"
    assert schema.keys_complete
    assert schema.sources == {SchemaSource.LOGGED_DDL, SchemaSource.TABLE_MAP}


def test_the_same_metadata_again_changes_nothing():
    registry = registry_of(T)
    maps = [table_map(" int", " varchar", " int") for _ in range(2)]
    registry.observe_table_map(maps[0])
    version = registry.version
    registry.observe_table_map(maps[1])
    assert registry.version == version


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (table_map(" int", " varchar"), "3 columns"),
        (table_map(" int", " int", " int"), "column 2"),
        (table_map("id int", "x varchar", "b int"), "column 2"),
        (table_map("id int", "a varchar", "b int", primary=(2,)), "primary key"),
        (table_map("id int", "a varchar", "b int"), "primary key"),
    ],
)
def test_metadata_that_contradicts_a_statement_outweighs_it(metadata, reason):
    registry = registry_of(T)
    registry.observe_table_map(metadata)
    schema = registry.table("d.t")
    assert reason in schema.unknown_because
    assert not schema.keys_complete
    assert len(schema.columns) == len(metadata.columns)


def test_mariadb_metadata_may_call_a_unique_key_primary():
    registry = registry_of("CREATE TABLE t (a int NOT NULL, b int, UNIQUE u (a))")
    registry.observe_table_map(table_map("a int", "b int", primary=(0,)))
    assert keys(registry) == {"u": ("a",)}
    assert registry.table("d.t").keys_complete


def test_mutant_that_does_not_compare_metadata_is_caught(monkeypatch):
    monkeypatch.setattr(schema_registry, "mismatch", lambda known, metadata: "")
    with pytest.raises(AssertionError):
        test_metadata_that_contradicts_a_statement_outweighs_it(
            table_map(" int", " varchar"), "3 columns"
        )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("json", "longtext"), ("json", "json"), ("uuid", "binary"), ("point", "geometry"),
     ("varbinary(4)", "varchar"), ("boolean", "tinyint"), ("double", "double"),
     ("vector(3)", "varchar"), ("tinytext", "tinyblob"), ("int unsigned", "int")],
)  # fmt: skip
def test_types_that_one_wire_type_stands_for_fit(ours, theirs):
    registry = registry_of(f"CREATE TABLE t (a {ours})")
    registry.observe_table_map(table_map(f" {theirs}"))
    assert not registry.table("d.t").unknown_because


def test_alter_of_a_table_known_from_metadata_only_waits_for_the_next_metadata():
    registry = SchemaRegistry()
    registry.observe_table_map(table_map("id int", primary=(0,)))
    registry.observe_statement("ALTER TABLE t ADD x int FIRST", "d")
    assert not registry.table("d.t").keys_known
    registry.observe_table_map(table_map("x int", "id int", primary=(1,)))
    assert keys(registry) == {"PRIMARY": ("id",)}


def test_names_in_another_case_are_one_table_by_assumption():
    registry = registry_of("CREATE TABLE Users (id int PRIMARY KEY)")
    registry.observe_table_map(table_map(" int", name="d.users"))
    assert registry.table("d.users").keys_complete
    assert any("lower_case_table_names" in text for text in registry.assumptions)


def test_tables_that_both_exist_in_two_cases_are_two():
    registry = registry_of("CREATE TABLE t (a int)", "CREATE TABLE T (b int PRIMARY KEY)")
    assert columns(registry, "d.t") == ["a"]
    assert columns(registry, "d.T") == ["b"]


# Schema files

DUMP = """-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
/*!40101 SET character_set_client = utf8 */;
DROP TABLE IF EXISTS `t`;
CREATE TABLE `t` (
  `id` int NOT NULL AUTO_INCREMENT,
  `a` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `uk` (`a`)
) ENGINE=InnoDB DEFAULT CHARSET=latin1;
/*!50001 CREATE VIEW `v` AS SELECT 1 AS `id`*/;
DELIMITER ;;
/*!50003 CREATE*/ /*!50003 TRIGGER `x` BEFORE INSERT ON `t` FOR EACH ROW SET NEW.a = 1 */;;
DELIMITER ;
INSERT INTO `t` VALUES (1,'a;b'),(2,'CREATE TABLE x (');
"""


def test_dump_is_read_with_the_database_of_its_header(tmp_path):
    registry = SchemaRegistry()
    path = tmp_path / "shop.sql"
    path.write_text(DUMP)
    assert load_schema_file(registry, path) == 1
    schema = registry.table("shop.t")
    assert keys(registry, "shop.t") == {"PRIMARY": ("id",), "uk": ("a",)}
    assert schema.sources == {SchemaSource.DUMP}
    assert schema.columns[1].collation == "latin1_swedish_ci"
    assert schema.columns[0].auto_increment
    assert any("shop.sql" in text for text in registry.assumptions)


def test_dump_of_several_databases_follows_use():
    registry = SchemaRegistry()
    script = (
        "USE a; CREATE TABLE t (x int); USE `b`; CREATE TABLE t (y int); CREATE TABLE c.t (z int)"
    )
    assert load_schema_text(registry, script, "s.sql") == 3
    assert [columns(registry, f"{name}.t") for name in "abc"] == [["x"], ["y"], ["z"]]


def test_show_create_table_in_vertical_form():
    text = (
        "USE d;\n*************************** 1. row ***************************\n"
        "       Table: t\nCreate Table: CREATE TABLE `t` (\n  `id` int NOT NULL,\n"
        "  PRIMARY KEY (`id`)\n) ENGINE=InnoDB\n"
        "*************************** 2. row ***************************\n"
        "       Table: u\nCreate Table: CREATE TABLE `u` (\n  `a` int\n) ENGINE=InnoDB\n"
    )
    registry = SchemaRegistry()
    assert load_schema_text(registry, text, "s.sql") == 2
    assert keys(registry) == {"PRIMARY": ("id",)}


def test_show_create_table_in_batch_form():
    text = (
        "USE d;\nTable\tCreate Table\n"
        "t\tCREATE TABLE `t` (\\n  `id` int NOT NULL,\\n  PRIMARY KEY (`id`)\\n) ENGINE=InnoDB\n"
    )
    registry = SchemaRegistry()
    assert load_schema_text(registry, text, "s.sql") == 1
    assert keys(registry) == {"PRIMARY": ("id",)}


def test_utf8mb4_alone_in_a_dump_means_general_ci_by_assumption():
    registry = SchemaRegistry()
    load_schema_text(registry, "CREATE TABLE d.t (a char(1)) DEFAULT CHARSET=utf8mb4", "s.sql")
    assert registry.table("d.t").columns[0].collation == "utf8mb4_general_ci"
    assert any("utf8mb4" in text for text in registry.assumptions)


@pytest.mark.parametrize(
    ("text", "code", "where"),
    [
        ("USE d;\n\nCREATE TABLE t (a FANCY(", "P203", "s.sql:3"),
        ("USE d;\nCREATE TABLE t (a int SPARKLING);", "P203", "s.sql:2"),
        ("CREATE TABLE t (a int);", "P205", "s.sql:1"),
        ("SELECT 1;", "P204", "s.sql"),
        ("", "P204", "s.sql"),
        ("CREATE TABLE d.t (a int, UNIQUE (b));", "P206", "s.sql:1"),
        ("CREATE TABLE d.t (a int);\nALTER TABLE d.t DROP COLUMN z;", "P206", "s.sql:2"),
    ],
)
def test_schema_text_that_cannot_be_used_names_its_line(text, code, where):
    with pytest.raises(ParaplyError) as caught:
        load_schema_text(SchemaRegistry(), text, "s.sql")
    assert caught.value.error.code == code
    assert caught.value.where == where
    assert caught.value.remedy


def test_schema_file_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(ParaplyError, match="P201"):
        load_schema_file(SchemaRegistry(), tmp_path / "absent.sql")
    binary = tmp_path / "bin.000001"
    binary.write_bytes(b"\xfebin\x00\xff")
    with pytest.raises(ParaplyError, match="P201"):
        load_schema_file(SchemaRegistry(), binary)
    monkeypatch.setattr("paraply.adapters.binlog.schema.dump.SIZE_BYTES_MAX", 3)
    with pytest.raises(ParaplyError, match="P202"):
        load_schema_file(SchemaRegistry(), binary)


def test_dump_that_is_newer_than_the_log_is_noticed():
    registry = SchemaRegistry()
    load_schema_text(registry, "CREATE TABLE d.t (id int PRIMARY KEY, x int)", "s.sql")
    registry.observe_statement("ALTER TABLE t ADD x int", "d", where="bin.000001:99")
    assert "newer than the log" in registry.table("d.t").unknown_because


def test_statements_in_the_log_go_on_from_the_dump():
    registry = SchemaRegistry()
    load_schema_text(registry, "CREATE TABLE d.t (id int PRIMARY KEY, x int)", "s.sql")
    registry.observe_statement("ALTER TABLE t ADD UNIQUE (x)", "d")
    assert keys(registry) == {"PRIMARY": ("id",), "x": ("x",)}
    assert registry.table("d.t").sources == {SchemaSource.DUMP, SchemaSource.LOGGED_DDL}


NOW = "CREATE TABLE d.t (id int PRIMARY KEY, a int, UNIQUE u (a)); CREATE TABLE d.o (x int);"


@pytest.mark.parametrize(
    ("logged", "distrusted"),
    [
        ("ALTER TABLE t ADD COLUMN b int", set()),
        ("ALTER TABLE t ADD COLUMN a int", {"d.t"}),
        ("ALTER TABLE t MODIFY a int", {"d.t"}),
        ("ALTER TABLE t DROP INDEX gone", {"d.t"}),
        ("ALTER TABLE t ENGINE=InnoDB", set()),
        ("CREATE TABLE t (id int)", set()),
        ("ALTER TABLE o ADD y int; CREATE TABLE t (id int)", {"d.o"}),
        ("RENAME TABLE o TO t", {"d.o", "d.t"}),
        ("RENAME TABLE t TO n; ALTER TABLE n MODIFY a int", {"d.t"}),
        ("RENAME TABLE t TO n, o TO t, n TO o", {"d.o", "d.t"}),
        ("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY, a int, UNIQUE u (a))", {"d.t"}),
        ("DROP TABLE t; CREATE TABLE t (id int PRIMARY KEY)", set()),
    ],
)
def test_dump_is_distrusted_for_what_the_log_shows_to_be_newer_perhaps(logged, distrusted):
    registry = SchemaRegistry()
    load_schema_text(registry, NOW, "dump.sql")
    for sql in logged.split("; "):
        registry.observe_statement(sql, "d", where="bin.000001:4")
    assert registry.doubts.distrusted == distrusted


def test_tables_of_a_dump_that_are_not_understood_are_unknown_and_the_others_known():
    registry = SchemaRegistry()
    text = (
        "USE d; CREATE TABLE t (id int PRIMARY KEY);"
        "CREATE TABLE v (id int PRIMARY KEY) WITH SYSTEM VERSIONING;"
        "CREATE TABLE s (a int SPARKLING);"
    )
    assert load_schema_text(registry, text, "dump.sql") == 1
    assert registry.table("d.t").keys_complete
    assert not registry.table("d.v").keys_known
    assert not registry.table("d.s").keys_known
    assert any("SPARKLING" in text for text in registry.assumptions)


def test_table_of_which_only_the_keys_are_not_known_keeps_its_foreign_keys():
    registry = registry_of(
        "CREATE TABLE v (id int PRIMARY KEY, p int, FOREIGN KEY (p) REFERENCES q (id))"
        " WITH SYSTEM VERSIONING",
        "CREATE TABLE f (id int PRIMARY KEY, a int, UNIQUE k ((a + 1)))",
        "CREATE TABLE l LIKE nothing",
    )
    assert all(registry.table(f"d.{name}").foreign_keys_known for name in "vfl")
    assert not any(registry.table(f"d.{name}").keys_complete for name in "vfl")
    assert [key.parent for key in registry.table("d.v").foreign_keys] == ["d.q"]
    for name, hidden in (("v", 2), ("f", 1)):
        columns = (*registry.table(f"d.{name}").columns, *(Column(name="@") for _ in range(hidden)))
        registry.observe_table_map(TableSchema(name=f"d.{name}", columns=columns))
        assert registry.table(f"d.{name}").foreign_keys_known
    assert [key.name for key in registry.table("d.f").unique_keys] == ["PRIMARY"]
