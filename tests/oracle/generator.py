"""Random schemas, data and pairs of transactions, by family.

A case is SQL as text. What a server refuses is left out by the recorder, so a case may hold
statements that do not apply, and any part of a case is a case.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.oracle import odd_tables

FAMILIES = ("keys", "types", "foreign", "ddl", "flags")

_ACTIONS = (
    "",
    "ON DELETE CASCADE",
    "ON DELETE SET NULL",
    "ON DELETE CASCADE ON UPDATE CASCADE",
    "ON UPDATE CASCADE",
    "ON DELETE RESTRICT",
    "ON DELETE SET NULL ON UPDATE CASCADE",
    "ON UPDATE SET NULL",
)
_FAMILY_TYPES = (
    # Equal in one collation, and not in another.
    ("varchar(4) COLLATE latin1_swedish_ci", ("'a'", "'A'", "'b'", "'B '", "'a '")),
    ("varchar(4) COLLATE latin1_bin", ("'a'", "'A'", "'b'", "'B '", "'a '")),
    ("char(4) COLLATE latin1_swedish_ci", ("'a'", "'A'", "'b'", "'B'", "'ä'")),
    ("varchar(4) COLLATE latin1_german2_ci", ("'ss'", "'ß'", "'a'", "'A'", "'ä'")),
    ("varbinary(4)", ("'a'", "'A'", "'b'", "'a '")),
    ("double", ("0e0", "-0e0", "1.5", "2")),
    ("decimal(6,2)", ("1", "1.00", "2.5", "-3")),
    ("datetime(3)", ("'2020-01-01'", "'2020-01-01 00:00:00.5'", "'2021-05-05'")),
    ("bigint unsigned", ("1", "2", "9000000000", "3")),
)
_WITH_PREFIX = ("varchar", "char", "text", "binary", "varbinary", "blob")
_TEXTS = ("'a'", "'A'", "'a '", "'ä'", "'b'", "'ab'", "'ss'", "'ß'", "''", "'e'", "'e '")
_NO_BREAK = (("'e'", "'e\u00a0'"), ("'a'", "'a\u00a0'"), ("'e '", "'e\u00a0'"))
"""No-break spaces weigh as much as the spaces that fill a CHAR in some collations."""
_TYPES = {
    "int": ("1", "2", "3", "4"), "tinyint unsigned": ("1", "2", "200", "255"),
    "bigint": ("-1", "1", "9000000000", "2"), "decimal(8,2)": ("1", "1.00", "2.50", "-3"),
    "double": ("0", "-0.0", "1.5", "2"), "date": ("'2020-01-01'", "'2020-01-02'", "'2021-01-01'"),
    "datetime(3)": ("'2020-01-01 00:00:00'", "'2020-01-01 00:00:00.5'", "'2021-05-05 01:02:03'"),
    "time": ("'12:00:00'", "'-01:00:00'", "'12:00:01'"), "year": ("2000", "2001", "1999"),
    "enum('x','y','z')": ("'x'", "'y'", "'z'"), "bit(5)": ("1", "2", "3"),
    "binary(4)": ("'a'", "'b'", "0x6100"), "varbinary(8)": ("'a'", "'b'", "'a '"),
    "set('x','y')": ("'x'", "'x,y'", "''", "'y'"), "blob": ("'a'", "'b'", "'ab'", "''"),
    "timestamp(1) NULL": ("'2020-01-01 00:00:00'", "'2020-01-01 00:00:00.5'"),
}  # fmt: skip
_TYPES_11_8 = _TYPES | {
    "uuid": ("'123e4567-e89b-12d3-a456-426655440000'", "'123E4567E89B12D3A456426655440000'",
             "'00000000-0000-0000-0000-000000000001'"),
    "inet4": ("'1.2.3.4'", "'1.2.3.5'", "'0.0.0.0'"), "inet6": ("'::1'", "'0::1'", "'::2'"),
}  # fmt: skip
_COLLATIONS = {
    "mariadb": ("utf8mb4_general_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_nopad_bin",
                "utf8mb4_unicode_ci", "latin1_german2_ci", "utf8mb4_unicode_520_nopad_ci",
                "utf8mb4_uca1400_nopad_ai_ci"),
    # A character set alone has the server's default collation.
    "mariadb-11.8": ("utf8mb4", "utf8mb3", "ucs2", "utf16", "utf32", "latin1", "utf8mb4_bin",
                     "utf8mb4_uca1400_as_ci", "utf8mb4_0900_ai_ci", "utf8mb4_general_ci"),
    "mysql": ("utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_swedish_ci", "utf8mb4_0900_bin",
              "utf8mb4_general_ci", "utf8mb4_0900_as_cs", "latin1_german2_ci"),
}  # fmt: skip
_FIRST = {kind: values[0] for kind, values in _FAMILY_TYPES}


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns and keys, each as SQL, and the values that rows are drawn from."""

    name: str
    elements: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    options: str = ""

    def sql(self) -> str:
        """Return CREATE TABLE."""
        return f"CREATE TABLE {self.name} ({', '.join(self.elements)}) ENGINE=InnoDB{self.options}"


