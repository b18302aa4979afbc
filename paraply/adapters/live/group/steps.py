"""The steps of a replication group's writers, which tag rows and leave tags in the journal."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from paraply.adapters.live.group.target import MIXED
from paraply.adapters.live.workload import (
    AUDITED_TABLES,
    DDL,
    READ_TABLES,
    WORKLOADS,
    Cursor,
    Step,
    create_statements,
)

ROWS, HOT_ROWS, PARENTS = 200, 6, 40
SCHEMA = "d"
JOURNAL = f"{SCHEMA}.journal"
_NAMED_SOURCE = "cccccccc-cccc-4ccc-8ccc-000000000001"
_KEYLESS = f"{SCHEMA}.keyless"


def _row(dice: random.Random) -> int:
    return dice.randint(1, HOT_ROWS if dice.random() < 0.2 else ROWS)


def _update(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    for _ in range(dice.choice((1, 1, 2, 3))):
        cursor.execute(f"UPDATE {schema}.t SET v = v + 1, w = {tag} WHERE id = {_row(dice)}")


def _update_many(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    row = _row(dice)
    cursor.execute(
        f"UPDATE {schema}.t SET v = v + 1, w = {tag} WHERE id BETWEEN {row} AND {row + 60}"
    )


def _add_child(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    parent = dice.randint(1, PARENTS)
    cursor.execute(f"INSERT INTO {schema}.c (p, w) VALUES ({parent}, {tag})")


def _change_parent(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    parent = dice.randint(1, PARENTS)
    cursor.execute(f"UPDATE {schema}.p SET v = v + 1, w = {tag} WHERE id = {parent}")


def _move(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    moved = dice.choice((10_000, -10_000))
    cursor.execute(f"UPDATE {schema}.t SET u = u + {moved}, w = {tag} WHERE id = {_row(dice)}")


def _delete(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    cursor.execute(f"DELETE FROM {schema}.t WHERE id = {_row(dice)}")


def _insert(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    row = _row(dice)
    cursor.execute(f"INSERT INTO {schema}.t VALUES ({row}, 0, {row}, {tag})")


def _undo_part(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    cursor.execute("SAVEPOINT s")
    cursor.execute(f"UPDATE {schema}.t SET v = v - 1, w = {tag} WHERE id = {_row(dice)}")
    cursor.execute("ROLLBACK TO SAVEPOINT s")
    cursor.execute(f"UPDATE {schema}.t SET v = v + 1, w = {tag} WHERE id = {_row(dice)}")


def _define(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    """The write set is empty or incomplete."""
    name = f"{schema}.made_{tag}"
    if dice.random() < 0.5:
        cursor.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY)")
    else:
        cursor.execute(
            f"CREATE TABLE {name} (id INT PRIMARY KEY) SELECT id, v FROM {schema}.p WHERE id < 5"
        )


def _choose_gtid(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    cursor.execute(f"SET SESSION gtid_next='{_NAMED_SOURCE}:{tag}'")
    cursor.execute("BEGIN")
    if dice.random() < 0.5:
        cursor.execute(f"UPDATE {schema}.t SET v = v + 1, w = {tag} WHERE id = {_row(dice)}")
        cursor.execute(f"INSERT INTO {schema}.journal VALUES ({tag})")
    cursor.execute("COMMIT")
    cursor.execute("SET SESSION gtid_next='AUTOMATIC'")


BY_THEMSELVES = DDL | {_define, _choose_gtid}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWorkload:
    """The steps of a group's writers."""

    statements: Sequence[str]
    steps: Sequence[tuple[Step, int]]
    read_tables: Sequence[str]
    tables: Sequence[str]
    """Tables that must agree in the end."""


_MIXED = GroupWorkload(
    statements=(
        f"CREATE DATABASE {SCHEMA}",
        f"CREATE TABLE {SCHEMA}.t"
        " (id INT PRIMARY KEY, v INT, u INT, w BIGINT NOT NULL, UNIQUE (u))",
        f"CREATE TABLE {SCHEMA}.p (id INT PRIMARY KEY, v INT, w BIGINT NOT NULL)",
        f"CREATE TABLE {SCHEMA}.journal (w BIGINT PRIMARY KEY)",
        f"CREATE TABLE {SCHEMA}.c (id INT PRIMARY KEY AUTO_INCREMENT, p INT, w BIGINT NOT NULL,"
        f" FOREIGN KEY (p) REFERENCES {SCHEMA}.p (id))",
        f"INSERT INTO {SCHEMA}.p WITH RECURSIVE n (i) AS"
        f" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PARENTS}) SELECT i, 0, 0 FROM n",
        f"INSERT INTO {SCHEMA}.t WITH RECURSIVE n (i) AS"
        f" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) SELECT i, 0, i, 0 FROM n",
    ),
    steps=(
        (_update, 780), (_add_child, 80), (_change_parent, 20), (_move, 50), (_delete, 20),
        (_insert, 20), (_undo_part, 10), (_update_many, 5), (_define, 3), (_choose_gtid, 12),
    ),
    read_tables=("t", "p"),
    tables=tuple(f"{SCHEMA}.{table}" for table in ("t", "p", "c", "journal")),
)  # fmt: skip


def workload_named(name: str) -> GroupWorkload:
    """Return a group's workload, without tables that lack a primary key."""
    if name == MIXED:
        return _MIXED
    return GroupWorkload(
        statements=[one for one in create_statements(SCHEMA) if _KEYLESS not in one],
        steps=WORKLOADS[name],
        read_tables=READ_TABLES,
        tables=[f"{SCHEMA}.{table}" for table in AUDITED_TABLES],
    )
