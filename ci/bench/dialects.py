"""Benchmark events of MariaDB 10.11 and MySQL 8.0."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ci.bench.templates import Event, Gap, Part

SCHEMA = "bench"
ROTATE, FORMAT, QUERY, XID, TABLE_MAP = 4, 15, 2, 16, 19
STATEMENT_END = b"\x01\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """One table map; columns are NOT NULL."""

    number: int
    name: str
    columns: tuple[str, ...]
    types: bytes
    metadata: bytes
    signedness: bytes
    """One bit per numeric column."""
    collations: tuple[int, ...]
    """One per character column."""
    key: tuple[int, ...]
    ddl: str

    def table_map(self) -> Event:
        """Return the event with ``binlog_row_metadata=FULL``."""

        def field(kind: int, data: bytes) -> bytes:
            return bytes([kind, len(data)]) + data

        optional = field(1, self.signedness)
        if self.collations:
            packed = (
                bytes([number]) if number < 251 else b"\xfc" + number.to_bytes(2, "little")
                for number in self.collations
            )  # fmt: skip
            optional += field(3, b"".join(packed))
        names = b"".join(bytes([len(name)]) + name.encode() for name in self.columns)
        optional += field(4, names) + (field(8, bytes(self.key)) if self.key else b"")
        schema, name = SCHEMA.encode(), self.name.encode()
        body = (
            self.number.to_bytes(6, "little") + b"\x01\x00"
            + bytes([len(schema)]) + schema + b"\0" + bytes([len(name)]) + name + b"\0"
            + bytes([len(self.types)]) + self.types + bytes([len(self.metadata)]) + self.metadata
            + bytes((len(self.types) + 7) // 8) + optional
        )  # fmt: skip
        return Event(type=TABLE_MAP, parts=(body,))


def _sbtest(number: int) -> TableShape:
    return TableShape(
        number=100 + number, name=f"sbtest{number}", columns=("id", "k", "c", "pad"),
        types=bytes([3, 3, 254, 254]), metadata=bytes([254, 120, 254, 60]),
        signedness=b"\x00", collations=(8, 8), key=(0,),
        ddl=f"CREATE TABLE sbtest{number} (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, "
        "c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k (k)) "
        "ENGINE=InnoDB DEFAULT CHARSET=latin1",
    )  # fmt: skip


SBTEST = tuple(_sbtest(number) for number in range(1, 5))
ACCOUNT = TableShape(
    number=110, name="account", columns=("id", "email", "balance", "updated"),
    types=bytes([8, 15, 246, 17]), metadata=bytes([64, 0, 14, 2, 6]),
    signedness=b"\x80", collations=(8,), key=(0,),
    ddl="CREATE TABLE account (id BIGINT UNSIGNED NOT NULL PRIMARY KEY, "
    "email VARCHAR(64) NOT NULL, balance DECIMAL(14,2) NOT NULL, updated TIMESTAMP(6) NOT NULL, "
    "UNIQUE KEY uk_email (email)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
)  # fmt: skip
LEDGER = TableShape(
    number=111, name="ledger", columns=("account", "entry", "amount", "booked"),
    types=bytes([8, 8, 246, 17]), metadata=bytes([14, 2, 6]),
    signedness=b"\xc0", collations=(), key=(0, 1),
    ddl="CREATE TABLE ledger (account BIGINT UNSIGNED NOT NULL, entry BIGINT UNSIGNED NOT NULL, "
    "amount DECIMAL(14,2) NOT NULL, booked TIMESTAMP(6) NOT NULL, "
    "PRIMARY KEY (account, entry)) ENGINE=InnoDB DEFAULT CHARSET=latin1",
)  # fmt: skip
TABLES = (*SBTEST, ACCOUNT, LEDGER)


def query_body(sql: str, status: bytes, schema: str = SCHEMA) -> bytes:
    """Return a query event's body."""
    name = schema.encode()
    head = struct.pack("<IIBHH", 7, 0, len(name), 0, len(status))
    return head + status + name + b"\0" + sql.encode()


class Dialect(Protocol):
    """Differences between the two servers' logs."""

    name: str
    server_id: int
    insert: int
    update: int
    delete: int

    def format_body(self, created_s: int) -> bytes:
        """Return the format description's body."""

    def preamble(self, file_name: str) -> Sequence[Event]:
        """Return the events before the first transaction."""

    def begin(self, *, grouped: bool, ddl: bool = False) -> Sequence[Event]:
        """Return a transaction's first events; ``length`` is in bytes."""

    def statement(self, text: Sequence[Part]) -> Sequence[Event]:
        """Return a statement's text events."""

    def rows(self, table: TableShape, operation: int, images: Sequence[Part]) -> Event:
        """Return a rows event."""

    def query_status(self) -> bytes:
        """Return a query event's status variables."""


