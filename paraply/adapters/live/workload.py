"""The load: concurrent clients that tag every row with its transaction.

Rows carry the unique *tag* in their last column ``w``, and ``journal`` has it as key. A snapshot
thus identifies each row's writer, and the journal lists the transactions present.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from paraply.adapters.live.client_threads import CONNECTION_LOST, PAUSE_S, ClientThreads
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from paraply.adapters.servers.reachable import Reachable

HOT_ROWS, ACCOUNTS, SWAPS, PARENTS, CHILDREN, BULK = 4, 40, 8, 8, 24, 120
CHAINS, LONG_CHAINS = 6, 300
READ_TABLES = ("account", "swap", "parent", "child", "chain")
"""Snapshots read them whole."""
TABLES = (*READ_TABLES, "bulk", "journal", "keyless", "scratch")
AUDITED_TABLES = (*READ_TABLES, "bulk", "journal")
"""Keyed tables for touch triggers."""
TAGS_PER_ROUND = 1_000_000
"""Round ``n`` begins at ``n`` times this."""

Cursor = Any
Step = Callable[[Cursor, random.Random, int, str], None]
"""A transaction: cursor, random numbers, tag, schema."""


def schema_name(domain: int) -> str:
    """Return a replication domain's own schema."""
    return f"live{domain}"


def create_statements(schema: str) -> Iterator[str]:
    """Yield the statements that make a schema."""
    yield f"CREATE DATABASE {schema}"
    for name, columns in {
        "account": "id INT PRIMARY KEY, v BIGINT NOT NULL, w BIGINT NOT NULL",
        "swap": "id INT PRIMARY KEY, u BIGINT NOT NULL UNIQUE, w BIGINT NOT NULL",
        "parent": "id INT PRIMARY KEY, w BIGINT NOT NULL",
        "child": "id INT PRIMARY KEY, parent INT NOT NULL, w BIGINT NOT NULL,"
        f" FOREIGN KEY (parent) REFERENCES {schema}.parent (id)",
        "chain": "id INT PRIMARY KEY, v BIGINT NOT NULL, w BIGINT NOT NULL",
        "bulk": "id INT PRIMARY KEY, w BIGINT NOT NULL",
        "journal": "w BIGINT PRIMARY KEY",
        "keyless": "x INT NOT NULL, w BIGINT NOT NULL",
        "scratch": "id INT PRIMARY KEY, w BIGINT NOT NULL",
    }.items():
        yield f"CREATE TABLE {schema}.{name} ({columns}) ENGINE=InnoDB"
    for name, row, count in (
        ("account", "({0}, 0, 0)", ACCOUNTS),
        ("swap", "({0}, {0}, 0)", SWAPS),
        ("parent", "({0}, 0)", PARENTS),
        ("bulk", "({0}, 0)", BULK),
        ("keyless", "({0}, 0)", 6),
    ):
        rows = ", ".join(row.format(number) for number in range(1, count + 1))
        yield f"INSERT INTO {schema}.{name} VALUES {rows}"


