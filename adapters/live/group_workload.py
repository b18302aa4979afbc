"""Writers of a replication group that disagree on purpose, and every kind of transaction."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adapters.servers.server import Server

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

ROWS, HOT_ROWS, PARENTS = 600, 6, 40
SCHEMA = (
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v INT, u INT, s VARCHAR(20), UNIQUE (u))",
    "CREATE TABLE d.p (id INT PRIMARY KEY, v INT)",
    "CREATE TABLE d.journal (w BIGINT PRIMARY KEY)",
    "CREATE TABLE d.c (id INT PRIMARY KEY AUTO_INCREMENT, p INT,"
    " FOREIGN KEY (p) REFERENCES d.p (id))",
    "INSERT INTO d.p WITH RECURSIVE n (i) AS"
    f" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {PARENTS}) SELECT i, 0 FROM n",
    "INSERT INTO d.t WITH RECURSIVE n (i) AS"
    f" (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS}) SELECT i, 0, i, 'x' FROM n",
)
JOURNAL = "d.journal"
"""Every ordinary transaction leaves its tag in it, a number that no other has."""
TABLES = ("d.t", "d.p", "d.c", JOURNAL)


@dataclass(slots=True)
class Load:
    """What the writers of a run share: how fast they go, who pauses, and what came of it."""

    pause_s: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)
    paused: set[str] = field(default_factory=set)
    """Names of members whose writers wait: who is away, and who is no primary."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """``committed``, and the servers' error numbers."""
    confirmed: dict[str, list[int]] = field(default_factory=dict)
    """By member: the tags of what its writers were told had committed, in the order of time."""
    last_tag: int = 0
    cap: int = 0
    """How many may be committed at this stage of the run; then all writers wait."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def committed(self) -> int:
        """Return how many transactions were confirmed to their writers."""
        return self.outcomes["committed"]

    def has_to_wait(self, member: str) -> bool:
        """Return whether a member's writers wait."""
        return member in self.paused or self.committed >= self.cap

    def count(self, outcome: str) -> None:
        """Count one end of a transaction."""
        with self.lock:
            self.outcomes[outcome] += 1

    def next_tag(self) -> int:
        """Return a tag that no transaction has."""
        with self.lock:
            self.last_tag += 1
            return self.last_tag

    def confirm(self, member: str, tag: int) -> None:
        """Note that a writer was told that its transaction had committed."""
        with self.lock:
            self.confirmed.setdefault(member, []).append(tag)

    def confirmed_by(self, member: str) -> frozenset[int]:
        """Return what a member has confirmed until now."""
        with self.lock:
            return frozenset(self.confirmed.get(member, ()))

    def wait_until_committed(self, count: int, seconds_max: float) -> None:
        """Return once so many were committed, or the time is over; fewer may not be the cap."""
        self.cap = max(self.cap, count)
        deadline = time.monotonic() + seconds_max
        while self.committed < count and time.monotonic() < deadline:
            time.sleep(0.05)


