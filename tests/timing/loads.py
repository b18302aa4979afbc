"""Client loads whose logs replicas apply with a fixed cost per row."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paraply.adapters.servers import Server

SCHEMA = "d"
JOURNAL = "journal"
TABLES = ("t", "hot", JOURNAL, "plain", *(f"s{number}" for number in range(8)))
ROWS = 400
_PAUSE_S = 0.002
"""Between two statements, so that transactions of several clients overlap."""

Statements = Callable[[random.Random, int, int], Sequence[str]]
"""Statements of one transaction, from a random source, its client and its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """A load; ``transactions`` is per client."""

    name: str
    meaning: str
    statements: Statements
    clients: int = 8
    transactions: int = 24
    domains: int = 1


def definitions() -> list[str]:
    """Return the tables, as a dump has them."""
    keyed = ", v INT NOT NULL) ENGINE="
    made = [f"CREATE TABLE {SCHEMA}.{name} (id INT PRIMARY KEY{keyed}InnoDB"
            for name in TABLES if name not in (JOURNAL, "plain")]  # fmt: skip
    return [
        *made,
        f"CREATE TABLE {SCHEMA}.{JOURNAL} (at INT NOT NULL{keyed}InnoDB",
        f"CREATE TABLE {SCHEMA}.plain (id INT PRIMARY KEY{keyed}MyISAM",
    ]


def first_rows() -> list[str]:
    """Return the statements that fill the tables."""
    every = ", ".join(f"({number}, 0)" for number in range(ROWS))
    return [f"INSERT INTO {SCHEMA}.{name} VALUES {every}" for name in TABLES if name != JOURNAL]


def restored_rows() -> list[str]:
    """Return the statements that restore the rows after a load."""
    kept = (name for name in TABLES if name != JOURNAL)
    return [
        f"DELETE FROM {SCHEMA}.{JOURNAL}",
        *(f"UPDATE {SCHEMA}.{name} SET v = 0 WHERE v <> 0" for name in kept),
    ]


def _update(table: str, row: int) -> str:
    return f"UPDATE {SCHEMA}.{table} SET v = v + 1 WHERE id = {row}"


def _sample(draw: random.Random, client: int, count: int) -> list[str]:
    # Each client has rows of its own.
    return [_update("t", client * 40 + row) for row in draw.sample(range(40), count)]


def _uniform(draw: random.Random, client: int, number: int) -> Sequence[str]:
    del number
    return _sample(draw, client, draw.randint(1, 3))


def _hot(draw: random.Random, client: int, number: int) -> Sequence[str]:
    rows = _sample(draw, client, draw.randint(1, 2))
    return [*rows, _update("hot", 1)] if number % 2 else rows


def _popular(draw: random.Random, client: int, number: int) -> Sequence[str]:
    del client, number
    wanted = sorted({min(ROWS - 1, int(draw.paretovariate(0.6))) for _ in range(2)})
    return [_update("t", row) for row in wanted]


def _tables(draw: random.Random, client: int, number: int) -> Sequence[str]:
    del number
    rows = draw.sample(range(ROWS), draw.randint(1, 3))
    return [_update(f"s{client}", row) for row in rows]


def _large(draw: random.Random, client: int, number: int) -> Sequence[str]:
    if client == 0 and number % 8 == 4:
        return [f"UPDATE {SCHEMA}.t SET v = v + 1 WHERE id BETWEEN 0 AND 24"]
    return _sample(draw, client + 1 if client < 7 else 1, draw.randint(1, 2))


def _ddl(draw: random.Random, client: int, number: int) -> Sequence[str]:
    if client == 0 and number % 6 == 3:
        return [f"ALTER TABLE {SCHEMA}.s7 COMMENT = 'after {number}'"]
    return _sample(draw, client, draw.randint(1, 3))


def _journal(draw: random.Random, client: int, number: int) -> Sequence[str]:
    inserted = f"INSERT INTO {SCHEMA}.{JOURNAL} VALUES ({client}, {number})"
    return [*_sample(draw, client, 1), inserted]


def _plain(draw: random.Random, client: int, number: int) -> Sequence[str]:
    if client == 0 and number % 4 == 1:
        return [_update("plain", number)]
    return _sample(draw, client, draw.randint(1, 3))


LOADS = {
    load.name: load
    for load in (
        Load(name="uniform", meaning="clients with rows of their own", statements=_uniform),
        Load(name="hot", meaning="one row in half of the transactions", statements=_hot),
        Load(name="popular", meaning="rows of a skewed distribution", statements=_popular),
        Load(name="tables", meaning="a table per client", statements=_tables),
        Load(name="large", meaning="three transactions of 25 rows", statements=_large),
        Load(name="ddl", meaning="four DDL", statements=_ddl),
        Load(name="journal", meaning="inserts into a table without a key", statements=_journal),
        Load(name="plain", meaning="some changes without transactions", statements=_plain),
        Load(name="domains", meaning="clients in three domains", statements=_uniform, domains=3),
        Load(name="alone", meaning="one client", statements=_uniform, clients=1, transactions=160),
    )
}


def play(load: Load, source: Server, seed: int, pause_s: float = _PAUSE_S) -> None:
    """Let the clients run their transactions, with a pause after each statement."""
    failures: list[BaseException] = []

    def client(place: int) -> None:
        draw = random.Random(f"{seed} {load.name} {place}")
        try:
            with source.connect(autocommit=False) as connection:
                if load.domains > 1:
                    with connection.cursor() as cursor:
                        cursor.execute(f"SET SESSION gtid_domain_id={place % load.domains}")
                for number in range(load.transactions):
                    _transaction(connection, load.statements(draw, place, number), pause_s)
        except BaseException as reason:
            failures.append(reason)

    threads = [threading.Thread(target=client, args=(place,)) for place in range(load.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


_DEADLOCK = 1213


def _transaction(connection: Any, statements: Sequence[str], pause_s: float) -> None:
    import pymysql

    while True:
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                    time.sleep(pause_s)
            connection.commit()
            return
        except pymysql.MySQLError as reason:
            connection.rollback()
            if reason.args[0] != _DEADLOCK:
                raise
