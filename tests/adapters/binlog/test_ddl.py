"""Schema statements as both servers log and print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.schema.ddl import (
    AddColumn,
    AddForeignKey,
    AddKey,
    AlterTable,
    ChangeCharacterOptions,
    ChangeColumn,
    ChangeDefault,
    CreateTable,
    DropColumn,
    DropDatabase,
    DropForeignKey,
    DropKey,
    DropTables,
    NoSchemaChange,
    RenameColumn,
    RenameKey,
    RenameTables,
    RenameTo,
    SetDatabase,
    TableName,
    Unreadable,
    UseDatabase,
)
from paraply.adapters.binlog.schema.ddl_parser import parse_statement
from paraply.adapters.binlog.schema.sql_statements import split_statements
from paraply.adapters.binlog.schema.sql_tokens import TokenKind, tokenize, unescape


def table_of(sql):
    statement = parse_statement(sql)
    assert isinstance(statement, CreateTable), statement
    return statement


def actions_of(sql):
    statement = parse_statement(sql)
    assert isinstance(statement, AlterTable), statement
    return statement.actions


# Tokens


def test_quoted_names_and_strings_lose_their_quotes():
    kinds = [(t.kind, t.text) for t in tokenize("`a``b` 'it''s' \"d\"\"q\" 'x\\ny'")]
    assert kinds == [
        (TokenKind.NAME, "a`b"),
        (TokenKind.STRING, "it's"),
        (TokenKind.STRING, 'd"q'),
        (TokenKind.STRING, "x\ny"),
        (TokenKind.END, ""),
    ]


def test_executable_comments_are_read_and_others_skipped():
    sql = "a /*!50100 b */ /* c */ /*M!100100 d */ -- e\n f # g\n /*M!999999\\- h */ /*!99999 i */"
    assert [t.text for t in tokenize(sql)][:-1] == ["a", "b", "d", "f", "i"]


def test_text_that_breaks_off_ends_in_a_broken_token():
    for sql in ("CREATE TABLE `t", "SELECT 'abc", "/* never closed"):
        assert tokenize(sql)[-1].kind is TokenKind.BROKEN


def test_backslash_escapes_follow_the_server():
    assert unescape("a\\tb\\\\c\\%d\\qe") == "a\tb\\c\\%dqe"


@pytest.mark.long
@given(st.text(max_size=80))
def test_any_text_is_tokenized_and_parsed_without_an_error(text):
    assert tokenize(text)[-1].kind in (TokenKind.END, TokenKind.BROKEN)
    parse_statement(text)
    parse_statement("CREATE TABLE t (" + text)
    parse_statement("ALTER TABLE t " + text)


@given(st.integers(0, 600))
def test_a_statement_cut_anywhere_is_never_read_as_something_else(cut):
    whole = (
        "CREATE TABLE `d`.`t` (`id` int NOT NULL, `e` varchar(40) DEFAULT 'a;b', "
        "PRIMARY KEY (`id`), UNIQUE KEY `u` (`e`(10))) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"
    )
    statement = parse_statement(whole[:cut])
    if isinstance(statement, CreateTable):
        # Only the options after the closing parenthesis may be missing.
        complete = parse_statement(whole)
        assert (statement.columns, statement.keys) == (complete.columns, complete.keys) or (
            not statement.columns and cut <= whole.index("(")
        )


# CREATE TABLE


def test_a_table_as_mysqldump_prints_it():
    table = table_of(
        """CREATE TABLE `orders` (
          `id` bigint unsigned NOT NULL AUTO_INCREMENT COMMENT 'it''s, (odd)',
          `email` varchar(255) CHARACTER SET latin1 COLLATE latin1_german1_ci DEFAULT NULL,
          `total` decimal(10,2) NOT NULL DEFAULT '0.00',
          `made` timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
          `kind` enum('a','b)') NOT NULL,
          `flag` bit(1) DEFAULT b'0',
          `doc` json DEFAULT NULL,
          `email_lower` varchar(255) GENERATED ALWAYS AS (lower(`email`)) VIRTUAL,
          `hidden` int DEFAULT NULL /*!80023 INVISIBLE */,
          PRIMARY KEY (`id`),
          UNIQUE KEY `uk_email` (`email`(20) DESC,`kind`)
            USING BTREE COMMENT 'k' /*!80000 INVISIBLE */,
          KEY `made` (`made`),
          FULLTEXT KEY `ft` (`email`) /*!50100 WITH PARSER `ngram` */,
          CONSTRAINT `fk` FOREIGN KEY (`total`,`kind`) REFERENCES `other`.`p` (`a`,`b`)
            ON DELETE SET NULL ON UPDATE CASCADE,
          CONSTRAINT `positive` CHECK ((`total` > 0)) /*!80016 NOT ENFORCED */
        ) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4
        COLLATE=utf8mb4_0900_ai_ci COMMENT='x'
        /*!50100 PARTITION BY RANGE (`id`)
        (PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB) */"""
    )
    assert [c.name for c in table.columns] == [
        "id", "email", "total", "made", "kind", "flag", "doc", "email_lower", "hidden",
    ]  # fmt: skip
    by_name = {c.name: c for c in table.columns}
    assert by_name["id"].type_name == "bigint unsigned"
    assert by_name["id"].unsigned
    assert not by_name["id"].nullable
    assert by_name["email"].length == 255
    assert (by_name["email"].charset, by_name["email"].collation) == ("latin1", "latin1_german1_ci")
    assert by_name["email_lower"].generated
    assert by_name["email_lower"].virtual
    assert not by_name["hidden"].visible
    assert [(k.name, k.parts, k.is_unique) for k in table.keys] == [
        ("PRIMARY", (("id", 0),), True),
        ("uk_email", (("email", 20), ("kind", 0)), True),
        ("made", (("made", 0),), False),
        ("ft", (("email", 0),), False),
    ]
    (fk,) = table.foreign_keys
    assert (fk.name, fk.columns, fk.parent, fk.parent_columns) == (
        "fk", ("total", "kind"), TableName("other", "p"), ("a", "b"),
    )  # fmt: skip
    assert (fk.on_delete, fk.on_update) == ("SET NULL", "CASCADE")
    assert (table.options.charset, table.options.collation) == ("utf8mb4", "utf8mb4_0900_ai_ci")
    assert not table.from_query


@pytest.mark.parametrize(
    ("definition", "type_name", "length"),
    [
        ("INTEGER(11)", "int", 11),
        ("DOUBLE PRECISION", "double", 0),
        ("CHARACTER VARYING(9)", "varchar", 9),
        ("NATIONAL VARCHAR(5)", "varchar", 5),
        ("LONG VARBINARY", "mediumblob", 0),
        ("CHAR", "char", 1),
        ("BOOL", "tinyint", 0),
        ("SERIAL", "bigint unsigned", 0),
        ("CHAR(5) BYTE", "binary", 5),
        ("VARCHAR(5) CHARACTER SET binary", "varbinary", 5),
        ("INT DEFAULT -1 NOT NULL", "int", 0),
        ("INT DEFAULT (1 + (2)) COMMENT 'c'", "int", 0),
        ("DATETIME DEFAULT current_timestamp() ON UPDATE current_timestamp()", "datetime", 0),
        ("INT DEFAULT NEXT VALUE FOR `d`.`s`", "int", 0),
        ("VARCHAR(3) DEFAULT _utf8mb4'abc' CHECK (a <> '')", "varchar", 3),
        ("DECIMAL(5,2) DEFAULT 1.5 ZEROFILL", "decimal unsigned", 5),
        ("POINT NOT NULL SRID 4326", "point", 0),
        ("VARCHAR(9) COMPRESSED", "varchar", 9),
        ("VECTOR(3) REF_SYSTEM_ID=0", "vector", 3),
    ],
)
def test_column_types_and_attributes(definition, type_name, length):
    (column,) = table_of(f"CREATE TABLE t (a {definition})").columns
    assert (column.type_name, column.length) == (type_name, length)


def test_keys_inside_column_definitions():
    table = table_of("create table t (a int primary key, b int unique key, c int references p(x))")
    assert [c.is_primary for c in table.columns] == [True, False, False]
    assert table.columns[1].is_unique
    assert table.columns[2].references.parent == TableName("", "p")


def test_functional_part_is_named_as_the_reason_that_a_key_cannot_be_built():
    (key,) = table_of("CREATE TABLE t (a int, UNIQUE KEY k (a, (a + 1) DESC))").keys
    assert "expression" in key.beyond
    (key,) = table_of("CREATE TABLE t (a int, UNIQUE (a, p WITHOUT OVERLAPS))").keys
    assert "period" in key.beyond
    assert key.parts == (("a", 0),)


def test_names_that_are_words_and_ansi_quotes():
    table = table_of('CREATE TABLE "t" ("a b" int, comment int, `key` int, UNIQUE (`key`))')
    assert [c.name for c in table.columns] == ["a b", "comment", "key"]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE t SELECT 1 AS a",
        "CREATE TABLE t (a int) AS SELECT a FROM u",
        "CREATE TABLE t (SELECT 1 AS a)",
        "CREATE TABLE t ENGINE=InnoDB WITH c AS (SELECT 1) SELECT * FROM c",
        "CREATE TABLE t (a int) IGNORE SELECT 1",
    ],
)
def test_columns_from_a_query_are_said_to_be_unnamed(sql):
    assert table_of(sql).from_query


def test_atomic_create_select_is_a_full_definition():
    # MySQL 8.0.21: the log spells the columns out and the rows follow.
    assert not table_of("CREATE TABLE t (a int, PRIMARY KEY (a)) START TRANSACTION").from_query


def test_create_table_like():
    assert table_of("CREATE TABLE IF NOT EXISTS a LIKE `d`.`b`").like == TableName("d", "b")
    assert table_of("CREATE TABLE a (LIKE b)").like == TableName("", "b")


def test_system_versioning_is_noticed():
    assert table_of("CREATE TABLE t (a int) WITH SYSTEM VERSIONING").versioned
    assert table_of(
        "CREATE TABLE t (a int, s timestamp(6) GENERATED ALWAYS AS ROW START,"
        " e timestamp(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (s, e))"
    ).versioned


def test_an_unknown_attribute_makes_the_statement_unreadable_with_its_table():
    statement = parse_statement("CREATE TABLE d.t (a int FANCY_NEW_THING)")
    assert isinstance(statement, Unreadable)
    assert statement.tables == (TableName("d", "t"),)
    assert "FANCY_NEW_THING" in statement.reason


def test_temporary_tables_change_no_schema():
    for sql in ("CREATE TEMPORARY TABLE t (a int)", "DROP TEMPORARY TABLE IF EXISTS t"):
        assert isinstance(parse_statement(sql), NoSchemaChange)


# ALTER TABLE


def test_alter_table_actions_in_order():
    actions = actions_of(
        "ALTER ONLINE TABLE d.t ADD COLUMN a int NOT NULL FIRST, ADD b int AFTER `c`,"
        " ADD COLUMN (e int, f int), DROP COLUMN g, DROP h,"
        " MODIFY COLUMN i varchar(3) AFTER j, CHANGE k l int, RENAME COLUMN m TO n,"
        " ADD PRIMARY KEY (a), ADD CONSTRAINT u UNIQUE (b(3)), ADD INDEX x (e), DROP INDEX y,"
        " DROP PRIMARY KEY, RENAME INDEX p TO q,"
        " ADD CONSTRAINT fk FOREIGN KEY (e) REFERENCES p (id) ON DELETE CASCADE,"
        " DROP FOREIGN KEY fk2, CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,"
        " DEFAULT CHARACTER SET = latin1, ENGINE=InnoDB ROW_FORMAT=DYNAMIC, ALGORITHM=INPLACE,"
        " ALTER COLUMN a SET DEFAULT 3, ADD CHECK (a > 0), ORDER BY a, b"
    )
    assert [type(a) for a in actions] == [
        AddColumn, AddColumn, AddColumn, AddColumn, DropColumn, DropColumn, ChangeColumn,
        ChangeColumn, RenameColumn, AddKey, AddKey, AddKey, DropKey, DropKey, RenameKey,
        AddForeignKey, DropForeignKey, ChangeCharacterOptions, ChangeCharacterOptions,
        ChangeDefault,
    ]  # fmt: skip
    assert [a.after for a in actions[:2]] == ["", "c"]
    assert actions[6].after == "j"
    assert (actions[7].old_name, actions[7].column.name) == ("k", "l")
    assert actions[10].key.name == "u"
    assert actions[10].key.parts == (("b", 3),)
    assert actions[17].convert


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE t PARTITION BY HASH(a) PARTITIONS 4",
        "ALTER TABLE t ADD PARTITION (PARTITION p1 VALUES LESS THAN (20))",
        "ALTER TABLE t DROP PARTITION p0, p1",
        "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u",
        "ALTER TABLE t FORCE",
        "ALTER TABLE t ENGINE = InnoDB",
        "ALTER TABLE t DISABLE KEYS",
        "ALTER TABLE t COMMENT 'x', AUTO_INCREMENT 5",
        "ALTER TABLE t ALTER INDEX k INVISIBLE",
        "ALTER TABLE t DISCARD TABLESPACE",
        "ALTER TABLE t",
    ],
)
def test_alter_table_that_moves_no_key(sql):
    assert actions_of(sql) == ()


@pytest.mark.parametrize(
    "sql",
    ["ALTER TABLE t ADD SYSTEM VERSIONING", "ALTER TABLE t FANCY NEW THING", "ALTER TABLE t ADD a"],
)
def test_alter_table_beyond_the_parser_names_its_table(sql):
    statement = parse_statement(sql)
    assert isinstance(statement, Unreadable)
    assert statement.tables == (TableName("", "t"),)


def test_guarded_alter_of_mariadb():
    add, drop, key = actions_of(
        "ALTER TABLE IF EXISTS t WAIT 5 ADD COLUMN IF NOT EXISTS a int, DROP COLUMN IF EXISTS b,"
        " ADD UNIQUE KEY IF NOT EXISTS u (a)"
    )
    assert add.if_not_exists
    assert drop.if_exists
    assert key.if_not_exists


def test_drop_constraint_may_mean_a_key_or_another_constraint():
    (action,) = actions_of("ALTER TABLE t DROP CONSTRAINT c")
    assert action == DropKey(name="c", may_be_other=True)


def test_create_and_drop_index():
    (action,) = actions_of("CREATE UNIQUE INDEX `u` USING BTREE ON `t` (`a`(5), `b` DESC)")
    assert action.key.is_unique
    assert action.key.parts == (("a", 5), ("b", 0))
    (action,) = actions_of("DROP INDEX IF EXISTS u ON d.t")
    assert action == DropKey(name="u", if_exists=True)
    (action,) = actions_of("SET STATEMENT lock_wait_timeout=1 FOR CREATE INDEX i ON t (a)")
    assert not action.key.is_unique


def test_other_statements():
    assert parse_statement("RENAME TABLE a TO b, d.c TO d.e") == RenameTables(
        pairs=(
            (TableName("", "a"), TableName("", "b")),
            (TableName("d", "c"), TableName("d", "e")),
        )
    )
    assert actions_of("ALTER TABLE a RENAME TO d.b") == (RenameTo(table=TableName("d", "b")),)
    assert parse_statement("DROP TABLE IF EXISTS `a`,`d`.`b` /* generated by server */") == (
        DropTables(tables=(TableName("", "a"), TableName("d", "b")))
    )
    assert parse_statement("DROP DATABASE IF EXISTS `d`") == DropDatabase(name="d")
    assert parse_statement("use `d`") == UseDatabase(name="d")
    created = parse_statement("CREATE DATABASE d DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    assert isinstance(created, SetDatabase)
    assert created.options.collation == "utf8mb4_bin"
    assert isinstance(parse_statement("TRUNCATE TABLE t"), NoSchemaChange)
    for sql in ("CREATE USER u", "GRANT ALL ON *.* TO u", "INSERT INTO t VALUES (1)", "BEGIN", ""):
        assert isinstance(parse_statement(sql), NoSchemaChange)


# Scripts


def test_scripts_are_split_at_delimiters_outside_quotes_and_comments():
    script = (
        "-- head; er\nUSE d;\n\nCREATE TABLE t (a int COMMENT 'x;y') /* ; */;\n"
        "DELIMITER //\nCREATE TRIGGER x BEGIN a; b; END//\nDELIMITER ;\nDROP TABLE `a;b`"
    )
    assert [(line, sql.split(" ")[0]) for line, sql in split_statements(script)] == [
        (2, "USE"),
        (4, "CREATE"),
        (6, "CREATE"),
        (8, "DROP"),
    ]


@given(st.text(alphabet="ab;'`\"\\/*-#\n DELIMTRdelimtr$", max_size=60))
def test_any_script_is_split_without_an_error(script):
    for line, sql in split_statements(script):
        assert sql.strip()
        assert 1 <= line <= script.count("\n") + 1