class Writer(threading.Thread):
    """One client of one member; what it does follows from its seed, when from the servers."""

    def __init__(self, member: Server, number: int, seed: int, load: Load) -> None:
        super().__init__(daemon=True, name=f"writer-{member.name}-{number}")
        self.member = member
        self.number = number
        self.load = load
        self.random = random.Random(f"{seed}/{member.name}/{number}")
        self._made = 0

    def run(self) -> None:
        """Write until the load ends; a lost connection is opened again."""
        import pymysql

        connection: Any = None
        while not self.load.ended.is_set():
            if self.load.has_to_wait(self.member.name):
                time.sleep(0.05)
                continue
            try:
                if connection is None:
                    connection = self.member.connect(autocommit=False, read_timeout=60)
                with connection.cursor() as cursor:
                    tag = self._transaction(cursor)
                connection.commit()
                self.load.count("committed")
                if tag is not None:
                    self.load.confirm(self.member.name, tag)
            except (pymysql.MySQLError, OSError) as error:
                self.load.count(str(error.args[0]) if error.args else type(error).__name__)
                connection = self._rolled_back(connection)
            time.sleep(self.load.pause_s)
        if connection is not None:
            connection.close()

    def _rolled_back(self, connection: Any) -> Any:
        import pymysql

        try:
            connection.rollback()
            with connection.cursor() as cursor:
                cursor.execute("SET SESSION gtid_next='AUTOMATIC'")
        except (pymysql.MySQLError, OSError, AttributeError):
            time.sleep(0.2)
            return None
        return connection

    def _row(self) -> int:
        last = HOT_ROWS if self.random.random() < 0.2 else ROWS
        return self.random.randint(1, last)

    def _transaction(self, cursor: Cursor) -> int | None:
        """Do everything but commit; return the tag that it leaves, if it leaves one."""
        draw = self.random.random()
        row, parent = self._row(), self.random.randint(1, PARENTS)
        if draw < 0.08:
            cursor.execute(f"INSERT INTO d.c (p) VALUES ({parent})")
        elif draw < 0.10:
            cursor.execute(f"UPDATE d.p SET v = v + 1 WHERE id = {parent}")
        elif draw < 0.15:
            moved = self.random.choice((10_000, -10_000))
            cursor.execute(f"UPDATE d.t SET u = u + {moved} WHERE id = {row}")
        elif draw < 0.17:
            cursor.execute(f"DELETE FROM d.t WHERE id = {row}")
        elif draw < 0.19:
            cursor.execute(f"INSERT INTO d.t VALUES ({row}, 0, {row}, 'n')")
        elif draw < 0.20:
            self._savepoint(cursor, row)
        elif draw < 0.205:
            cursor.execute(f"UPDATE d.t SET v = v + 1 WHERE id BETWEEN {row} AND {row + 60}")
        elif draw < 0.208:
            self._definition(cursor)
            return None
        elif draw < 0.22:
            self._named(cursor, row)
            return None
        else:
            for _ in range(self.random.choice((1, 1, 2, 3))):
                cursor.execute(
                    f"UPDATE d.t SET v = v + 1, s = '{self.name[-8:]}' WHERE id = {self._row()}"
                )
        tag = self.load.next_tag()
        cursor.execute(f"INSERT INTO {JOURNAL} VALUES ({tag})")
        return tag

    def _savepoint(self, cursor: Cursor, row: int) -> None:
        cursor.execute("SAVEPOINT s")
        cursor.execute(f"UPDATE d.t SET v = v - 1 WHERE id = {row}")
        cursor.execute("ROLLBACK TO SAVEPOINT s")
        cursor.execute(f"UPDATE d.t SET v = v + 1 WHERE id = {self._row()}")

    def _definition(self, cursor: Cursor) -> None:
        """CREATE TABLE, alone or with rows: no write set, or one that tells too little."""
        self._made += 1
        name = f"d.made_{self.member.server_id}_{self.number}_{self._made}"
        if self.random.random() < 0.5:
            cursor.execute(f"CREATE TABLE {name} (id INT PRIMARY KEY)")
        else:
            cursor.execute(
                f"CREATE TABLE {name} (id INT PRIMARY KEY) SELECT id, v FROM d.p WHERE id < 5"
            )

    def _named(self, cursor: Cursor, row: int) -> None:
        """A GTID of the session's choice, for an empty transaction or an ordinary one."""
        self._made += 1
        source = f"cccccccc-cccc-4ccc-8ccc-{self.member.server_id:06d}{self.number:06d}"
        cursor.execute(f"SET SESSION gtid_next='{source}:{self._made}'")
        cursor.execute("BEGIN")
        if self.random.random() < 0.5:
            cursor.execute(f"UPDATE d.t SET v = v + 1 WHERE id = {row}")
        cursor.execute("COMMIT")
        cursor.execute("SET SESSION gtid_next='AUTOMATIC'")
