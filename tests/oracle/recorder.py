"""One server as source and replica: it records transactions, and applies them in either order."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any

import pymysql
from pymysql.constants.CLIENT import MULTI_STATEMENTS

from paraply.adapters.wire.locks import LockMonitor
from paraply.vocabulary.log import ABSENT
from tests.builders.log_forger import ForgedLog, RawEvent
from tests.builders.log_reading import transactions_of
from tests.oracle.generator import Case, Transaction

_HEADER = struct.Struct("<IBIIIH")
_TABLE_MAP, _FORMAT, _ROTATE, _STOP = 19, 15, 4, 3
_ROWS = {20, 21, 22, 23, 24, 25, 30, 31, 32, 39}
_GTIDS = {33, 34, 162}
LEAN_FIELDS = frozenset({1, 2, 3, 7})
"""What MySQL's MINIMAL metadata keeps; MariaDB's default keeps nothing."""

OPTIONS = (
    "--binlog-format=ROW",
    "--binlog-row-metadata=FULL",
    "--binlog-checksum=NONE",
    "--sync-binlog=0",
    "--innodb-flush-log-at-trx-commit=0",
)


@dataclass(frozen=True, slots=True)
class Truth:
    """What the server does with a pair of recorded transactions."""

    answer: str
    """``conflict``, ``commute`` or ``broken`` (the recorded order cannot be applied)."""
    why: str = ""
    one_row: bool = False
    """The later changes a row as the earlier left it: no applier may swap the two."""


@dataclass(frozen=True, slots=True)
class RecordedPair:
    """A log up to a pair, and what is true of the pair.

    ``data_later`` goes on with the schema statements before the next pair, ``dump_later`` is of
    after them.
    """

    data: bytes
    begins: int
    """Ordinal of the last transaction that sets up the schema."""
    first: int
    second: int
    truth: Truth
    dump_before: str
    dump_after: str
    waits: bool | None = None
    data_later: bytes = b""
    dump_later: str = ""


class _BrokenLogError(Exception):
    """The server cannot apply what it logged itself."""


class Recorder:
    """Records cases on one server that was started with :data:`OPTIONS`."""

    def __init__(self, server: Any) -> None:
        self.is_mariadb: bool = server.is_mariadb
        self._server = server
        # A round trip costs more than most statements.
        self._source, self._replica, self._other = (
            server.connect(autocommit=is_source, client_flag=MULTI_STATEMENTS)
            for is_source in (True, False, False)
        )
        self._number = 0
        self._checked = True
        self._defined: tuple[list[str], str] | None = None
        self.broken = 0
        self._run(self._source, "SET SESSION sql_mode=''")
        for session in (self._replica, self._other):
            self._run(session, "SET SESSION sql_log_bin=0, sql_mode=''")
        # Nothing but a server's end closes it.
        self._locks = LockMonitor(server)
        if self.is_mariadb:
            # The other session alone: where one session applies both transactions, it meets no
            # locks but those of InnoDB's background threads, which say nothing of the pair.
            self._run(self._other, "SET SESSION innodb_lock_wait_timeout=0")

    def record(self, case: Case) -> Iterator[RecordedPair]:
        """Yield the pairs of a case that the server recorded."""
        self._number += 1
        self._defined = None
        self._schema, self._copy = f"s{self._number:07}", f"r{self._number:07}"
        self._run(self._source, "FLUSH BINARY LOGS")
        self._file = self._log_file()
        for session in (self._replica, self._other):
            self._announce_format(session)
        self._run(
            self._source,
            f"CREATE DATABASE {self._schema}; USE {self._schema}; "
            f"SET SESSION binlog_row_image={case.image}",
        )
        self._run(self._replica, f"CREATE DATABASE {self._copy}; USE {self._copy}")
        self._run(self._other, f"USE {self._copy}")
        try:
            yield from self._pairs(case)
        except _BrokenLogError:
            # A genuine log that its own server cannot apply (MySQL 9.7: REPLACE of a parent).
            self.broken += 1
        finally:
            self._run(self._other, "ROLLBACK")
            self._run(self._replica, f"ROLLBACK; DROP DATABASE {self._copy}")
            self._checked = True
            self._run(
                self._source,
                "SET SESSION sql_log_bin=0, foreign_key_checks=1; "
                f"DROP DATABASE {self._schema}; SET SESSION sql_log_bin=1",
            )

    def _pairs(self, case: Case) -> Iterator[RecordedPair]:
        for sql in case.setup:
            self._define(sql)
        begins = len(self._log())
        dump_before = self._dump()
        # One transaction: every audit reads it again.
        if self._transact(Transaction(case.data)):
            self._apply_last()
        recorded: RecordedPair | None = None
        for changes, one, two in case.steps:
            for sql in changes:
                self._define(sql)
            if recorded is not None:
                yield replace(recorded, data_later=self._read(), dump_later=self._dump())
                recorded = None
            if not self._transact(one):
                continue
            first = len(self._log())
            if not self._transact(two):
                self._apply_last()
                continue
            log = self._log()
            second = len(log)
            pair = [list(_statements(log, at)) for at in (first, second)]
            truth = self._truth(pair)
            if truth.answer == "commute" and _hands_over_a_row(self._read(), first, second):
                truth = replace(truth, one_row=True)
            waits = self._waits(pair) if truth.answer == "commute" else None
            if truth.answer == "broken":
                return
            recorded = RecordedPair(
                self._read(), begins, first, second, truth, dump_before, self._dump(), waits
            )
            for statements in pair:
                self._apply_for_good(statements)
        if recorded is not None:
            yield replace(recorded, data_later=recorded.data, dump_later=recorded.dump_after)

    # The source

    def _define(self, sql: str) -> None:
        self._defined = None
        if self._try(self._source, sql):
            self._try(self._replica, sql)
            self._run(self._replica, "COMMIT")

    def _transact(self, transaction: Transaction) -> bool:
        """Run a transaction on the source; return whether it was logged."""
        before = len(self._log())
        begin = "BEGIN; "
        if transaction.checked != self._checked:
            begin = f"SET SESSION foreign_key_checks={int(transaction.checked)}; BEGIN; "
            self._checked = transaction.checked
        for sql in transaction.statements:
            self._try(self._source, begin + sql)
            begin = ""
        self._run(self._source, "COMMIT")
        return len(self._log()) == before + 1

    def _dump(self) -> str:
        return self._definitions()[1]

    def _definitions(self) -> tuple[list[str], str]:
        """Return the names of the tables, and what creates them, as they are now."""
        if self._defined is None:
            names = [name for (name,) in self._run(self._source, "SHOW TABLES")]
            found = [f"CREATE DATABASE {self._schema}; USE {self._schema};"]
            for name in names:
                found.append(self._run(self._source, f"SHOW CREATE TABLE {name}")[0][1] + ";")
            self._defined = names, "\n".join(found)
        return self._defined

    def _log_file(self) -> Any:
        status = "SHOW MASTER STATUS" if self.is_mariadb else "SHOW BINARY LOG STATUS"
        return self._server.datadir / self._run(self._source, status)[0][0]

    def _read(self) -> bytes:
        return bytes(self._file.read_bytes())

    def _log(self) -> ForgedLog:
        return ForgedLog(self._read())

    # The replica

    def _announce_format(self, session: Any) -> None:
        data = self._read()
        size = struct.unpack_from("<I", data, 4 + 9)[0]
        self._binlog(session, data[4 : 4 + size])
        if not self.is_mariadb:
            self._run(session, "SET gtid_next='AUTOMATIC'")

    def _binlog(self, session: Any, data: bytes) -> None:
        # Sent alone: servers give wrong answers if further statements follow it in one text.
        self._run(session, f"BINLOG '{base64.b64encode(data).decode()}'")

    def _apply_last(self) -> None:
        log = self._log()
        self._apply_for_good(list(_statements(log, len(log))))

    def _apply_for_good(self, statements: Sequence[bytes]) -> None:
        try:
            self._apply(self._replica, statements)
            self._run(self._replica, "COMMIT")
        except pymysql.MySQLError as fault:
            raise _BrokenLogError(str(fault)) from None

    def _apply(self, session: Any, statements: Sequence[bytes]) -> None:
        for data in statements:
            self._binlog(session, data.replace(self._schema.encode(), self._copy.encode()))

    def _truth(self, pair: Sequence[Sequence[bytes]]) -> Truth:
        recorded = self._outcome(pair[0], pair[1])
        if isinstance(recorded, str):
            return Truth("broken", recorded)
        swapped = self._outcome(pair[1], pair[0])
        if isinstance(swapped, str):
            return Truth("conflict", swapped)
        if recorded != swapped:
            return Truth("conflict", "the rows differ")
        return Truth("commute")

    def _outcome(self, *transactions: Sequence[bytes]) -> object:
        """Return the rows after transactions in this order, or the error as text."""
        names = self._definitions()[0]
        selects = "; ".join(f"SELECT * FROM {name}" for name in names)
        try:
            for statements in transactions:
                self._apply(self._replica, statements)
            return [sorted(map(repr, rows)) for rows in self._results(self._replica, selects)]
        except pymysql.MySQLError as fault:
            return str(fault)
        finally:
            self._run(self._replica, "ROLLBACK")

    def _waits(self, pair: Sequence[Sequence[bytes]]) -> bool:
        """Return whether one transaction waits while the other is open."""
        for first, second in (pair, pair[::-1]):
            try:
                self._apply(self._replica, first)
                if self.is_mariadb:
                    self._apply(self._other, second)
                elif self._is_held_up(second):
                    return True
            except pymysql.MySQLError:
                return True
            finally:
                self._run(self._other, "ROLLBACK")
                self._run(self._replica, "ROLLBACK")
        return False

    def _is_held_up(self, statements: Sequence[bytes]) -> bool:
        """Return whether the other session waits for the replica; MySQL waits a second or more."""
        faults: list[pymysql.MySQLError] = []

        def apply() -> None:
            try:
                self._apply(self._other, statements)
            except pymysql.MySQLError as fault:
                faults.append(fault)

        thread = Thread(target=apply)
        thread.start()
        waited = False
        while thread.is_alive():
            thread.join(0.01)
            if thread.is_alive() and self._other.thread_id() in self._locks.waiting():
                waited = True
                self._run(self._replica, "ROLLBACK")
                thread.join()
        return waited or bool(faults)

    # Sessions

    def _run(self, session: Any, sql: str) -> Any:
        return self._results(session, sql)[-1]

    def _results(self, session: Any, sql: str) -> list[Any]:
        """Return the rows of each statement of a text; the first that fails ends it."""
        with session.cursor() as cursor:
            cursor.execute(sql)
            found = [cursor.fetchall()]
            while cursor.nextset():
                found.append(cursor.fetchall())
            return found

    def _try(self, session: Any, sql: str) -> bool:
        try:
            self._run(session, sql)
        except pymysql.MySQLError:
            return False
        return True


def _statements(log: ForgedLog, ordinal: int) -> Iterator[bytes]:
    """Yield the row events of a transaction, one statement of it at a time."""
    starts = [*log.starts(), len(log.events)]
    data = b""
    for event in log.events[starts[ordinal - 1] : starts[ordinal]]:
        if event.code != _TABLE_MAP and event.code not in _ROWS:
            continue
        data += _raw(event)
        if event.code in _ROWS and event.body[6] & 1:
            yield data
            data = b""


def _hands_over_a_row(data: bytes, first: int, second: int) -> bool:
    """Return whether the second transaction changes a row as the first one left it.

    A minimal image shows no more of a row than what names it, which may stay the same.
    """
    one, two = (transactions_of(data)[ordinal - 1] for ordinal in (first, second))
    left = {
        (change.table, image)
        for change in one.rows
        for image in (change.before, change.after, change.whole_after)
        if image and (image is not change.before or ABSENT in image)
    }
    return any((change.table, change.before) in left for change in two.rows)


def _raw(event: RawEvent) -> bytes:
    size = _HEADER.size + len(event.body)
    head = _HEADER.pack(event.time_s, event.code, event.server_id, size, 0, event.flags)
    return head + bytes(event.body)


def forge(
    pair: RecordedPair, *, from_creation: bool, full: bool, is_mariadb: bool, later: bool = False
) -> bytes:
    """Return the log in which only the two transactions of the pair may overlap."""
    log = ForgedLog(pair.data_later if later else pair.data)
    for ordinal in range(1, len(log) + 1):
        if is_mariadb:
            is_member = ordinal in (pair.first, pair.second)
            log.set_commit_id(ordinal, 7 if is_member else None)
        else:
            before = ordinal - 1 if ordinal != pair.second else pair.first - 1
            log.set_timestamp(ordinal, last_committed=before, sequence_number=ordinal)
    if not full:
        for event in log.events:
            if event.code == _TABLE_MAP:
                _make_lean(event, frozenset() if is_mariadb else LEAN_FIELDS)
    starts = [*log.starts(), len(log.events)]
    if not later:
        del log.events[starts[pair.second] :]
    if not from_creation:
        del log.events[starts[0] : starts[pair.begins]]
    log.events = [event for event in log.events if event.code not in (_ROTATE, _STOP)]
    return log.data()


def _make_lean(event: RawEvent, kept: frozenset[int]) -> None:
    """Cut the optional metadata out of a table map but for some of its fields."""
    body = bytes(event.body)
    at = 8
    for _ in range(2):
        at += body[at] + 2
    count, at = _packed(body, at)
    at += count
    size, at = _packed(body, at)
    at += size + (count + 7) // 8
    lean = bytearray(body[:at])
    while at < len(body):
        kind = body[at]
        size, start = _packed(body, at + 1)
        if kind in kept:
            lean += body[at : start + size]
        at = start + size
    event.body = lean


def _packed(data: bytes, at: int) -> tuple[int, int]:
    first = data[at]
    if first < 251:
        return first, at + 1
    width = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + width], "little"), at + 1 + width
