"""Logs of tables whose foreign keys cascade, from a plain interpreter of their rows.

As InnoDB does, it logs what a statement changes and not what cascades from that.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from paraply.vocabulary.log import Operation, RowChange
from paraply.vocabulary.schema import ForeignKey
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata
from tests.builders.logged import Tables, delete, insert, update

NUMBERS = 4
KEYS = {"own": (0,), "shared": (1, 0), "nullable": (1, 0)}
"""Columns of the child's key: its number alone, or beside its parent in PRIMARY or UNIQUE."""
Row = tuple


class RefusedError(Exception):
    """A statement that breaks a key or a foreign key."""


@dataclass(frozen=True)
class Family:
    """Parent ``p (id, v)``, child ``c (id, p, v)`` and grandchild ``g (id, c, v)``."""

    on_delete: str
    on_update: str
    key: str = "own"

    def may_move(self, table: str) -> bool:
        """Return whether a cascade may give a row of ``table`` another key."""
        keeps = self.on_delete != "SET NULL" and self.on_update == "RESTRICT"
        return table == "c" and self.key != "own" and not keeps

    def key_of(self, table: str, row: Row) -> Row | None:
        """Return the key, None if it has a NULL."""
        columns = KEYS[self.key] if table == "c" else (0,)
        found = tuple(row[column] for column in columns)
        return None if None in found else found

    def tables(self) -> Tables:
        """Return the definitions."""
        actions = {"on_delete": self.on_delete, "on_update": self.on_update}
        tables = Tables().add("d.p", "id", "v")
        for name, column, parent in (("c", "p", "d.p"), ("g", "c", "d.c")):
            primary = KEYS[self.key] if name == "c" else (0,)
            foreign = ForeignKey(
                name="f", columns=(1,), parent=parent, parent_columns=("id",), **actions
            )
            tables.add(f"d.{name}", "id", column, "v", primary=primary, foreign=[foreign])
        return tables

    def statements(self) -> list[str]:
        """Return the CREATE TABLE of each table."""
        actions = f"ON DELETE {self.on_delete} ON UPDATE {self.on_update}"
        key = {
            "own": "PRIMARY KEY (id)",
            "shared": "PRIMARY KEY (p, id), KEY (id)",
            "nullable": "UNIQUE KEY u (p, id), KEY (id)",
        }[self.key]
        null = "NOT NULL" if self.key == "shared" else "NULL"
        return [
            "CREATE TABLE p (id INT NOT NULL PRIMARY KEY, v INT NULL)",
            f"CREATE TABLE c (id INT NOT NULL, p INT {null}, v INT NULL, {key}, "
            f"CONSTRAINT f FOREIGN KEY (p) REFERENCES p (id) {actions})",
            "CREATE TABLE g (id INT NOT NULL PRIMARY KEY, c INT NULL, v INT NULL, "
            f"CONSTRAINT f FOREIGN KEY (c) REFERENCES c (id) {actions})",
        ]


FAMILIES = [
    Family(on_delete, on_update, key)
    for on_delete, on_update, key in itertools.product(
        ("CASCADE", "SET NULL"), ("RESTRICT", "CASCADE", "SET NULL"), KEYS
    )
    if key != "shared" or "SET NULL" not in (on_delete, on_update)
]


@dataclass
class Database:
    """The rows of a family."""

    family: Family
    rows: dict[str, list[Row]] = field(default_factory=lambda: {"p": [], "c": [], "g": []})

    def change(self, table: str, old: Row | None, new: Row | None) -> None:
        """Change a row and all that refers to it, or nothing at all."""
        before = copy.deepcopy(self.rows)
        try:
            self._cascade(table, old, new)
            self._check()
        except RefusedError:
            self.rows = before
            raise

    def _cascade(self, table: str, old: Row | None, new: Row | None) -> None:
        if old is not None:
            self.rows[table].remove(old)
        if new is not None:
            self.rows[table].append(new)
        child = {"p": "c", "c": "g"}.get(table)
        if old is None or child is None or (new is not None and new[0] == old[0]):
            return
        action = self.family.on_delete if new is None else self.family.on_update
        for row in [row for row in self.rows[child] if row[1] == old[0]]:
            if action == "RESTRICT":
                raise RefusedError
            if action == "SET NULL":
                self._cascade(child, row, (row[0], None, row[2]))
            else:
                after = None if new is None else (row[0], new[0], row[2])
                self._cascade(child, row, after)

    def _check(self) -> None:
        for table, rows in self.rows.items():
            numbers = [row[0] for row in rows]
            if len({*numbers}) < len(numbers):
                raise RefusedError
            for row in rows if table != "p" else ():
                parents = {parent[0] for parent in self.rows["p" if table == "c" else "c"]}
                if row[1] is not None and row[1] not in parents:
                    raise RefusedError
                if row[1] is None and table == "c" and self.family.key == "shared":
                    raise RefusedError


