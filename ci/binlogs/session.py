"""A scenario's server, seed and client threads."""

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
"""Expected errors under load."""


def server_uuid(seed: int, scenario: str, role: str) -> str:
    """Return a recording's server UUID."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"paraply {seed} {scenario} {role}"))


Client = Callable[[random.Random, "ClientConnection"], None]
"""An error of RETRIED rolls it back."""


class ClientConnection:
    """A connection that counts its statements."""

    def __init__(self, server: Server, **arguments: Any) -> None:
        self.raw = server.connect(autocommit=False, **arguments)

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement with driver parameters."""
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
    """Copied before their removal."""
    notes: list[str] = field(default_factory=list)

    @property
    def is_mariadb(self) -> bool:
        """Return whether MariaDB runs."""
        return self.server.is_mariadb

    def run(self, *statements: str, **arguments: Any) -> None:
        """Run statements in order with autocommit."""
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
        """Run ``clients`` threads of ``transactions`` each, beside ``meanwhile``.

        Each client has its own seed; the interleaving is not repeatable.
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
        """Run each statement as a transaction."""
        self.run(*statements)
