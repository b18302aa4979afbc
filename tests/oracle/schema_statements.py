"""Random schema statements: every clause that the audit reads, and those that it must skip."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

_TABLES = ("t0", "t1", "T2", "`t 3`")
_COLUMNS = ("a", "b", "c", "d", "E", "`f f`", "`key`")
_INDEXES = ("k0", "k1", "k2", "a", "`x y`")
_NUMBERS = (
    "int", "INTEGER(3)", "tinyint", "bigint unsigned", "smallint zerofill", "bool", "int4",
    "decimal(8,2)", "dec unsigned", "numeric(5)", "float", "double precision", "real", "bit(5)",
    "mediumint signed", "float8", "fixed(4,1)",
)  # fmt: skip
_TIMES = ("date", "datetime(3)", "time", "year", "timestamp NULL", "timestamp(2) NULL")
_TEXTS = (
    "varchar(8)", "char(4)", "char", "varchar(20)", "tinytext", "text", "mediumtext",
    "enum('x','y,)','z')", "set('p','q''')", "national varchar(6)", "nchar(5)", "long varchar",
    "character varying(7)", "nchar varchar(5)",
)  # fmt: skip
_BYTES = ("binary(4)", "varbinary(8)", "blob", "tinyblob", "long varbinary", "varbinary(3)")
_CHARSETS = ("latin1", "utf8mb4", "ucs2", "ascii", "binary")
_COLLATIONS = {
    True: ("latin1_bin", "utf8mb4_bin", "utf8mb4_general_ci", "latin1_german2_ci",
           "utf8mb4_nopad_bin", "utf8mb4_unicode_ci", "ucs2_general_ci"),
    False: ("latin1_bin", "utf8mb4_bin", "utf8mb4_general_ci", "latin1_german2_ci",
            "utf8mb4_0900_as_cs", "utf8mb4_0900_bin", "ucs2_general_ci"),
}  # fmt: skip
_RULES = ("", " ON DELETE CASCADE", " ON UPDATE SET NULL", " ON DELETE NO ACTION ON UPDATE CASCADE",
          " MATCH SIMPLE ON DELETE SET NULL", " ON UPDATE RESTRICT")  # fmt: skip


@dataclass(slots=True)
class Statements:
    """Draws schema statements; what the server refuses changes nothing."""

    random: random.Random
    is_mariadb: bool
    columns: Callable[[str], Sequence[str]]
    """The columns that a table has now."""
    leading_columns: Callable[[str], Sequence[str]]
    """Those that an index begins with, quoted."""
    mode: str = ""
    """The session's sql_mode."""

    def draw(self) -> str:
        """Return one statement."""
        kinds = (self._create, self._alter, self._index, self._rename, self._other)
        sql = self.random.choices(kinds, (25, 60, 8, 6, 6))[0]()
        return self._spelled(sql)

    def _maybe(self, text: str, share: float = 0.2) -> str:
        return text if self.random.random() < share else ""

    def _one(self, *texts: str) -> str:
        return self.random.choice(texts)

    def _spelled(self, sql: str) -> str:
        """Return the statement as the session writes it, some with a comment between words."""
        if self.mode == "ANSI_QUOTES":
            return sql.replace("`", '"')
        if self.mode == "NO_BACKSLASH_ESCAPES":
            return sql.replace("'it''s, (x'", "'it''s, (x\\\\'")
        if self.random.random() < 0.9 or any(mark in sql for mark in "'`"):
            return sql
        words = sql.split(" ")
        comment = self._one("/* a, (b */", "/*!*/", "--  c)\n")
        words.insert(self.random.randrange(1, len(words)), comment)
        return " ".join(words)

    # Parts

    def _table(self) -> str:
        return self._one(*_TABLES)

    def _column(self, table: str) -> str:
        known = self.columns(table)
        if known and self.random.random() < 0.85:
            return f"`{self.random.choice(list(known))}`"
        return self._one(*_COLUMNS)

    def _type(self) -> str:
        kind = self.random.random()
        if kind < 0.45:
            return "int"
        if kind < 0.5:
            return self._one(*_NUMBERS)
        if kind < 0.56:
            return self._one(*_TIMES)
        if kind < 0.62:
            return self._one(*_BYTES)
        if kind < 0.64:
            return self._one(
                "json", "geometry", "point", *(["uuid", "inet6"] if self.is_mariadb else [])
            )
        text = self._one(*_TEXTS)
        if not text.startswith(("n", "long")):
            text += self._character_set()
        return text

    def _character_set(self) -> str:
        kind = self.random.random()
        if kind < 0.55:
            return ""
        if kind < 0.75:
            word = self._one("CHARACTER SET", "CHARSET", "CHAR SET")
            return f" {word} {self._one(*_CHARSETS)}"
        if kind < 0.9:
            return f" COLLATE {self._one(*_COLLATIONS[self.is_mariadb])}"
        if kind < 0.95:
            collation = self._one(*_COLLATIONS[self.is_mariadb])
            return f" CHARACTER SET {collation.split('_')[0]} COLLATE {collation}"
        return self._one(" BINARY", " ASCII", " UNICODE", " BYTE", " CHARACTER SET latin1 BINARY")

    def _options(self) -> str:
        kind = self.random.random()
        if kind < 0.5:
            return ""
        equals = self._one("=", " ", " = ")
        default = self._maybe("DEFAULT ", 0.5)
        if kind < 0.75:
            return (
                f" {default}{self._one('CHARSET', 'CHARACTER SET')}{equals}{self._one(*_CHARSETS)}"
            )
        collation = self._one(*_COLLATIONS[self.is_mariadb])
        if kind < 0.9:
            return f" {default}COLLATE{equals}{collation}"
        return f" CHARSET={collation.split('_')[0]} COLLATE={collation}"

    def _definition(self, table: str) -> str:
        """Return type and attributes."""
        kind = self._type()
        if self.random.random() < 0.1 and not kind.startswith("timestamp"):
            other = self._column(table)
            word = self._one("GENERATED ALWAYS AS", "AS")
            stored = self._one(
                "", " STORED", " VIRTUAL", *([" PERSISTENT"] if self.is_mariadb else [])
            )
            return f"{kind} {word} ({other}){stored}{self._maybe(' UNIQUE', 0.15)}"
        attributes = []
        if self.random.random() < 0.45:
            attributes.append(self._one("NOT NULL", "NOT NULL", "NULL"))
        if self.random.random() < 0.25:
            attributes.append(self._default(kind))
        attributes += [
            text
            for text, share in (
                ("UNIQUE", 0.08), ("UNIQUE KEY", 0.04), ("PRIMARY KEY", 0.06), ("KEY", 0.02),
                ("AUTO_INCREMENT", 0.03), ("COMMENT 'it''s, (x'", 0.06),
                ("INVISIBLE", 0.04), ("CHECK (1 > 0)", 0.03),
                ("ON UPDATE CURRENT_TIMESTAMP", 0.02),
                (f"REFERENCES {self._table()} (a){self._one(*_RULES)}", 0.05),
                ("COLUMN_FORMAT FIXED", 0.01), ("SERIAL DEFAULT VALUE", 0.01),
                ("NOT NULL", 0.02),
            )
            if self.random.random() < share
        ]  # fmt: skip
        self.random.shuffle(attributes)
        return " ".join([kind, *attributes])

    def _default(self, kind: str) -> str:
        if kind.startswith(("date", "time")):
            return self._one("DEFAULT NULL", "DEFAULT CURRENT_TIMESTAMP", "DEFAULT '2020-01-01'")
        if kind.startswith(_NUMBERS):
            return self._one(
                "DEFAULT NULL",
                "DEFAULT 1",
                "DEFAULT '2'",
                "DEFAULT (1+1)",
                "DEFAULT -1",
                "DEFAULT TRUE",
                "DEFAULT b'1'",
            )
        return self._one(
            "DEFAULT NULL", "DEFAULT 'x'", "DEFAULT ''", "DEFAULT ('x')", "DEFAULT 0x41"
        )

    def _parts(self, table: str, *, plain: bool = False) -> str:
        parts = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            part = self._column(table)
            if not plain:
                part += self._maybe(f"({self._one('1', '2', '3', '4', '8')})", 0.2)
                part += self._maybe(self._one(" ASC", " DESC"), 0.15)
                if not self.is_mariadb and self.random.random() < 0.02:
                    part = f"(({part.split('(')[0]} + 1))" if "DESC" not in part else part
            parts.append(part)
        return f"({', '.join(parts)})"

    def _key(self, table: str) -> str:
        """Return a key or constraint as CREATE TABLE and ADD have it."""
        kind = self.random.random()
        symbol = self._maybe(f"CONSTRAINT {self._maybe(self._one(*_INDEXES), 0.8)} ", 0.3)
        name = self._maybe(self._one(*_INDEXES), 0.6)
        using = self._maybe(" USING BTREE", 0.1)
        tail = self._maybe(self._one(" COMMENT 'k'", " USING BTREE", " KEY_BLOCK_SIZE=8"), 0.1)
        if kind < 0.25:
            return f"{symbol}PRIMARY KEY{using} {self._parts(table)}{tail}"
        if kind < 0.6:
            word = self._one("UNIQUE", "UNIQUE KEY", "UNIQUE INDEX")
            return f"{symbol}{word} {name}{using} {self._parts(table)}{tail}"
        if kind < 0.75:
            return f"{self._one('KEY', 'INDEX')} {name}{using} {self._parts(table)}{tail}"
        if kind < 0.95:
            columns = self._parts(table, plain=True)
            parent = self._table()
            count = columns.count(",") + 1
            theirs = [self._column(parent) for _ in range(count)]
            if self.random.random() < 0.2:
                parent, theirs = table, columns.strip("()").split(", ")
            elif found := self.leading_columns(parent):
                # InnoDB wants an index that begins with them.
                columns, theirs = f"({self._column(table)})", [self._one(*found)]
            return (
                f"{symbol}FOREIGN KEY {name} {columns} REFERENCES {parent} "
                f"({', '.join(theirs)}){self._one(*_RULES)}"
            )
        return f"{symbol}CHECK (1 > 0)"

    # Statements

    def _create(self) -> str:
        table = self._table()
        exists = self._maybe("IF NOT EXISTS ", 0.15)
        head = (
            f"CREATE {self._maybe('OR REPLACE ', 0.15) if self.is_mariadb and not exists else ''}"
        )
        head += f"TABLE {exists}{table} "
        kind = self.random.random()
        if kind < 0.06:
            return head + self._one(f"LIKE {self._table()}", f"(LIKE {self._table()})")
        if kind < 0.09:
            return f"{head}{self._one('AS ', '')}SELECT * FROM {self._table()}"
        names = self.random.sample(_COLUMNS, self.random.randint(1, 4))
        elements = [f"{name} {self._definition(table)}" for name in names]
        created = replace(self, columns=lambda _: [name.strip("`") for name in names])
        elements += [created._key(table) for _ in range(self.random.choice((0, 0, 1, 1, 2)))]
        engine = self._maybe(" ENGINE=InnoDB", 0.4)
        comment = self._maybe(" COMMENT='a, b) c'", 0.1)
        partition = self._maybe(
            f" PARTITION BY {self._one('KEY', 'HASH')} ({names[0]}) PARTITIONS 2", 0.04
        )
        return f"{head}({', '.join(elements)}){engine}{self._options()}{comment}{partition}"

    def _alter(self) -> str:
        table = self._table()
        actions = [self._action(table) for _ in range(self.random.choice((1, 1, 1, 2, 2, 3)))]
        return f"ALTER TABLE {table} {', '.join(actions)}"

    def _place(self, table: str) -> str:
        return self._maybe(self._one(" FIRST", f" AFTER {self._column(table)}"), 0.25)

    def _action(self, table: str) -> str:
        column, word = self._column(table), self._one("COLUMN ", "")
        exists = self._maybe("IF EXISTS ", 0.15) if self.is_mariadb else ""
        fresh = self._one(*_COLUMNS)
        kind = self.random.randrange(20)
        if kind in (0, 1):
            absent = self._maybe("IF NOT EXISTS ", 0.2) if self.is_mariadb else ""
            return f"ADD {word}{absent}{fresh} {self._definition(table)}{self._place(table)}"
        if kind == 2:
            return f"ADD {word}({fresh} {self._definition(table)}, z int)"
        if kind in (3, 4, 5):
            return f"MODIFY {word}{exists}{column} {self._definition(table)}{self._place(table)}"
        if kind in (6, 7):
            name = self._one(fresh, column)
            definition = self._definition(table)
            return f"CHANGE {word}{exists}{column} {name} {definition}{self._place(table)}"
        if kind == 8:
            return f"DROP {word}{exists}{column}"
        if kind == 9:
            absent = self._maybe("IF NOT EXISTS ", 0.2) if self.is_mariadb else ""
            return f"DROP {word}{column}, ADD {word}{absent}{column} {self._definition(table)}"
        if kind == 10:
            return f"RENAME COLUMN {column} TO {fresh}"
        if kind in (11, 12, 13):
            return f"ADD {self._key(table)}"
        if kind == 14:
            return self._one(
                "DROP PRIMARY KEY",
                "DROP PRIMARY KEY",
                f"DROP CONSTRAINT {self._one(*_INDEXES)}",
                f"DROP {self._one('KEY', 'INDEX')} {exists}{self._one(*_INDEXES)}",
                f"DROP FOREIGN KEY {self._one(*_INDEXES, 't0_ibfk_1', 't1_ibfk_1')}",
            )
        if kind == 15:
            old, new = self._one(*_INDEXES), self._one(*_INDEXES)
            return f"RENAME {self._one('KEY', 'INDEX')} {old} TO {new}"
        if kind == 16:
            change = self._one(
                "SET DEFAULT 2", "SET DEFAULT NULL", "DROP DEFAULT", "SET DEFAULT (3)"
            )
            return f"ALTER {word}{column} {change}"
        if kind == 17:
            collation = self._one(*_COLLATIONS[self.is_mariadb])
            charset = f" CHARACTER SET {collation.split('_')[0]}"
            if self.random.random() < 0.6:
                return f"CONVERT TO{charset}{self._maybe(' COLLATE ' + collation, 0.5)}"
            return f"{self._options()} COMMENT 'c'"
        if kind == 18:
            return self._one(
                "FORCE",
                "COMMENT='a, b'",
                "ENABLE KEYS",
                "ENGINE=InnoDB",
                "ORDER BY " + column,
                "AUTO_INCREMENT=7",
                "ROW_FORMAT=DYNAMIC",
                "ALGORITHM=COPY",
                "LOCK=DEFAULT",
                "STATS_PERSISTENT=0",
            )
        return f"RENAME {self._one('TO ', 'AS ', '')}{self._table()}"

    def _index(self) -> str:
        table = self._table()
        name = self._one(*_INDEXES)
        if self.random.random() < 0.4:
            return f"DROP INDEX {name} ON {table}"
        replace = self._maybe("OR REPLACE ", 0.2) if self.is_mariadb else ""
        exists = self._maybe("IF NOT EXISTS ", 0.1) if self.is_mariadb and not replace else ""
        unique = self._maybe("UNIQUE ", 0.7)
        return f"CREATE {replace}{unique}INDEX {exists}{name} ON {table} {self._parts(table)}"

    def _rename(self) -> str:
        one, two, three = (self._table() for _ in range(3))
        if self.random.random() < 0.4:
            return f"RENAME TABLE {one} TO u, {two} TO {one}, u TO {two}"
        return f"RENAME TABLE {one} TO {two}{self._maybe(f', {three} TO {one}', 0.3)}"

    def _other(self) -> str:
        return self._one(
            f"DROP TABLE {self._table()}",
            f"DROP TABLE IF EXISTS {self._table()}, {self._table()}",
            f"TRUNCATE {self._table()}",
            f"ALTER DATABASE{self._options() or ' COLLATE utf8mb4_bin'}",
            f"CREATE VIEW v AS SELECT * FROM {self._table()}",
            "DROP VIEW IF EXISTS v",
            f"ANALYZE TABLE {self._table()}",
            f"ALTER TABLE {self._table()} PARTITION BY KEY ({self._one(*_COLUMNS)}) PARTITIONS 2",
            f"ALTER TABLE {self._table()} REMOVE PARTITIONING",
            f"RENAME TABLE {self._table()} TO {self._one('', 'other.')}{self._table()}",
            f"RENAME TABLE other.{self._table()} TO {self._table()}",
            "CREATE DATABASE IF NOT EXISTS other CHARACTER SET ucs2",
            f"CREATE TABLE other.{self._table()} (a int, b varchar(3), UNIQUE (b))",
            f"CREATE TABLE {self._table()} LIKE other.{self._table()}",
            self._mode(),
            *(self._mariadb() if self.is_mariadb else self._mysql()),
        )

    def _mode(self) -> str:
        """Return a change of how statements are written from here on."""
        self.mode = self._one("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES")
        return f"SET SESSION sql_mode='{self.mode}'"

    def _mariadb(self) -> tuple[str, ...]:
        table = self._table()
        index = self._one(*_INDEXES)
        return (
            f"SET STATEMENT lock_wait_timeout=5 FOR ALTER TABLE {table} {self._action(table)}",
            f"ALTER TABLE {table} ALTER INDEX {index} {self._one('IGNORED', 'NOT IGNORED')}",
            f"ALTER TABLE {table} {self._one('ADD', 'DROP')} SYSTEM VERSIONING",
            f"CREATE SEQUENCE {table}",
            f"DROP SEQUENCE IF EXISTS {table}",
            f"ALTER TABLE IF EXISTS {table} {self._action(table)}",
            f"CREATE OR REPLACE TABLE {table} AS SELECT 1 AS a, 'x' AS b",
        )

    def _mysql(self) -> tuple[str, ...]:
        table = self._table()
        index, column = self._one(*_INDEXES), self._column(table)
        return (
            f"ALTER TABLE {table} ALTER INDEX {index} {self._one('INVISIBLE', 'VISIBLE')}",
            f"ALTER TABLE {table} ALTER COLUMN {column} SET {self._one('INVISIBLE', 'VISIBLE')}",
            f"ALTER TABLE {table} DROP CHECK {table.strip('`')}_chk_1",
            f"ALTER TABLE {table} ADD COLUMN z int, ALGORITHM=INSTANT",
        )
