"""Writers of a replication group that conflict on purpose."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from paraply.adapters.live.group.steps import BY_THEMSELVES, JOURNAL, SCHEMA, GroupWorkload
from paraply.adapters.live.workload import Cursor
from paraply.adapters.servers.server import Server


@dataclass(slots=True)
class Load:
    """The shared state of a run's writers."""

    pause_s: float = 0.0
    ended: threading.Event = field(default_factory=threading.Event)
    paused: set[str] = field(default_factory=set)
    """Absent members and secondaries."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """By ``committed`` or server error number."""
    confirmed: dict[str, list[int]] = field(default_factory=dict)
    """By member, in time order."""
    last_tag: int = 0
    cap: int = 0
    """Commits at which all writers wait."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def committed(self) -> int:
        """Return the number of confirmed transactions."""
        return self.outcomes["committed"]

    def has_to_wait(self, member: str) -> bool:
        """Return whether a member's writers wait."""
        return member in self.paused or self.committed >= self.cap

    def count(self, outcome: str) -> None:
        """Count a transaction's outcome."""
        with self.lock:
            self.outcomes[outcome] += 1

    def next_tag(self) -> int:
        """Return an unused tag."""
        with self.lock:
            self.last_tag += 1
            return self.last_tag

    def confirm(self, member: str, tag: int) -> None:
        """Record a confirmation to a writer."""
        with self.lock:
            self.confirmed.setdefault(member, []).append(tag)

    def confirmed_by(self, member: str) -> frozenset[int]:
        """Return a member's confirmations until now."""
        with self.lock:
            return frozenset(self.confirmed.get(member, ()))

    def wait_until_committed(self, count: int, seconds_max: float) -> None:
        """Wait for commits or the time limit; raises the cap to ``count``."""
        self.cap = max(self.cap, count)
        deadline = time.monotonic() + seconds_max
        while self.committed < count and time.monotonic() < deadline:
            time.sleep(0.05)


class Writer(threading.Thread):
    """A client of one member with seeded steps."""

    def __init__(
        self, member: Server, number: int, seed: int, load: Load, workload: GroupWorkload
    ) -> None:
        super().__init__(daemon=True, name=f"writer-{member.name}-{number}")
        self.member = member
        self.load = load
        self.random = random.Random(f"{seed}/{member.name}/{number}")
        self._steps, self._weights = zip(*workload.steps, strict=True)

    def run(self) -> None:
        """Write until the load ends, and reconnect if necessary."""
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

    def _transaction(self, cursor: Cursor) -> int | None:
        (step,) = self.random.choices(self._steps, self._weights)
        tag = self.load.next_tag()
        step(cursor, self.random, tag, SCHEMA)
        if step in BY_THEMSELVES:
            return None
        cursor.execute(f"INSERT INTO {JOURNAL} VALUES ({tag})")
        return tag
