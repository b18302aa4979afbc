"""Schema statements on a real server: what the audit makes of them, held against the catalogue.

The audit reads definitions from the text of statements. Here a server executes random statements,
and after each its ``information_schema`` says what the tables are. ``python -m
tests.oracle.definitions --flavour mysql`` runs it by hand.
"""

from __future__ import annotations

import argparse
import random
import re
import secrets
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import pymysql

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.servers import ServerRoom
from paraply.vocabulary.schema import TableSchema
from tests.oracle.recorder import OPTIONS
from tests.oracle.run import FLAVOURS, memory
from tests.oracle.schema_statements import Statements

_RENAME_FAILED = 1025
"""MariaDB 10.11 keeps, and does not log, what ALTER TABLE did before its RENAME failed."""

_WITH_LENGTH = ("char", "varchar", "binary", "varbinary")
_LOST = "the server lost foreign keys"


@dataclass(frozen=True, slots=True)
class Definition:
    """A table as the catalogue has it, and as the audit has it."""

    columns: tuple[tuple[object, ...], ...]
    """Name, NULL allowed, collation, characters, generated, virtual, AUTO_INCREMENT, NULL left
    where no value is given."""
    keys: tuple[tuple[bool, tuple[tuple[str, int], ...]], ...]
    """Whether it is PRIMARY, and its columns with their prefixes, in order."""
    foreign_keys: frozenset[tuple[object, ...]]

    def as_far_as(self, other: Definition) -> Definition:
        """Return this without the collations and values left out that the other leaves open."""
        columns = tuple(
            (*mine[:2], theirs[2] and mine[2], *mine[3:-1], theirs[-1] and mine[-1])
            for mine, theirs in zip(self.columns, other.columns, strict=False)
        )
        return replace(self, columns=columns + self.columns[len(columns) :])


def _rule(text: str) -> str:
    return "RESTRICT" if text in ("NO ACTION", "SET DEFAULT") else text


def of_audit(schema: TableSchema) -> Definition:
    """Return what the audit knows of a table."""
    names = [column.name for column in schema.columns]
    columns = tuple(
        (
            c.name, c.nullable,
            "" if c.collation == "binary" or c.type_name == "json" else c.collation,
            c.length if c.type_name in _WITH_LENGTH else None,
            c.generated, c.virtual, c.auto_increment, c.omitted_is_null and c.nullable,
        )
        for c in schema.columns
    )  # fmt: skip
    keys = sorted(
        (
            key.name == "PRIMARY",
            tuple((names[p.column].lower(), p.prefix_length) for p in key.parts),
        )
        for key in schema.unique_keys
    )
    foreign_keys = frozenset(
        (
            tuple(names[column].lower() for column in key.columns), key.parent,
            tuple(name.lower() for name in key.parent_columns),
            _rule(key.on_delete), _rule(key.on_update),
        )
        for key in schema.foreign_keys
    )  # fmt: skip
    return Definition(columns, tuple(keys), foreign_keys)


def _has_lost_references(ours: Definition, theirs: Definition, statement: str) -> bool:
    """Return whether a server lost foreign keys, and nothing else.

    MariaDB 10.11 and 11.8 forget them in ALTER TABLE ... RENAME that copies the table.
    """
    is_rename = re.match(r"ALTER TABLE .*\bRENAME\b", statement, re.DOTALL) is not None
    others = replace(ours, foreign_keys=theirs.foreign_keys)
    return is_rename and others == theirs and ours.foreign_keys > theirs.foreign_keys