@dataclass(frozen=True, slots=True)
class Transaction:
    """Statements that run in one transaction; ``checked`` is foreign_key_checks."""

    statements: tuple[str, ...]
    checked: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """A schema, rows, and pairs of transactions with schema changes before each."""

    family: str
    setup: tuple[str, ...]
    data: tuple[str, ...]
    steps: tuple[tuple[tuple[str, ...], Transaction, Transaction], ...]
    image: str = "FULL"


@dataclass(slots=True)
class _Drawing:
    """Draws one case."""

    random: random.Random
    flavour: str
    family: str
    tables: list[Table] = field(default_factory=list)
    has_sequence: bool = False

    @property
    def is_mysql(self) -> bool:
        return self.flavour == "mysql"

    def case(self, pairs: int) -> Case:
        draw = self.random
        if self.family in ("foreign", "flags"):
            self._draw_family()
        else:
            for number in range(draw.choice((1, 1, 2))):
                self.tables.append(self._table(number))
        data = [self._insert(draw.choice(self.tables)) for _ in range(draw.randint(6, 12))]
        if self.family in ("foreign", "flags"):
            # Parents first, so that most rows find theirs.
            data = [self._row(table, place) for table in self.tables for place in range(3)]
        setup = tuple(table.sql() for table in self.tables)
        if self.family == "keys" and not self.is_mysql and draw.random() < 0.1:
            self.has_sequence = True
            setup += (odd_tables.sequence(draw),)
        steps = []
        for _ in range(pairs):
            changes = self._changes() if self.family == "ddl" else self._family_changes()
            steps.append((changes, self._transaction(), self._transaction()))
        image = (
            draw.choice(("FULL", "FULL", "MINIMAL", "NOBLOB"))
            if self.family == "flags"
            else ("FULL" if draw.random() < 0.85 else "MINIMAL")
        )
        return Case(self.family, setup, tuple(data), tuple(steps), image)

    def _table(self, number: int) -> Table:
        draw = self.random
        elements, values, types = [], {}, {}
        for at in range(draw.randint(2, 4)):
            name = f"c{at}"
            if self.family == "types" and draw.random() < 0.75:
                sql, values[name] = self._typed()
            else:
                default = draw.choice(("", "", "", " DEFAULT 3"))
                sql, values[name] = f"int{default}", ("1", "2", "3", "4")
            types[name] = sql
            elements.append(f"{name} {sql}{' NOT NULL' if draw.random() < 0.4 else ''}")
            if "NOT NULL" not in elements[-1]:
                values[name] += ("NULL",)
        if draw.random() < 0.15:
            types["g0"] = sql = draw.choice(("int", "varchar(3)", "char(2)"))
            kind = draw.choice(("STORED", "VIRTUAL"))
            elements.append(f"g0 {sql} AS (left({draw.choice(list(values))}, 2)) {kind}")
        if draw.random() < 0.9:
            elements.append(f"PRIMARY KEY ({self._parts(types)})")
        for at in range(draw.choice((0, 1, 1, 2))):
            elements.append(f"UNIQUE u{at} ({self._parts(types, is_unique=True)})")
        options = ""
        if self.family in ("keys", "ddl") and draw.random() < 0.12:
            elements, options = odd_tables.partitioned(draw, elements, types)
        elif self.family in ("keys", "types") and draw.random() < 0.06:
            elements += odd_tables.key_on_expression(draw, types, "f0", self.is_mysql)
        elif self.family in ("keys", "ddl") and not self.is_mysql and draw.random() < 0.03:
            options = " WITH SYSTEM VERSIONING"
        return Table(f"t{number}", tuple(elements), values, options)

    def _typed(self) -> tuple[str, tuple[str, ...]]:
        draw = self.random
        if draw.random() < 0.5:
            collation = draw.choice(_COLLATIONS[self.flavour])
            charset = collation.split("_")[0]
            length = draw.choice((4, 8))
            kind = draw.choice((f"varchar({length})", f"char({length})", "text"))
            sql = f"{kind} CHARACTER SET {charset}"
            if collation != charset:
                sql += f" COLLATE {collation}"
            texts = draw.sample(_TEXTS, 5)
            if draw.random() < 0.25:
                texts[:2] = draw.choice(_NO_BREAK)
            return sql, tuple(texts)
        types = _TYPES_11_8 if self.flavour == "mariadb-11.8" else _TYPES
        return draw.choice(list(types.items()))

    def _parts(self, types: dict[str, str], *, is_unique: bool = False) -> str:
        draw = self.random
        # MariaDB keeps a hash of whole texts.
        may_be_whole = is_unique and not self.is_mysql and draw.random() < 0.5
        parts = []
        for name in draw.sample(list(types), min(len(types), draw.choice((1, 1, 2)))):
            kind = types[name].split("(")[0].split(" ")[0]
            prefix = kind in ("text", "blob") and not may_be_whole
            prefix |= kind in _WITH_PREFIX and draw.random() < 0.25
            part = f"{name}({draw.choice((1, 2, 3))})" if prefix else name
            parts.append(part + draw.choice(("", "", "", " DESC")))
        return ", ".join(parts)

    def _draw_family(self) -> None:
        """Draw tables that refer to one another: chains, diamonds, circles of one table."""
        draw = self.random
        kind, pool = "int", ("1", "2", "3", "4")
        if draw.random() < 0.3:
            kind, pool = draw.choice(_FAMILY_TYPES)
        for number in range(draw.randint(2, 4)):
            key = draw.choices((" PRIMARY KEY", " NOT NULL UNIQUE", ""), (90, 5, 5))[0]
            elements = [f"id {kind}{key}", "v int", f"u {kind}"]
            values = {"id": pool, "v": ("1", "2", "3"), "u": (*pool, "NULL")}
            if draw.random() < 0.4:
                elements.append("UNIQUE uu (u)")
            if draw.random() < 0.2:
                elements.append(draw.choice(("UNIQUE uv (u, v)", "KEY uv (u, v)")))
            parents = draw.sample(range(number), min(number, draw.choice((1, 1, 2))))
            if draw.random() < 0.15:
                parents.append(number)
            for parent in parents:
                theirs = elements if parent == number else self.tables[parent].elements
                self._refer(parent, theirs, kind, elements)
                values[f"p{parent}"] = (*pool[:3], *pool[:2], "NULL")
                if f"w{parent} int" in elements:
                    values[f"w{parent}"] = ("1", "2", "3", "NULL")
            self.tables.append(Table(f"t{number}", tuple(elements), values))

    def _refer(self, parent: int, theirs: Sequence[str], kind: str, elements: list[str]) -> None:
        """Add columns, perhaps an index, and a foreign key to ``elements``."""
        draw = self.random
        own, referenced = f"p{parent}", "id"
        if draw.random() < 0.3 and "UNIQUE uu (u)" in theirs:
            referenced = "u"
        default = draw.choice(("", "", f" DEFAULT {_FIRST.get(kind, '2')}", " NOT NULL"))
        elements.append(f"{own} {kind}{default if draw.random() < 0.6 else ''}")
        if draw.random() < 0.6 and any(" uv " in each for each in theirs):
            elements.append(f"w{parent} int")
            own, referenced = f"{own}, w{parent}", "u, v"
        if draw.random() < 0.25:
            index = draw.choice(("KEY ({}, v)", "KEY (v, {})", "UNIQUE ({})", "UNIQUE ({}, v)"))
            elements.append(index.format(own))
        elements.append(
            f"FOREIGN KEY ({own}) REFERENCES t{parent} ({referenced}) {draw.choice(_ACTIONS)}"
        )

    def _value(self, table: Table, column: str) -> str:
        return self.random.choice(table.values[column])

    def _row(self, table: Table, place: int) -> str:
        others = [column for column in table.values if column != "id"]
        row = ", ".join([table.values["id"][place], *(self._value(table, c) for c in others)])
        return f"INSERT INTO {table.name} (id, {', '.join(others)}) VALUES ({row})"

    def _insert(self, table: Table, verb: str = "INSERT") -> str:
        columns = list(table.values)
        if self.random.random() < 0.2:  # The others take their defaults.
            columns = self.random.sample(columns, self.random.randint(1, len(columns)))
        row = ", ".join(self._value(table, column) for column in columns)
        return f"{verb} INTO {table.name} ({', '.join(columns)}) VALUES ({row})"

    def _statement(self) -> str:
        draw = self.random
        if self.has_sequence and draw.random() < 0.3:
            return draw.choices(odd_tables.ADVANCES, (4, 1))[0]
        table = draw.choice(self.tables)
        kind = draw.random()
        if kind < 0.3:
            return self._insert(table, "REPLACE" if draw.random() < 0.25 else "INSERT")
        at, changed = draw.choice(list(table.values)), draw.choice(list(table.values))
        where = f"WHERE {at} = {self._value(table, at)}".replace("= NULL", "IS NULL")
        if kind < 0.6:
            return f"DELETE FROM {table.name} {where}"
        return f"UPDATE {table.name} SET {changed} = {self._value(table, changed)} {where}"

    def _transaction(self) -> Transaction:
        count = self.random.choice((1, 1, 1, 2))
        unchecked = self.family == "flags" and self.random.random() < 0.4
        return Transaction(tuple(self._statement() for _ in range(count)), not unchecked)

    def _changes(self) -> tuple[str, ...]:
        return tuple(self._change() for _ in range(self.random.choice((0, 1, 1, 2))))

    def _family_changes(self) -> tuple[str, ...]:
        draw = self.random
        if self.family not in ("foreign", "flags") or draw.random() < 0.9:
            return ()
        table = draw.choice(self.tables)
        columns = [name for name in table.values if name[0] in "puvw"]
        one = draw.choice(columns)
        return (
            f"ALTER TABLE {table.name} "
            + draw.choice(
                (
                    f"ADD KEY ({one}, {draw.choice([c for c in columns if c != one])})",
                    f"ADD UNIQUE ({one})",
                    f"DROP FOREIGN KEY {table.name}_ibfk_1",
                    f"DROP INDEX {draw.choice(('uu', 'uv', one))}",
                    f"ADD FOREIGN KEY ({one}) REFERENCES {draw.choice(self.tables).name} (id)"
                    f" {draw.choice(_ACTIONS)}",
                    "FORCE",
                )
            ),
        )

    def _change(self) -> str:
        draw = self.random
        number = draw.randrange(len(self.tables))
        table = self.tables[number]
        name, at = table.name, draw.choice(list(table.values))
        fresh = f"n{draw.randint(0, 2)}"
        if "PARTITION" in table.options and draw.random() < 0.5:
            return odd_tables.partition_change(draw, name)
        kind = draw.randrange(10)
        if kind in (0, 1):
            values = {k if k != at else fresh: v for k, v in table.values.items()}
            also = f", ADD COLUMN {at} int" if kind else ""
            if kind:
                values[at] = ("1", "2", "NULL")
            self.tables[number] = replace(table, values=values)
            return f"ALTER TABLE {name} RENAME COLUMN {at} TO {fresh}{also}"
        if kind == 2:
            return f"ALTER TABLE {name} DROP COLUMN {at}, ADD COLUMN {at} int"
        if kind == 3:
            return f"ALTER TABLE {name} ADD UNIQUE x{draw.randint(0, 2)} ({at})"
        if kind == 4:
            return f"ALTER TABLE {name} DROP INDEX {draw.choice(('u0', 'u1', 'x0', 'x1'))}"
        if kind == 5:
            return f"ALTER TABLE {name} MODIFY {at} int {draw.choice(('FIRST', ''))}"
        if kind == 6:
            return f"CREATE TABLE IF NOT EXISTS {name} (id int PRIMARY KEY)"
        if kind == 7:
            change = draw.choice(("SET DEFAULT 2", "SET DEFAULT NULL", "DROP DEFAULT"))
            return f"ALTER TABLE {name} ALTER {at} {change}"
        if kind == 8:
            return f"ALTER TABLE {name} {draw.choice(('ENABLE KEYS', 'COMMENT 1', 'FORCE'))}"
        other = f"t{draw.randint(0, 2)}"
        if not any(each.name == other for each in self.tables):
            self.tables[number] = replace(table, name=other)
        return f"RENAME TABLE {name} TO {other}"


def draw_case(
    seed: int,
    number: int,
    flavour: str,
    pairs: int = 8,
    families: Sequence[str] = FAMILIES,
) -> Case:
    """Return case ``number`` of a run; families take turns."""
    family = families[number % len(families)]
    return _Drawing(random.Random(f"{seed}:{number}:{flavour}"), flavour, family).case(pairs)
