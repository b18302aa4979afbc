"""What a scenario works with: a started server, a seed, and threads of clients."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql

from paraply.adapters.servers import Server, ServerRoom

RETRIED = frozenset({1062, 1205, 1213, 1451, 1452, 3101})
"""Duplicate key, lock wait, deadlock, foreign key, certification: part of a real load."""


def server_uuid(seed: int, scenario: str, role: str) -> str:
    """Return the server UUID in the GTIDs of a recording."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"paraply {seed} {scenario} {role}"))


Client = Callable[[random.Random, "ClientConnection"], None]
"""One transaction of one client; an error of RETRIED rolls it back."""


class ClientConnection:
    """A connection that counts what it ran."""

    def __init__(self, server: Server, **arguments: Any) -> None:
        self.raw = server.connect(autocommit=False, **arguments)

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement, with ``%s`` places filled in by the driver."""
        with self.raw.cursor() as cursor:
            cursor.execute(statement, values or None)
            return list(cursor.fetchall())


@dataclass(slots=True, kw_only=True)
class Session:
    """One recording: its servers and its seed."""

    room: ServerRoom
    server: Server
    scenario: str
    seed: int
    replica: Server | None = None
    relay_logs: list[Path] = field(default_factory=list)
    """Copies of relay logs, taken while they were there."""
    notes: list[str] = field(default_factory=list)

    @property
    def is_mariadb(self) -> bool:
        """Return whether the server is MariaDB."""
        return self.server.is_mariadb

    def run(self, *statements: str, **arguments: Any) -> None:
        """Run statements one after the other on one autocommit connection."""
        self.server.run(list(statements), **arguments)

    def load(
        self,
        client: Client,
        *,
        clients: int,
        transactions: int,
        meanwhile: Callable[[], None] | None = None,
        **arguments: Any,
    ) -> None:
        """Run ``clients`` threads of ``transactions`` each, concurrently with ``meanwhile``.

        Each client has its own generator, seeded by the session's seed and its number. The
        interleaving is not repeatable.
        """
        failures: list[BaseException] = []

        def work(number: int) -> None:
            generator = random.Random(self.seed * 1_000 + number)
            connection = ClientConnection(self.server, **arguments)
            try:
                for _ in range(transactions):
                    try:
                        client(generator, connection)
                        connection.raw.commit()
                    except pymysql.MySQLError as error:
                        if error.args[0] not in RETRIED:
                            raise
                        connection.raw.rollback()
            except BaseException as failure:
                failures.append(failure)
            finally:
                with suppress(pymysql.MySQLError):
                    connection.raw.close()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        if meanwhile is not None:
            meanwhile()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def transaction(self, *statements: str) -> None:
        """Run statements as one transaction."""
        self.run("BEGIN", *statements, "COMMIT")

    def each(self, statements: Sequence[str]) -> None:
        """Run each statement as a transaction of its own."""
        self.run(*statements)