@dataclass(slots=True)
class Catalogue:
    """Reads definitions from a server's information_schema."""

    session: Any
    schema: str
    is_mariadb: bool

    def rows(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.session.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall())

    def log_end(self) -> tuple[str, int]:
        """Return the file that is written, and its length in bytes."""
        word = "MASTER" if self.is_mariadb else "BINARY LOG"
        file, position, *_ = self.rows(f"SHOW {word} STATUS")[0]
        return file, int(position)

    def tables(self) -> list[str]:
        """Return the names of the base tables."""
        sql = (
            "SELECT table_name FROM information_schema.tables "
            "WHERE table_schema = %s AND table_type = 'BASE TABLE'"
        )
        return [name for (name,) in self.rows(sql, self.schema)]

    def column_names(self, table: str) -> list[str]:
        """Return a table's columns."""
        sql = (
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s"
        )
        return [name for (name,) in self.rows(sql, self.schema, table.strip("`"))]

    def leading_columns(self, table: str) -> list[str]:
        """Return the columns that an index of a table begins with."""
        sql = (
            "SELECT column_name FROM information_schema.statistics WHERE table_schema = %s "
            "AND table_name = %s AND seq_in_index = 1 AND column_name IS NOT NULL"
        )
        return [f"`{name}`" for (name,) in self.rows(sql, self.schema, table.strip("`"))]

    def definition(self, table: str) -> Definition:
        """Return what the server knows of a table."""
        columns = []
        for name, is_nullable, kind, collation, characters, extra, default in self.rows(
            "SELECT column_name, is_nullable, data_type, collation_name, "
            "character_maximum_length, extra, column_default FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            self.schema, table,
        ):  # fmt: skip
            extra = extra.upper()
            columns.append(
                (
                    name, is_nullable == "YES", "" if collation in ("binary", None) else collation,
                    characters if kind.lower() in _WITH_LENGTH else None,
                    "GENERATED" in extra.replace("DEFAULT_GENERATED", ""),
                    "VIRTUAL" in extra, "AUTO_INCREMENT" in extra,
                    default in (None, "NULL") and is_nullable == "YES",
                )
            )  # fmt: skip
        keys: dict[str, list[tuple[str, int]]] = {}
        for key, column, prefix in self.rows(
            "SELECT index_name, column_name, sub_part FROM information_schema.statistics "
            "WHERE table_schema = %s AND table_name = %s AND non_unique = 0 "
            "ORDER BY index_name, seq_in_index",
            self.schema, table,
        ):  # fmt: skip
            keys.setdefault(key.lower(), []).append(((column or "").lower(), prefix or 0))
        foreign: dict[str, list[Any]] = {}
        for name, column, parent_schema, parent, theirs, delete, update in self.rows(
            "SELECT k.constraint_name, column_name, referenced_table_schema, "
            "k.referenced_table_name, referenced_column_name, delete_rule, update_rule "
            "FROM information_schema.key_column_usage k JOIN "
            "information_schema.referential_constraints r ON "
            "r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name "
            "AND r.table_name = k.table_name "
            "WHERE k.table_schema = %s AND k.table_name = %s "
            "AND referenced_column_name IS NOT NULL ORDER BY 1, ordinal_position",
            self.schema, table,
        ):  # fmt: skip
            entry = foreign.setdefault(
                name, [(), f"{parent_schema}.{parent}", (), _rule(delete), _rule(update)]
            )
            entry[0] += (column.lower(),)
            entry[2] += (theirs.lower(),)
        return Definition(
            tuple(columns),
            tuple(sorted((key == "primary", tuple(parts)) for key, parts in keys.items())),
            frozenset(tuple(entry) for entry in foreign.values()),
        )


@dataclass(slots=True)
class Comparison:
    """What a run has counted."""

    statements: int = 0
    refused: int = 0
    compared: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    """Compared tables with these."""
    unknown: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)


def compare(server: Any, seed: int, statements: int, *, differences_max: int = 20) -> Comparison:
    """Execute random statements; return how often the audit knew each table as the server does."""
    result = Comparison()
    session = server.connect(autocommit=True)
    number = 0
    while result.statements < statements and len(result.differences) < differences_max:
        history = _History(server, session, f"d{number:06}")
        history.make(random.Random(f"{seed}:{number}"), result)
        history.compare(result)
        number += 1
    return result