class MariaDb:
    """MariaDB 10.11 with ``binlog_row_metadata=FULL`` and annotated statements."""

    name = "mariadb"
    server_id = 1
    insert, update, delete = 23, 24, 25
    standalone, group, transactional, parallel, ddl = 1, 2, 4, 8, 32

    def format_body(self, created_s: int) -> bytes:
        """See :class:`Dialect`."""
        lengths = bytearray(171)
        for kind, length in {
            1: 56, 2: 13, 4: 8, 6: 18, 8: 4, 9: 4, 10: 4, 11: 4, 12: 18, 15: 228, 17: 4, 18: 26,
            19: 8, 23: 8, 24: 8, 25: 8, 26: 2, 30: 10, 31: 10, 32: 10, 160: 0, 161: 4, 162: 19,
            163: 4, 166: 8, 167: 8, 168: 8, 169: 10, 170: 10, 171: 10,
        }.items():  # fmt: skip
            lengths[kind - 1] = length
        version = b"10.11.19-MariaDB-log"
        head = struct.pack("<H50sIB", 4, version, created_s, 19)
        return head + bytes(lengths) + b"\x01"

    def preamble(self, file_name: str) -> Sequence[Event]:
        """See :class:`Dialect`."""
        name = file_name.encode()
        return (
            Event(type=163, parts=(bytes(4),)),
            Event(type=161, parts=(struct.pack("<I", len(name)) + name,)),
        )

    def begin(self, *, grouped: bool, ddl: bool = False) -> Sequence[Event]:
        """See :class:`Dialect`."""
        flags = self.standalone | self.ddl if ddl else self.transactional | self.parallel
        if grouped:
            flags |= self.group
        tail: Part = Gap("commit_id", 8) if grouped else bytes(6)
        parts: tuple[Part, ...] = (Gap("number", 8), bytes(4), bytes([flags]), tail)
        return (Event(type=162, parts=parts, flags=8),)

    def statement(self, text: Sequence[Part]) -> Sequence[Event]:
        """See :class:`Dialect`."""
        return (Event(type=160, parts=tuple(text)),)

    def rows(self, table: TableShape, operation: int, images: Sequence[Part]) -> Event:
        """See :class:`Dialect`."""
        return Event(type=operation, parts=(_rows_head(self, table, operation, b""), *images))

    def query_status(self) -> bytes:
        """See :class:`Dialect`."""
        sql_mode = b"\x01" + (0x54200000).to_bytes(8, "little")
        return b"\x00" + bytes(4) + sql_mode + b"\x06\x03std" + b"\x04\x21\x00\x21\x00\x08\x00"


class MySql:
    """MySQL 8.0 with GTIDs and ``binlog_row_metadata=FULL``."""

    name = "mysql"
    server_id = 1
    insert, update, delete = 30, 31, 32
    uuid = bytes.fromhex("3e11fa4771ca11e19e33c80aa9429562")
    version = 80036

    def format_body(self, created_s: int) -> bytes:
        """See :class:`Dialect`."""
        lengths = bytes.fromhex(
            "000d000800000000040004000000620004 1a08000000080808020000000a0a0a2a2a00123400"
            "0a2800".replace(" ", "")
        )
        head = struct.pack("<H50sIB", 4, b"8.0.36", created_s, 19)
        return head + lengths + b"\x01"

    def preamble(self, file_name: str) -> Sequence[Event]:
        """See :class:`Dialect`."""
        return (Event(type=35, parts=(bytes(8),)),)

    def begin(self, *, grouped: bool, ddl: bool = False) -> Sequence[Event]:
        """See :class:`Dialect`."""
        parts: tuple[Part, ...] = (
            b"\x01" if ddl else b"\x00", self.uuid, Gap("number", 8), b"\x02",
            Gap("last_committed", 8), Gap("sequence_number", 8), Gap("committed_us", 7),
            b"\xfe", Gap("length", 8), struct.pack("<I", self.version),
        )  # fmt: skip
        gtid = Event(type=33, parts=parts)
        if ddl:
            return (gtid,)
        begin = Event(type=QUERY, parts=(query_body("BEGIN", self.query_status()),), flags=8)
        return (gtid, begin)

    def statement(self, text: Sequence[Part]) -> Sequence[Event]:
        """See :class:`Dialect`."""
        return ()

    def rows(self, table: TableShape, operation: int, images: Sequence[Part]) -> Event:
        """See :class:`Dialect`."""
        extra = b"\x02\x00"
        return Event(type=operation, parts=(_rows_head(self, table, operation, extra), *images))

    def query_status(self) -> bytes:
        """See :class:`Dialect`."""
        sql_mode = b"\x01" + (0x45A00020).to_bytes(8, "little")
        charset = b"\x04\xff\x00\xff\x00\x08\x00"
        return b"\x00" + bytes(4) + sql_mode + b"\x06\x03std" + charset + b"\x12\xff\x00"


def _rows_head(dialect: Dialect, table: TableShape, operation: int, extra: bytes) -> bytes:
    count = len(table.types)
    present = ((1 << count) - 1).to_bytes((count + 7) // 8, "little")
    bitmaps = present * 2 if operation == dialect.update else present
    return table.number.to_bytes(6, "little") + STATEMENT_END + extra + bytes([count]) + bitmaps