@dataclass
class CascadingLog:
    """One change a transaction, and the rows that the server had after each."""

    family: Family
    changes: list[RowChange] = field(default_factory=list)
    states: list[dict[str, list[Row]]] = field(default_factory=list)

    def with_gap(self, rng: random.Random) -> tuple[CascadingLog, int] | None:
        """Return the log with one delete of a row that was not there, and its place.

        By what is logged the row was never inserted, or was deleted since.
        """
        at = rng.randrange(len(self.changes) // 2, len(self.changes))
        choices = [
            (table, row)
            for table in ("c", "g")
            for row in itertools.product(range(NUMBERS + 1), range(NUMBERS), (0,))
            if self._is_absent(table, row, at)
        ]
        if not choices:
            return None
        table, row = rng.choice(choices)
        changes = [*self.changes[:at], delete(f"d.{table}", *row), *self.changes[at:]]
        return CascadingLog(self.family, changes), at

    def _is_absent(self, table: str, row: Row, at: int) -> bool:
        key = self.family.key_of(table, row)
        if key in (self.family.key_of(table, each) for each in self.states[at - 1][table]):
            return False
        is_live = False
        for change in self.changes[:at]:
            if change.table == f"d.{table}":
                for image, stays in ((change.before, False), (change.after, True)):
                    if image is not None and self.family.key_of(table, image) == key:
                        is_live = stays
        return not is_live

    def save(self, path: Path, dialect: str, statements: Sequence[str] = ()) -> Path:
        """Write a binary log that begins with ``statements``, or CREATE TABLE."""
        is_mariadb = dialect == "mariadb"
        version = "10.11.19-MariaDB" if is_mariadb else "8.0.36"
        writer, number = BinlogWriter(server_version=version), 0

        def begin(flags: int) -> None:
            nonlocal number
            number += 1
            if is_mariadb:
                writer.mariadb_gtid(number, flags=flags)
            else:
                writer.gtid(number, last_committed=number - 1, sequence_number=number)

        for statement in statements or self.family.statements():
            begin(0x29)
            writer.query(statement, schema="d")
        codes = (23, 24, 25) if is_mariadb else (30, 31, 32)
        for change in self.changes:
            begin(0x0C)
            if not is_mariadb:
                writer.query("BEGIN", schema="d")
            name = change.table.removeprefix("d.")
            columns = self._columns(name)
            key = {"p": (0,), "g": (0,)}.get(name, KEYS[self.family.key])
            has_primary = name != "c" or self.family.key != "nullable"
            metadata = optional_metadata(columns, primary_key=key if has_primary else ())
            table_id = 70 + "pcg".index(name)
            writer.table_map(columns, table_id=table_id, schema="d", table=name, metadata=metadata)
            images = [image for image in (change.before, change.after) if image is not None]
            code = codes[[*Operation].index(change.operation)]
            writer.rows(code, columns, images, table_id=table_id)
            writer.xid(number)
        return writer.save(path)

    def _columns(self, name: str) -> list[spec.ColumnSpec]:
        columns = [spec.integer(4).named("id", nullable=False)]
        if name != "p":
            is_nullable = name != "c" or self.family.key != "shared"
            reference = "p" if name == "c" else "c"
            columns.append(spec.integer(4).named(reference, nullable=is_nullable))
        return [*columns, spec.integer(4).named("v")]


def draw_log(rng: random.Random, family: Family, length: int = 24) -> CascadingLog:
    """Return a truthful log."""
    database, log = Database(family), CascadingLog(family)
    while len(log.changes) < length:
        table = rng.choice(("p", "p", "c", "c", "c", "g"))
        old, new = None, _drawn_row(rng, table)
        kind = rng.choice(("insert", "insert", "delete", "update", "renumber"))
        if kind != "insert":
            if not database.rows[table]:
                continue
            old = rng.choice(database.rows[table])
            new = {
                "delete": None,
                "update": (*old[:-1], rng.randrange(9)),
                "renumber": (rng.randrange(NUMBERS), *old[1:]),
            }[kind]
        try:
            database.change(table, old, new)
        except RefusedError:
            continue
        name = f"d.{table}"
        if old is None:
            log.changes.append(insert(name, *new))
        elif new is None:
            log.changes.append(delete(name, *old))
        else:
            log.changes.append(update(name, old, new))
        log.states.append(copy.deepcopy(database.rows))
    return log


def _drawn_row(rng: random.Random, table: str) -> Row:
    references = () if table == "p" else (rng.randrange(NUMBERS),)
    return (rng.randrange(NUMBERS), *references, rng.randrange(9))