@dataclass(slots=True)
class _History:
    """One database: random statements, and what its tables were after each."""

    server: Any
    session: Any
    schema: str
    states: list[tuple[int, dict[str, Definition]]] = field(default_factory=list)
    """By the position in the log behind a statement."""
    file: str = ""

    def make(self, draw: random.Random, result: Comparison, count: int = 40) -> None:
        """Execute statements."""
        catalogue = Catalogue(self.session, self.schema, self.server.is_mariadb)
        source = Statements(
            draw, self.server.is_mariadb, catalogue.column_names, catalogue.leading_columns
        )
        # MySQL refuses parents without a unique key, unless it is told not to.
        loose = "" if self.server.is_mariadb else ", restrict_fk_on_non_standard_key=OFF"
        for sql in (
            f"SET SESSION sql_mode=''{loose}", "DROP DATABASE IF EXISTS other",
            "FLUSH BINARY LOGS",
            f"CREATE DATABASE {self.schema}", f"USE {self.schema}",
        ):  # fmt: skip
            catalogue.rows(sql)
        self.file, position = catalogue.log_end()
        for _ in range(count):
            result.statements += 1
            try:
                catalogue.rows(source.draw())
            except pymysql.MySQLError as fault:
                result.refused += 1
                if fault.args[0] == _RENAME_FAILED:
                    break
            before, (_, position) = position, catalogue.log_end()
            if position > before:
                names = catalogue.tables()
                self.states.append((position, {n: catalogue.definition(n) for n in names}))
        catalogue.rows(f"DROP DATABASE {self.schema}")

    def compare(self, result: Comparison) -> None:
        """Read the log, and compare after each statement, up to the first difference."""
        builder, texts = KeyBuilder(SchemaRegistry()), list[str]()
        states = iter(self.states)
        position, tables = next(states, (0, {}))
        for txn in read_transactions([str(self.server.datadir / self.file)]):
            while txn.start.offset >= position:
                if fault := self._fault(builder, tables, texts[-1:], result):
                    if fault != _LOST:
                        result.differences.append("\n".join([self.schema, *texts, fault]))
                    return
                position, tables = next(states, (0, {}))
                if not position:
                    return
            builder.complete_transaction(txn)
            texts += txn.statements

    def _fault(
        self,
        builder: KeyBuilder,
        tables: dict[str, Definition],
        last: list[str],
        result: Comparison,
    ) -> str:
        for name, theirs in tables.items():
            known = builder.registry.table(f"{self.schema}.{name}")
            if known is None or not (known.keys_complete and known.foreign_keys_known):
                reason = "not known" if known is None else known.unknown_because
                result.unknown[re.sub(r"(key|column|here|at) \S+", r"\1 …", reason)] += 1
                continue
            ours = of_audit(known)
            result.compared += 1
            result.seen["foreign keys"] += bool(ours.foreign_keys)
            result.seen["prefixes"] += any(size for _, parts in ours.keys for _, size in parts)
            result.seen["keys"] += bool(ours.keys)
            result.seen["generated columns"] += any(column[4] for column in ours.columns)
            theirs = theirs.as_far_as(ours)
            if self.server.is_mariadb and _has_lost_references(ours, theirs, *last):
                return _LOST
            if ours != theirs:
                return "\n".join(
                    f"  {name} {part}: {who} {getattr(definition, part)}"
                    for part in ("columns", "keys", "foreign_keys")
                    if getattr(ours, part) != getattr(theirs, part)
                    for who, definition in (("audit", ours), ("server", theirs))
                )
        return ""


def main() -> int:
    """Run and print; 1 if a definition differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.definitions", description=__doc__)
    parser.add_argument("--flavour", choices=sorted(FLAVOURS), default="mariadb")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--statements", type=int, default=5000)
    parser.add_argument("--differences", type=int, default=20)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    with ServerRoom(parent=memory()) as room:
        server = room.start(FLAVOURS[arguments.flavour](), options=OPTIONS)
        found = compare(
            server, arguments.seed, arguments.statements, differences_max=arguments.differences
        )
    print(f"{found.statements} statements, {found.refused} refused, {found.compared} compared")
    print(found.seen.most_common())
    print(found.unknown.most_common(12))
    for difference in found.differences:
        print(difference)
    return int(bool(found.differences))


if __name__ == "__main__":
    sys.exit(main())
