"""Logs of drawn tables that foreign keys tie in any way, with any rows and overlaps."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, optional_metadata

ACTIONS = ("RESTRICT", "CASCADE", "SET NULL", "NO ACTION")
COLUMNS = ("id", "a", "b", "v")
Row = tuple[object, ...]


@dataclass
class TiedTable:
    """A table ``(id, a, b, v)``: what is unique, and what refers to which column of which table."""

    name: str
    is_text: bool
    primary: tuple[str, ...]
    """Empty if a unique key names the rows."""
    is_blob: bool = False
    """Whether ``v`` is a BLOB."""
    unique: list[tuple[str, ...]] = field(default_factory=list)
    foreign: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    """Column, parent, its column, and what ON DELETE and ON UPDATE do."""

    def statement(self) -> str:
        """Return CREATE TABLE."""
        kind = "VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
        kind = kind if self.is_text else "INT"
        parts = [f"{name} {kind} {self._null(name)}" for name in COLUMNS[:3]]
        parts.append(f"v {'BLOB' if self.is_blob else 'INT'} NULL")
        if self.primary:
            parts.append(f"PRIMARY KEY ({', '.join(self.primary)})")
        if self.primary != ("id",):
            parts.append("UNIQUE KEY u (id)")
        for at, columns in enumerate(self.unique):
            parts.append(f"UNIQUE KEY u{at} ({', '.join(columns)})")
        for at, (column, parent, referenced, on_delete, on_update) in enumerate(self.foreign):
            parts.append(
                f"CONSTRAINT {self.name}{at} FOREIGN KEY ({column}) REFERENCES {parent} "
                f"({referenced}) ON DELETE {on_delete} ON UPDATE {on_update}"
            )
        return f"CREATE TABLE {self.name} ({', '.join(parts)})"

    def _is_nullable(self, column: str) -> bool:
        return column != "id" and column not in self.primary

    def _null(self, column: str) -> str:
        return "NULL" if self._is_nullable(column) else "NOT NULL"

    def actions_of(self, column: str) -> tuple[str, ...]:
        """Return what may happen to a reference of the column."""
        return ACTIONS if self._is_nullable(column) else ACTIONS[:2]

    def shown(self, images: str, old: Row | None, new: Row | None) -> tuple[list[bool], list[bool]]:
        """Return which columns a row's images show before and after, by binlog_row_image.

        An update shows a column after itself at least.
        """
        every = [True] * len(COLUMNS)
        names = self.primary or ("id",)
        keyed = [name in names for name in COLUMNS]
        unlike_v = [name != "v" for name in COLUMNS]
        changed = [a != b for a, b in zip(old or (), new or (), strict=False)] or every
        if old is None and new is not None:
            changed = [
                value is not None or name in names for name, value in zip(COLUMNS, new, strict=True)
            ]
        before = {"minimal": keyed, "noblob": unlike_v}.get(images, every)
        after = {
            "minimal": changed, "nodup": changed if old else every,
            "noblob": [a or b for a, b in zip(unlike_v, changed, strict=True)],
        }.get(images, every)  # fmt: skip
        if not any(after):
            after = [name == "v" for name in COLUMNS]
        return (before, after) if old is not None else (after, after)

    def columns(self) -> list[spec.ColumnSpec]:
        """Return the columns of the table map."""
        kind = spec.varchar(36, 45) if self.is_text else spec.integer(4)
        keyed = [kind.named(name, nullable=self._is_nullable(name)) for name in COLUMNS[:3]]
        return [*keyed, (spec.blob(2) if self.is_blob else spec.integer(4)).named("v")]

    def draw(self, rng: random.Random) -> Row:
        """Return a row of few values."""
        values: list[object] = [
            rng.choice((0, 1, 2, None) if self._is_nullable(name) else (0, 1, 2))
            for name in COLUMNS[:3]
        ]
        if self.is_text:
            spelled = ("xX", "yY", "zZ")
            values = [None if each is None else rng.choice(spelled[each]) for each in values]  # type: ignore[index]
        return (*values, rng.choice((b"0", b"1", None)) if self.is_blob else rng.randrange(2))


def draw_tables(rng: random.Random) -> list[TiedTable]:
    """Return tables of which each refers to some, perhaps to itself or in circles."""
    is_text = rng.random() < 0.3
    primaries = (("id",), ("id",), ("id",), ("a", "id"), ())
    tables = [
        TiedTable(name, is_text, rng.choice(primaries)) for name in "pqrst"[: rng.randint(2, 5)]
    ]
    for table in tables:
        table.unique = rng.choice(([], [], [("a",)], [("b",)], [("a", "b")]))
    for at, table in enumerate(tables):
        for column in ("a", "b"):
            if rng.random() < 0.7:
                parent = rng.choice(tables[: at + 1] if rng.random() < 0.8 else tables)
                single = [each[0] for each in parent.unique if len(each) == 1]
                referenced = rng.choice(["id", "id", *single])
                actions = (rng.choice(table.actions_of(column)) for _ in range(2))
                table.foreign.append((column, parent.name, referenced, *actions))
    return tables


def draw_tied_log(
    path: Path, dialect: str, rng: random.Random, length: int = 60, images: str = "full"
) -> Path:
    """Write a log of drawn changes, most of which may overlap others.

    ``images`` is ``full``, ``minimal``, ``noblob`` or ``nodup`` (before all columns, after those
    that changed), or ``mixed``. Tables of minimal images often have no keys but the primary one.
    """
    is_mariadb = dialect == "mariadb"
    writer = BinlogWriter(server_version="10.11.19-MariaDB" if is_mariadb else "8.0.36")
    tables, number, group = draw_tables(rng), 0, 0
    for table in tables:
        table.is_blob = images == "noblob"
    if images in ("minimal", "mixed") and rng.random() < 0.4:
        for table in tables:
            table.primary, table.unique, table.foreign = table.primary or ("id",), [], []
            if len(table.primary) > 1:
                table.primary = ("id",)
    if images != "full" and rng.random() < 0.4:
        for table in tables:
            table.foreign = [(*each[:3], "RESTRICT", "RESTRICT") for each in table.foreign]
    domains, unchecked = rng.choice((1, 1, 2)), rng.choice((0, 0, 0.2))

    def begin(flags: int, last_committed: int) -> None:
        if is_mariadb:
            domain = rng.randrange(domains) if flags == 0x0C else 0
            commit_id = group if flags == 0x0C else None
            writer.mariadb_gtid(number, domain=domain, flags=flags, commit_id=commit_id)
        else:
            writer.gtid(number, last_committed=last_committed, sequence_number=number)

    codes = (23, 24, 25) if is_mariadb else (30, 31, 32)
    for table in tables:
        number += 1
        begin(0x29, number - 1)
        writer.query(table.statement(), schema="d")
    live: dict[str, list[Row]] = {table.name: [] for table in tables}
    first = number
    for _ in range(length):
        number += 1
        group += rng.random() < 0.4
        back = rng.choice((1, 1, 2, 5, 20))
        begin(0x0C, max(first, number - back))
        if not is_mariadb:
            writer.query("BEGIN", schema="d")
        for _ in range(rng.randint(1, 3)):
            table = rng.choice(tables)
            columns, rows = table.columns(), live[table.name]
            kind = rng.randrange(3) if rows and rng.random() < 0.9 else 0
            old = rng.choice(rows) if kind and rng.random() < 0.9 else table.draw(rng)
            new = table.draw(rng)
            if images == "minimal" and kind == 0 and rng.random() < 0.3:
                new = (new[0], None, None, new[3]) if table.primary == ("id",) else new
            if kind == 1 and rng.random() < 0.5:
                new = (*old[:3], new[3])
            changed = ([new], [old, new], [old])[kind]
            if kind and old in rows:
                rows.remove(old)
            if kind < 2:
                rows.append(new)
            table_id = 70 + tables.index(table)
            metadata = optional_metadata(
                columns, primary_key=[COLUMNS.index(name) for name in table.primary]
            )
            writer.table_map(
                columns, table_id=table_id, schema="d", table=table.name, metadata=metadata
            )
            is_unchecked = rng.random() < unchecked
            kind_of_images = images
            if images == "mixed" and rng.random() < 0.1:
                kind_of_images = rng.choice(("full", "minimal", "noblob", "nodup"))
            before, after = table.shown(
                kind_of_images, old if kind else None, new if kind < 2 else None
            )
            writer.rows(
                codes[kind], columns, changed, table_id=table_id, unchecked=is_unchecked,
                before_present=before, after_present=after,
            )  # fmt: skip
        writer.xid(number)
    return writer.save(path)
