"""Writes streams of pgoutput (protocol version 1) for tests, from the format's documentation."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

INT4, TEXT, NUMERIC, BYTEA, BOOL = 23, 25, 1700, 17, 16
TOAST = object()


def lsn(text: str) -> int:
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)


def _text(text: str) -> bytes:
    return text.encode() + b"\0"


def _row(values: Sequence[object]) -> bytes:
    data = struct.pack(">h", len(values))
    for value in values:
        if value is None:
            data += b"n"
        elif value is TOAST:
            data += b"u"
        else:
            raw = str(value).encode()
            data += b"t" + struct.pack(">i", len(raw)) + raw
    return data


class StreamWriter:
    """The messages so far."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.xid = 700

    def relation(
        self, number: int, name: str, columns: Sequence[tuple[str, int]], *,
        identity: str = "f", key: Sequence[str] = (),
    ) -> None:  # fmt: skip
        schema, _, table = name.partition(".")
        data = b"R" + struct.pack(">i", number) + _text(schema) + _text(table)
        data += identity.encode() + struct.pack(">h", len(columns))
        for column, oid in columns:
            flag = identity == "f" or column in key
            data += bytes([flag]) + _text(column) + struct.pack(">ii", oid, -1)
        self.messages.append(data)

    def begin(self, origin: str = "", origin_name: str = "pg_16400") -> None:
        self.xid += 1
        self.messages.append(b"B" + struct.pack(">qqi", 1, 0, self.xid))
        if origin:
            self.messages.append(b"O" + struct.pack(">q", lsn(origin)) + _text(origin_name))

    def commit(self, end: str, time_us: int = 0) -> None:
        self.messages.append(b"C" + struct.pack(">Bqqq", 0, lsn(end) - 8, lsn(end), time_us))

    def insert(self, number: int, row: Sequence[object]) -> None:
        self.messages.append(b"I" + struct.pack(">i", number) + b"N" + _row(row))

    def update(
        self, number: int, new: Sequence[object], old: Sequence[object] | None = None,
        kind: bytes = b"O",
    ) -> None:  # fmt: skip
        before = b"" if old is None else kind + _row(old)
        self.messages.append(b"U" + struct.pack(">i", number) + before + b"N" + _row(new))

    def delete(self, number: int, old: Sequence[object], kind: bytes = b"O") -> None:
        self.messages.append(b"D" + struct.pack(">i", number) + kind + _row(old))

    def truncate(self, *numbers: int) -> None:
        data = struct.pack(">iB", len(numbers), 0)
        self.messages.append(b"T" + data + b"".join(struct.pack(">i", n) for n in numbers))

    def logical_message(self) -> None:
        self.messages.append(b"M" + struct.pack(">Bq", 0, 1) + _text("p") + b"\0\0\0\2ab")

    def raw(self) -> bytes:
        """What pg_recvlogical writes."""
        return b"".join(message + b"\n" for message in self.messages)

    def printed(self) -> bytes:
        """What psql -At prints."""
        lines = (f"0/{n:X}|{self.xid}|\\x{m.hex()}\n" for n, m in enumerate(self.messages, 1))
        return "".join(lines).encode()

    def save(self, path: Path, *, as_printed: bool = False) -> str:
        path.write_bytes(self.printed() if as_printed else self.raw())
        return str(path)
