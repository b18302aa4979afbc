"""A case as a real server's log: the server runs the case, then the log gets its timestamps."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from paraply.adapters.binlog.rewriting import RawEvent, rewritten
from paraply.adapters.conformance.source import Entry, EntryKind, SourceLog
from paraply.adapters.servers.server import Server
from paraply.adapters.wire.served_log import ServedLog
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.transactions import RowWrite, Transaction, TransactionKind

_GTID, _MARIADB_GTID = 33, 162
_FLAGS_AT, _COMMIT_ID_AT = 12, 13
_COMMIT_ID_FLAG = 2
_ALONE = 1 | 32 | 64 | 128
"""Standalone groups, schema changes and XA."""
_MARIADB_GTID_BYTES_MIN = 19
_CLOCK_AT = 26
_LOGICAL_CLOCK = 2
_SYSTEM = ("mysql", "information_schema", "performance_schema", "sys")


class NotOnWireError(Exception):
    """The case cannot become a server's log; the text is the reason."""


@dataclass(frozen=True, slots=True)
class CaseLog:
    """A case's log as files and as groups.

    ``drains`` are the transactions before which the program must be at rest.
    """

    files: tuple[Path, ...]
    served: ServedLog
    drains: frozenset[int]


class CaseLogs:
    """Runs cases on ``server`` and keeps their logs in ``folder``.

    Equal transactions with other timestamps run once.
    """

    def __init__(self, server: Server, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._recorded: dict[object, list[tuple[str, bytes]]] = {}
        self._made = 0

    def make(self, log: SourceLog) -> CaseLog:
        """Return a case's log with its timestamps.

        ``NotOnWireError`` if the server cannot run the case or logs other transactions.
        """
        require_suited(log, is_mariadb=self._server.is_mariadb)
        content = (log.source_schema, *map(_content_of, log.entries))
        if content not in self._recorded:
            self._recorded[content] = self._record(log)
        stamps = iter(log.transactions)
        files = [
            (name, rewritten(data, lambda one: _stamped(one, stamps)))
            for name, data in self._recorded[content]
        ]
        served = ServedLog.of_files(files)
        logged, wanted = len(served.groups), len(log.transactions)
        if logged != wanted:
            raise NotOnWireError(f"the server logged {logged} transactions in place of {wanted}")
        self._made += 1
        folder = self._folder / f"log{self._made}"
        folder.mkdir(parents=True)
        for name, data in files:
            (folder / name).write_bytes(data)
        return CaseLog(tuple(folder / name for name, _ in files), served, drains_of(log))

    def _record(self, log: SourceLog) -> list[tuple[str, bytes]]:
        server = self._server
        empty_server(server)
        try:
            server.run(["SET SESSION sql_log_bin = 0", *schema_statements(log.source_schema)])
            reset_log(server)
            run_case(server, log)
        except ParaplyError as error:
            raise NotOnWireError(f"the server refuses the case: {error.text}") from error
        server.run(["FLUSH BINARY LOGS"])
        files = [(path.name, path.read_bytes()) for path in server.binary_logs()[:-1]]
        reset_log(server)  # An applier may use the source's GTIDs at the target.
        return files


def _content_of(entry: Entry) -> object:
    txn = entry.transaction
    return entry.kind, repr(txn and (txn.rows, txn.domain))


def drains_of(log: SourceLog) -> frozenset[int]:
    """Return the transactions before which the program must be at rest."""
    found, number = set(), 0
    for entry in log.entries:
        number += entry.transaction is not None
        if entry.kind is EntryKind.DRAIN:
            found.add(number + 1)
    return frozenset(found)


def prepare_target(server: Server, statements: tuple[str, ...]) -> int:
    """Create empty tables; return the number of old log files.

    MySQL forgets GTIDs, too, because it ignores a transaction with a known GTID.
    """
    empty_server(server)
    server.run(["SET SESSION sql_log_bin = 0", *schema_statements(statements)])
    if not server.is_mariadb:
        reset_log(server)
        return 0
    server.run(["FLUSH BINARY LOGS"])
    return len(server.binary_logs()) - 1


def reset_log(server: Server) -> None:
    """Remove all binary logs and GTIDs."""
    statement = "RESET BINARY LOGS AND GTIDS"
    server.run(["RESET MASTER" if server.is_mariadb else statement])


def empty_server(server: Server) -> None:
    """Drop all databases that are not the server's own."""
    names = [str(row[0]) for row in server.query("SHOW DATABASES")]
    drops = [f"DROP DATABASE `{name}`" for name in names if name.lower() not in _SYSTEM]
    server.run(["SET SESSION sql_log_bin = 0", "SET SESSION foreign_key_checks = 0", *drops])


def schema_statements(statements: tuple[str, ...]) -> list[str]:
    """Return the statements after CREATE DATABASE for each database that they name."""
    names = sorted({word for text in statements for word in _databases(text)})
    return [*(f"CREATE DATABASE {name}" for name in names), *statements]


def _databases(statement: str) -> Iterator[str]:
    words = statement.replace("(", " ").split()
    for before, word in pairwise(words):
        if before.upper() in ("TABLE", "REFERENCES", "EXISTS", "ON") and "." in word:
            yield word.split(".")[0].strip("`")


def as_logged(log: SourceLog) -> SourceLog:
    """Return a case without the transactions that servers do not log.

    Servers log neither empty transactions nor updates that change nothing. A later update may
    change nothing once an earlier transaction is left out.
    """
    while missing := [txn.id for txn in log.transactions if not _is_logged(txn)]:
        found = log.only([txn.id for txn in log.transactions if txn.id not in missing])
        if found is None:
            raise NotOnWireError(f"transaction {missing[0]} is empty, which a server does not log")
        log = found
    return log


def _is_logged(txn: Transaction) -> bool:
    is_rows = txn.kind in (TransactionKind.ROWS, TransactionKind.NO_WRITE_SET)
    return not is_rows or (bool(txn.rows) and all(row.before != row.after for row in txn.rows))


def require_suited(log: SourceLog, *, is_mariadb: bool) -> None:
    """Raise ``NotOnWireError`` for a case that a server cannot log."""
    reason = _unsuited(log, is_mariadb=is_mariadb)
    if reason:
        raise NotOnWireError(reason)


def _unsuited(log: SourceLog, *, is_mariadb: bool) -> str:
    for txn in log.transactions:
        if txn.kind not in (TransactionKind.ROWS, TransactionKind.NO_WRITE_SET):
            return f"transaction {txn.id} is a schema change"
        if not _is_logged(txn):
            return f"transaction {txn.id} is empty, which a server does not log"
        if txn.domain is not None and not is_mariadb:
            return "it uses domains, which MySQL does not have"
    return "" if log.transactions else "its log is empty"


def run_case(server: Server, log: SourceLog) -> None:
    """Run the transactions and rotations of a case; ``NotOnWireError`` if one changes no row."""
    from pymysql import MySQLError

    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        columns = {table.name: table for table in log.database.tables.schemas}
        for entry in log.entries:
            if entry.kind is EntryKind.ROTATE:
                cursor.execute("FLUSH BINARY LOGS")
            if entry.transaction is None:
                continue
            if entry.transaction.domain is not None:
                cursor.execute(f"SET SESSION gtid_domain_id = {entry.transaction.domain}")
            for row in entry.transaction.rows:
                names = [column.name for column in columns[row.table].columns]
                text, values = _statement(row, names)
                try:
                    changed = cursor.execute(text, values)
                except MySQLError as error:
                    raise NotOnWireError(f"the server refuses the case: {error}") from error
                if changed != 1:
                    raise NotOnWireError(
                        f"the server changes no row in transaction {entry.transaction.id}"
                    )
            connection.commit()


def _statement(row: RowWrite, names: list[str]) -> tuple[str, tuple[object, ...]]:
    where = " AND ".join(f"`{name}` <=> %s" for name in names)
    if row.before is None:
        assert row.after is not None
        marks = ", ".join(["%s"] * len(row.after))
        return f"INSERT INTO {row.table} VALUES ({marks})", row.after
    if row.after is None:
        return f"DELETE FROM {row.table} WHERE {where} LIMIT 1", row.before
    sets = ", ".join(f"`{name}` = %s" for name in names)
    return f"UPDATE {row.table} SET {sets} WHERE {where} LIMIT 1", (*row.after, *row.before)


def _stamped(event: RawEvent, stamps: Iterator[Transaction]) -> bytes:
    if event.code not in (_GTID, _MARIADB_GTID):
        return event.body
    stamp = next(stamps, None)
    if stamp is not None and stamp.timestamp is not None and event.code == _GTID:
        return with_clock(event, stamp.timestamp.last_committed, stamp.timestamp.sequence_number)
    if stamp is not None and stamp.commit_id is not None and event.code == _MARIADB_GTID:
        return with_commit_id(event, stamp.commit_id)
    return event.body


def clock_of(event: RawEvent) -> tuple[int, int]:
    """Return last_committed and sequence_number of MySQL's GTID event; zeros of others."""
    if event.code != _GTID or event.body[25] != _LOGICAL_CLOCK:
        return 0, 0
    last_committed, sequence_number = struct.unpack_from("<qq", event.body, _CLOCK_AT)
    return last_committed, sequence_number


def with_clock(event: RawEvent, last_committed: int, sequence_number: int) -> bytes:
    """Return the body of MySQL's GTID event with another timestamp."""
    if event.code != _GTID or event.body[25] != _LOGICAL_CLOCK:
        return event.body
    body = bytearray(event.body)
    struct.pack_into("<qq", body, _CLOCK_AT, last_committed, sequence_number)
    return bytes(body)


def with_commit_id(event: RawEvent, commit_id: int) -> bytes:
    """Return the body of MariaDB's GTID event with a group commit id."""
    body = event.body
    if event.code != _MARIADB_GTID or body[_FLAGS_AT] & _ALONE:
        return body
    flags = body[_FLAGS_AT]
    # Padding follows the id.
    rest = body[_COMMIT_ID_AT + 8 :] if flags & _COMMIT_ID_FLAG else body[_COMMIT_ID_AT:]
    start = body[:_FLAGS_AT] + bytes([flags | _COMMIT_ID_FLAG])
    stamped = start + struct.pack("<Q", commit_id) + rest.rstrip(b"\0")
    return stamped.ljust(_MARIADB_GTID_BYTES_MIN, b"\0")
