"""Messages of pgoutput, protocol version 1 (PostgreSQL "Logical Replication Message Formats").

Messages are self-delimiting.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

from paraply.adapters.postgresql.changes import Assembler, Missing, Relation
from paraply.adapters.postgresql.values import TYPE_NAMES, common_name, decoder
from paraply.vocabulary.log import LoggedTransaction

_EPOCH_US = 946_684_800_000_000
_TIME_US_MAX = 253_402_300_800_000_000
"""The end of the year 9999; servers count further, clocks do not."""
_TABLE_SYNC = re.compile(r"pg_\d+_\d+")
"""Origins of the workers that copy a subscription's tables: pg_SUBSCRIPTION_TABLE."""

Row = list[object]


class MalformedMessageError(Exception):
    """No message of protocol version 1."""


def lsn_text(lsn: int) -> str:
    """Return an LSN as PostgreSQL prints it."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_number(text: str) -> int | None:
    """Return the number of a printed LSN; None for other text."""
    high, slash, low = text.partition("/")
    try:
        return int(high, 16) << 32 | int(low, 16) if slash else None
    except ValueError:
        return None


class IncompleteMessageError(MalformedMessageError):
    """The message is truncated."""


class PgoutputReader:
    """Turns messages into transactions, named by commit end LSN.

    ``by_origin`` takes the LSN of the replication origin (the source's end LSN), else ``local``.
    Transactions of an initial copy then have the flag ``initial_copy`` and the name
    ``ORIGIN LSN``.
    """

    def __init__(self, assembler: Assembler, *, by_origin: bool) -> None:
        self._assembler = assembler
        self._by_origin = by_origin
        self._relations: dict[int, tuple[Relation, tuple[Callable[[str], object], ...]]] = {}
        self._origin = ""
        self._is_copy = False
        self._last_end = 0

    def take(self, message: bytes, offset: int) -> Iterator[LoggedTransaction]:
        """Read one message; yield its transaction."""
        end, transactions = self.take_first(message, 0, offset)
        if end != len(message):
            raise MalformedMessageError(f"{len(message) - end} bytes after a message")
        yield from transactions

    def take_first(
        self, data: bytes, at: int, offset: int
    ) -> tuple[int, tuple[LoggedTransaction, ...]]:
        """Read a message; return the next position and transactions."""
        cursor = _Cursor(data, at)
        try:
            return self._take(cursor, offset)
        except (KeyError, UnicodeDecodeError, ValueError) as fault:
            raise MalformedMessageError(str(fault)) from None

    def _take(self, cursor: _Cursor, offset: int) -> tuple[int, tuple[LoggedTransaction, ...]]:
        kind = cursor.character()
        found: tuple[LoggedTransaction, ...] = ()
        if kind == "B":
            cursor.numbers(">qqi")
            self._origin, self._is_copy = "", False
            self._assembler.begin(offset)
        elif kind == "C":
            _, _, end_lsn, time_us = cursor.numbers(">Bqqq")
            time_us += _EPOCH_US
            if not 0 <= time_us < _TIME_US_MAX:
                raise MalformedMessageError(f"no clock shows the time of commit {time_us} µs")
            # After a server crash, a slot repeats transactions.
            if end_lsn > self._last_end:
                self._last_end = end_lsn
                name = (self._origin or f"local {lsn_text(end_lsn)}") if self._by_origin else (
                    lsn_text(end_lsn)
                )  # fmt: skip
                flags = frozenset({"initial_copy"} if self._is_copy else ())
                found = (self._assembler.end(offset, name, time_us, flags=flags),)
        elif kind == "O":
            (lsn,) = cursor.numbers(">q")
            origin = cursor.text()
            self._is_copy = self._by_origin and bool(_TABLE_SYNC.fullmatch(origin))
            if self._is_copy:
                self._origin = f"{origin} {lsn_text(lsn)}"
            else:
                self._origin = lsn_text(lsn) if lsn else f"{origin} without position"
        elif kind == "R":
            self._take_relation(cursor)
        elif kind == "Y":
            cursor.numbers(">i")
            cursor.text()
            cursor.text()
        elif kind in "IUD":
            self._take_row(kind, cursor)
        elif kind == "T":
            count, _ = cursor.numbers(">iB")
            for _ in range(count):
                self._truncate(cursor.numbers(">i")[0])
        elif kind == "M":
            cursor.numbers(">Bq")
            cursor.text()
            cursor.take(cursor.numbers(">i")[0])
        else:
            raise MalformedMessageError(f"message type {kind!r} is not of protocol version 1")
        return cursor.at, found

    def _truncate(self, number: int) -> None:
        if number in self._relations:
            self._assembler.truncate(self._relations[number][0])

    def _take_relation(self, cursor: _Cursor) -> None:
        (number,) = cursor.numbers(">i")
        schema, table = cursor.text(), cursor.text()
        identity = cursor.character()
        (count,) = cursor.numbers(">h")
        columns, types, key = [], [], []
        for at in range(count):
            (flags,) = cursor.numbers(">B")
            columns.append(cursor.text())
            oid, _ = cursor.numbers(">ii")
            types.append(TYPE_NAMES.get(oid, f"type {oid}"))
            if flags & 1:
                key.append(at)
        relation = Relation(
            name=f"{schema or 'pg_catalog'}.{table}",
            columns=tuple(columns),
            types=tuple(map(common_name, types)),
            key=tuple(key),
            is_full=identity == "f",
        )
        self._relations[number] = (relation, tuple(map(decoder, types)))
        self._assembler.on_table(relation.table_schema())

    def _take_row(self, kind: str, cursor: _Cursor) -> None:
        (number,) = cursor.numbers(">i")
        if number not in self._relations:
            raise MalformedMessageError(f"relation {number} was not described before")
        relation, decoders = self._relations[number]
        old = new = None
        part = cursor.character()
        if part in "KO":
            old = _row(cursor, decoders)
            part = cursor.character() if kind == "U" else ""
        if part == "N" and kind != "D":
            new = _row(cursor, decoders)
        if (new is None) == (kind in "IU") or (kind == "D" and old is None):
            raise MalformedMessageError(f"a change of type {kind} without its row")
        self._assembler.change(relation, old, new, is_insert=kind == "I")


def _row(cursor: _Cursor, decoders: tuple[Callable[[str], object], ...]) -> Row:
    (count,) = cursor.numbers(">h")
    if count != len(decoders):
        raise MalformedMessageError(f"{count} columns, the relation has {len(decoders)}")
    row: Row = []
    for decode in decoders:
        kind = cursor.character()
        if kind == "n":
            row.append(None)
        elif kind == "u":
            row.append(Missing.UNCHANGED)
        elif kind == "t":
            row.append(decode(cursor.take(cursor.numbers(">i")[0]).decode("utf-8")))
        else:
            raise MalformedMessageError(f"a value of kind {kind!r}; only text is read")
    return row


class _Cursor:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, count: int) -> bytes:
        part = self.data[self.at : self.at + count]
        if count < 0 or len(part) < count:
            raise IncompleteMessageError("the message ends early")
        self.at += count
        return part

    def character(self) -> str:
        return self.take(1).decode("latin-1")

    def numbers(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def text(self) -> str:
        end = self.data.find(b"\0", self.at)
        if end < 0:
            raise IncompleteMessageError("the message ends early")
        text = self.data[self.at : end].decode("utf-8")
        self.at = end + 1
        return text