def _update_hot(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    table = f"{schema}.account"
    for row in dice.sample(range(1, HOT_ROWS + 1), 2):
        cursor.execute(f"UPDATE {table} SET v = v + 1, w = {tag} WHERE id = {row}")


def _update_cold(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    for row in dice.sample(range(HOT_ROWS + 1, ACCOUNTS + 1), 2):
        cursor.execute(f"UPDATE {schema}.account SET v = v + 1, w = {tag} WHERE id = {row}")


def _swap_unique(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    first, second = sorted(dice.sample(range(1, SWAPS + 1), 2))
    table = f"{schema}.swap"
    # Under READ COMMITTED, a scan of the other index may miss a row that moves in it.
    both = f"{table} FORCE INDEX (PRIMARY) WHERE id IN ({first}, {second})"
    cursor.execute(f"SELECT id, u FROM {both} FOR UPDATE")
    values = dict(cursor.fetchall())
    cursor.execute(f"UPDATE {table} SET u = -{tag}, w = {tag} WHERE id = {first}")
    cursor.execute(f"UPDATE {table} SET u = {values[first]}, w = {tag} WHERE id = {second}")
    cursor.execute(f"UPDATE {table} SET u = {values[second]}, w = {tag} WHERE id = {first}")


def _change_family(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    child, parent = dice.randint(1, CHILDREN), dice.randint(1, PARENTS)
    cursor.execute(f"DELETE FROM {schema}.child WHERE id = {child}")
    if not cursor.rowcount:
        cursor.execute(f"INSERT IGNORE INTO {schema}.parent VALUES ({parent}, {tag})")
        cursor.execute(f"INSERT INTO {schema}.child VALUES ({child}, {parent}, {tag})")
        return
    cursor.execute(
        f"DELETE FROM {schema}.parent WHERE id = {parent}"
        f" AND NOT EXISTS (SELECT * FROM {schema}.child WHERE parent = {parent})"
    )


def _lengthen_chain(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    _change_chain(cursor, dice, tag, schema, dice.randint(1, CHAINS))


def _build_chain(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    """Few consecutive transactions share the row, so that a wrong result stays."""
    _change_chain(cursor, dice, tag, schema, CHAINS + 1 + tag // 5 % LONG_CHAINS)


def _change_chain(cursor: Cursor, dice: random.Random, tag: int, schema: str, row: int) -> None:
    table = f"{schema}.chain"
    cursor.execute(f"SELECT v FROM {table} WHERE id = {row} FOR UPDATE")
    if not cursor.fetchall():
        cursor.execute(f"INSERT INTO {table} VALUES ({row}, 0, {tag})")
    elif dice.random() < 0.6:
        cursor.execute(f"UPDATE {table} SET v = v + 1, w = {tag} WHERE id = {row}")
    else:
        cursor.execute(f"DELETE FROM {table} WHERE id = {row}")


def _write_keyless(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    row = dice.randint(1, 6)
    cursor.execute(f"UPDATE {schema}.keyless SET w = {tag} WHERE x = {row}")


def _write_much(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    cursor.execute(f"UPDATE {schema}.bulk SET w = {tag} WHERE id > {dice.randint(0, 60)}")


def _use_savepoint(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    table = f"{schema}.account"
    kept, undone, other = dice.sample(range(1, ACCOUNTS + 1), 3)
    cursor.execute(f"UPDATE {table} SET v = v + 1, w = {tag} WHERE id = {kept}")
    cursor.execute("SAVEPOINT here")
    cursor.execute(f"UPDATE {table} SET v = v + 100, w = {tag} WHERE id = {undone}")
    cursor.execute("ROLLBACK TO SAVEPOINT here")
    cursor.execute(f"UPDATE {table} SET v = v + 1, w = {tag} WHERE id = {other}")


def _change_table(cursor: Cursor, dice: random.Random, tag: int, schema: str) -> None:
    table = f"{schema}.scratch"
    if dice.random() < 0.5:
        cursor.execute(f"ALTER TABLE {table} ADD COLUMN c{tag} INT")
        cursor.execute(f"ALTER TABLE {table} DROP COLUMN c{tag}")
    else:
        cursor.execute(f"CREATE TABLE {schema}.t{tag} (id INT PRIMARY KEY) ENGINE=InnoDB")
        cursor.execute(f"DROP TABLE {schema}.t{tag}")


DDL: frozenset[Step] = frozenset({_change_table})
"""Run outside a transaction."""

WORKLOADS: dict[str, tuple[tuple[Step, int], ...]] = {
    "mixed": (
        (_update_hot, 20), (_update_cold, 50), (_swap_unique, 8), (_change_family, 8),
        (_lengthen_chain, 4), (_write_keyless, 3), (_write_much, 1), (_use_savepoint, 5),
        (_change_table, 1),
    ),
    "hot": ((_update_hot, 80), (_swap_unique, 20)),
    "chains": ((_build_chain, 90), (_update_hot, 10)),
    "ddl": ((_change_table, 60), (_update_cold, 40)),
    "cold": ((_update_cold, 100),),
    "rows": (
        (_update_hot, 25), (_update_cold, 40), (_swap_unique, 10), (_change_family, 15),
        (_lengthen_chain, 10),
    ),
}  # fmt: skip
"""With weights; ``rows`` has only keyed changes."""
RECORDED = {"scans": ((_write_keyless, 60), (_update_cold, 40))}
"""Loads of recorders: appliers scan and lock more rows than they write."""


@dataclass(slots=True)
class Load:
    """The clients' results."""

    confirmed: list[int] = field(default_factory=list)
    refused: dict[int, int] = field(default_factory=dict)
    """Rollbacks by error number."""
    asked: dict[int, str] = field(default_factory=dict)
    """The server by tag."""
    unanswered: list[int] = field(default_factory=list)
    """Lost at the commit: outcome unknown."""

    def confirmed_by(self, server: str) -> list[int]:
        """Return a server's confirmed tags in time order."""
        return [tag for tag in list(self.confirmed) if self.asked.get(tag) == server]


class Clients(ClientThreads):
    """Concurrent clients that run a load."""

    def __init__(
        self,
        servers: Sequence[Reachable],
        *,
        workload: str,
        clients: int,
        seed: int,
        round_number: int,
        transactions: int,
        domains: int = 1,
        session_statement: Callable[[int], str | None] = lambda domain: None,
        schema_of: Callable[[int], str] = schema_name,
    ) -> None:
        super().__init__(clients, transactions)
        self.load = Load()
        self._servers = servers
        self._steps = (WORKLOADS | RECORDED)[workload]
        self._seed = seed
        self._tag = round_number * TAGS_PER_ROUND
        self._domains = domains
        self._session_statement = session_statement
        self._schema_of = schema_of

    @property
    def completed(self) -> int:
        """Return the number of confirmed transactions."""
        return len(self.load.confirmed)

    def stop(self, seconds_max: float = 30.0) -> Load:
        """End the load and return the results."""
        self.stop_threads(seconds_max)
        return self.load

    def _next_tag(self) -> int | None:
        with self._lock:
            if self.is_done:
                return None
            self._tag += 1
            return self._tag

    def _run(self, number: int) -> None:
        import pymysql

        dice = random.Random(f"{self._seed}/{number}")
        server = self._servers[number % len(self._servers)]
        domain = number % self._domains
        steps, weights = zip(*self._steps, strict=True)
        while not self._stop.is_set():
            try:
                connection = server.connect(
                    autocommit=True, init_command=self._session_statement(domain)
                )
            except (pymysql.MySQLError, OSError, ParaplyError):
                # The server is down; a fault restarts it, or the round ends.
                self._stop.wait(PAUSE_S)
                continue
            with connection, connection.cursor() as cursor:
                while (tag := self._next_tag()) is not None:
                    step = dice.choices(steps, weights)[0]
                    if step not in DDL:
                        self.load.asked[tag] = server.name
                    if not self._transact(cursor, step, dice, tag, self._schema_of(domain)):
                        break
                else:
                    return
            self._stop.wait(PAUSE_S)  # The server may refuse the next transaction too.

    def _transact(
        self, cursor: Cursor, step: Step, dice: random.Random, tag: int, schema: str
    ) -> bool:
        import pymysql

        is_committing = step in DDL
        try:
            if step in DDL:
                step(cursor, dice, tag, schema)
            else:
                cursor.execute("BEGIN")
                step(cursor, dice, tag, schema)
                cursor.execute(f"INSERT INTO {schema}.journal VALUES ({tag})")
                is_committing = True
                cursor.execute("COMMIT")
        except pymysql.MySQLError as reason:
            code = int(reason.args[0]) if reason.args else 0
            is_lost = code in CONNECTION_LOST
            with self._lock:
                if is_lost and is_committing:
                    self.load.unanswered.append(tag)
                else:
                    self.load.refused[code] = self.load.refused.get(code, 0) + 1
            if is_lost:
                return False
            try:
                cursor.execute("ROLLBACK")
            except pymysql.MySQLError:
                return False
            return True
        with self._lock:
            self.load.confirmed.append(tag)
        return True
