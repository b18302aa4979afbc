"""The statement interface of new and existing servers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paraply.adapters.servers.errors import SERVER_UNREACHABLE, STATEMENT_FAILED
from paraply.vocabulary.errors import ParaplyError

if TYPE_CHECKING:
    from pymysql.connections import Connection

Row = tuple[Any, ...]


class Reachable(ABC):
    """A server that accepts connections."""

    name: str

    @property
    @abstractmethod
    def is_mariadb(self) -> bool:
        """Return whether this is MariaDB."""

    @abstractmethod
    def connect(self, **arguments: Any) -> Connection[Any]:
        """Return a new autocommit connection with driver ``arguments``."""

    def query(self, statement: str, **arguments: Any) -> list[Row]:
        """Run one statement and return its rows."""
        return self.run([statement], **arguments)

    def run(self, statements: Sequence[str], **arguments: Any) -> list[Row]:
        """Run statements; return the last rows.

        Raises:
            ParaplyError: P614 without a connection, P605 for a refused statement.
        """
        import pymysql

        rows: list[Row] = []
        with self._connected(arguments) as connection, connection.cursor() as cursor:
            for statement in statements:
                try:
                    cursor.execute(statement)
                except pymysql.MySQLError as reason:
                    raise ParaplyError(
                        STATEMENT_FAILED, where=self.name, statement=statement[:200], reason=reason
                    ) from reason
                rows = list(cursor.fetchall())
        return rows

    def _connected(self, arguments: dict[str, Any]) -> Connection[Any]:
        import pymysql

        try:
            return self.connect(**arguments)
        except (pymysql.MySQLError, OSError) as reason:
            # A server that starts, leaves its cluster or ends closes sockets that it has accepted.
            raise ParaplyError(SERVER_UNREACHABLE, where=self.name, reason=reason) from reason
