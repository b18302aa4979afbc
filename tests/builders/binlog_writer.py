"""Writes binary logs event by event, for tests: valid by default, faulty on request.

Every method appends one event and returns its offset. Logs of MySQL (untagged and tagged GTIDs,
payloads) and MariaDB (commit ids, compressed events), with CRC32 or without, relay logs included.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

import zstandard

from tests.builders.column_specs import ColumnSpec

MAGIC = b"\xfebin"
SOURCE_UUID = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
_HEADER = struct.Struct("<IBIIIH")
_TIMESTAMP_S = 1_700_000_000

# Post-header lengths by type code from 1; enough for every event written here.
_POST_HEADERS = {
    1: 56, 2: 13, 4: 8, 9: 4, 15: 95, 18: 26, 19: 8, 23: 8, 24: 8, 25: 8, 26: 2, 30: 10, 31: 10,
    32: 10, 33: 42, 34: 42, 36: 18, 37: 52, 39: 10, 162: 19, 163: 4, 166: 8, 167: 8, 168: 8,
}  # fmt: skip


def packed(number: int) -> bytes:
    """A length-encoded integer."""
    if number < 251:
        return bytes([number])
    if number < 1 << 16:
        return b"\xfc" + number.to_bytes(2, "little")
    if number < 1 << 24:
        return b"\xfd" + number.to_bytes(3, "little")
    return b"\xfe" + number.to_bytes(8, "little")


def varlen(number: int) -> bytes:
    """An unsigned integer of MySQL's serialization library."""
    for size in range(1, 9):
        if number < 1 << 7 * size:
            return (number << size | (1 << (size - 1)) - 1).to_bytes(size, "little")
    return b"\xff" + number.to_bytes(8, "little")


def varlen_signed(number: int) -> bytes:
    """A signed integer of MySQL's serialization library."""
    return varlen(number << 1 if number >= 0 else (-(number + 1)) << 1 | 1)


def bitmap(flags: Sequence[bool]) -> bytes:
    """Bits, least significant first."""
    data = bytearray((len(flags) + 7) // 8)
    for index, flag in enumerate(flags):
        data[index // 8] |= flag << index % 8
    return bytes(data)


def bits_from_top(flags: Sequence[bool]) -> bytes:
    """Bits, most significant first, as optional metadata has them."""
    data = bytearray((len(flags) + 7) // 8)
    for index, flag in enumerate(flags):
        data[index // 8] |= flag << 7 - index % 8
    return bytes(data)


def compressed(data: bytes) -> bytes:
    """MariaDB's wrapping of a compressed query or rows."""
    length = len(data).to_bytes(4, "big").lstrip(b"\0") or b"\0"
    return bytes([0x80 | len(length)]) + length + zlib.compress(data)


class BinlogWriter:
    """A log being written; ``data`` is the file so far."""

    def __init__(
        self,
        *,
        server_version: str = "8.0.36",
        checksum: bool = True,
        server_id: int = 1,
        start: bool = True,
        in_use: bool = False,
    ) -> None:
        self.server_version = server_version
        self.checksum = checksum
        self.server_id = server_id
        self.data = bytearray(MAGIC)
        if start:
            self.format_description(flags=1 if in_use else 0)

    @property
    def position(self) -> int:
        return len(self.data)

    def save(self, path: Path) -> Path:
        path.write_bytes(self.data)
        return path

    def header(
        self,
        code: int,
        size: int,
        *,
        flags: int = 0,
        end_position: int | None = None,
        server_id: int | None = None,
        timestamp_s: int = _TIMESTAMP_S,
    ) -> bytes:
        end = self.position + size if end_position is None else end_position
        sender = self.server_id if server_id is None else server_id
        return _HEADER.pack(timestamp_s, code, sender, size, end, flags)

    def event(self, code: int, body: bytes, **header: object) -> int:
        """Append any event, with its checksum if the log has them."""
        offset = self.position
        size = 19 + len(body) + (4 if self.checksum else 0)
        data = self.header(code, size, **header) + body
        self.data += data
        if self.checksum:
            self.data += struct.pack("<I", zlib.crc32(data))
        return offset

    def format_description(
        self,
        *,
        flags: int = 0,
        end_position: int | None = None,
        checksum: bool | None = None,
        server_version: str | None = None,
        binlog_version: int = 4,
        algorithm: int | None = None,
        has_field: bool = True,
    ) -> int:
        if checksum is not None:
            self.checksum = checksum
        if server_version is not None:
            self.server_version = server_version
        types = (171 if "MariaDB" in self.server_version else 42) if has_field else 27
        body = struct.pack("<H50sIB", binlog_version, self.server_version.encode(), 0, 19)
        body += bytes(_POST_HEADERS.get(code, 0) for code in range(1, types + 1))
        if not has_field:
            offset = self.position
            self.data += self.header(15, 19 + len(body), flags=flags) + body
            return offset
        body += bytes([int(self.checksum) if algorithm is None else algorithm])
        offset = self.position
        size = 19 + len(body) + 4
        # The in-use bit is set in the file but not in what the checksum covers.
        plain = self.header(15, size, flags=flags & ~1, end_position=end_position) + body
        shown = self.header(15, size, flags=flags, end_position=end_position) + body
        self.data += shown + struct.pack("<I", zlib.crc32(plain))
        return offset

    def gtid(
        self,
        number: int = 1,
        *,
        last_committed: int | None = None,
        sequence_number: int = 0,
        uuid: str = SOURCE_UUID,
        anonymous: bool = False,
        flags: int = 0,
        immediate_us: int | None = None,
        original_us: int | None = None,
        length: int | None = None,
        versions: tuple[int, int] | None = None,
        ticket: int | None = None,
    ) -> int:
        """An untagged GTID as 5.6 (no ``last_committed``), 5.7 or 8.0 (``immediate_us``) has it."""
        body = struct.pack("<B16sq", flags, UUID(uuid).bytes, 0 if anonymous else number)
        if last_committed is not None:
            body += struct.pack("<Bqq", 2, last_committed, sequence_number)
        if immediate_us is not None:
            both = original_us is not None and original_us != immediate_us
            body += (immediate_us | (1 << 55 if both else 0)).to_bytes(7, "little")
            body += original_us.to_bytes(7, "little") if both else b""
            body += packed(length or 0)
        if versions is not None:
            both = versions[0] != versions[1]
            body += struct.pack("<I", versions[0] | (1 << 31 if both else 0))
            body += struct.pack("<I", versions[1]) if both else b""
        if ticket is not None:
            body += struct.pack("<Q", ticket)
        return self.event(34 if anonymous else 33, body)

    def tagged_gtid(
        self,
        number: int,
        tag: str,
        *,
        last_committed: int,
        sequence_number: int,
        uuid: str = SOURCE_UUID,
        immediate_us: int = 1_700_000_000_000_000,
        extra_fields: bytes = b"",
        last_required_field: int = 0,
    ) -> int:
        fields = varlen(0) + varlen(0)
        fields += varlen(1) + b"".join(varlen(byte) for byte in UUID(uuid).bytes)
        fields += varlen(2) + varlen_signed(number)
        fields += varlen(3) + varlen(len(tag)) + tag.encode()
        fields += varlen(4) + varlen_signed(last_committed)
        fields += varlen(5) + varlen_signed(sequence_number)
        fields += varlen(6) + varlen(immediate_us) + varlen(8) + varlen(300)
        fields += varlen(9) + varlen(90_000) + extra_fields
        # The size counts itself; two bytes are enough for every size here.
        size = 1 + 2 + 1 + len(fields)
        two_bytes = (size << 2 | 1).to_bytes(2, "little")
        return self.event(42, varlen(1) + two_bytes + varlen(last_required_field) + fields)

    def previous_gtids(self, sets: Mapping[str, Sequence[tuple[int, int]]]) -> int:
        """``sets`` maps a UUID to closed intervals."""
        body = struct.pack("<Q", len(sets))
        for uuid, intervals in sets.items():
            body += UUID(uuid).bytes + struct.pack("<Q", len(intervals))
            body += b"".join(struct.pack("<QQ", first, last + 1) for first, last in intervals)
        return self.event(35, body, flags=0x80)

    def mariadb_gtid(
        self,
        sequence: int,
        *,
        domain: int = 0,
        flags: int = 0x0C,
        commit_id: int | None = None,
        xid: tuple[int, bytes, bytes] | None = None,
        extra: bytes = b"",
    ) -> int:
        """A MariaDB GTID; the commit id's flag is set where there is one."""
        flags |= 2 if commit_id is not None else 0
        body = struct.pack("<QIB", sequence, domain, flags)
        if commit_id is not None:
            body += struct.pack("<Q", commit_id)
        if xid is not None:
            body += struct.pack("<iBB", xid[0], len(xid[1]), len(xid[2])) + xid[1] + xid[2]
        return self.event(162, (body + extra).ljust(19, b"\0"))

    def mariadb_gtid_list(self, entries: Sequence[tuple[int, int, int]], flags: int = 0) -> int:
        body = struct.pack("<I", len(entries) | flags << 28)
        body += b"".join(struct.pack("<IIQ", *entry) for entry in entries)
        return self.event(163, body)

    def query(
        self,
        sql: str | bytes,
        *,
        schema: str = "test",
        status: bytes = b"",
        code: int = 2,
        error_code: int = 0,
    ) -> int:
        text = sql.encode() if isinstance(sql, str) else sql
        if code == 165:
            text = compressed(text)
        body = struct.pack("<IIBHH", 7, 0, len(schema.encode()), error_code, len(status))
        body += status + schema.encode() + b"\0" + text
        return self.event(code, body)

    def table_map(
        self,
        columns: Sequence[ColumnSpec],
        *,
        table_id: int = 70,
        schema: str = "test",
        table: str = "t",
        metadata: bytes = b"",
    ) -> int:
        types = bytes(column.code for column in columns)
        wire = b"".join(column.metadata for column in columns)
        body = table_id.to_bytes(6, "little") + b"\1\0"
        body += bytes([len(schema.encode())]) + schema.encode() + b"\0"
        body += bytes([len(table.encode())]) + table.encode() + b"\0"
        body += packed(len(columns)) + types + packed(len(wire)) + wire
        body += bitmap([column.nullable for column in columns]) + metadata
        return self.event(19, body)

    def rows(
        self,
        code: int,
        columns: Sequence[ColumnSpec],
        rows: Sequence[Sequence[object]],
        *,
        table_id: int = 70,
        ends_statement: bool = True,
        unchecked: bool = False,
        before_present: Sequence[bool] | None = None,
        after_present: Sequence[bool] | None = None,
        extra: bytes = b"",
        row_data: bytes | None = None,
    ) -> int:
        """Rows of an insert or delete, or (before, after) one after the other for an update."""
        is_update = code in (21, 24, 31, 39, 167, 170)
        everything = [True] * len(columns)
        first = list(before_present or everything)
        second = list(after_present or everything)
        body = table_id.to_bytes(6, "little") + struct.pack("<H", ends_statement | unchecked << 1)
        if code in (30, 31, 32, 39, 169, 170, 171):
            body += struct.pack("<H", 2 + len(extra)) + extra
        body += packed(len(columns)) + bitmap(first) + (bitmap(second) if is_update else b"")
        data = row_data
        if data is None:
            data = b"".join(
                encode_image(columns, row, second if is_update and index % 2 else first)
                for index, row in enumerate(rows)
            )
        return self.event(code, body + (compressed(data) if code >= 166 else data))

    def xid(self, number: int = 1) -> int:
        return self.event(16, struct.pack("<Q", number))

    def rotate(self, name: str, **header: object) -> int:
        return self.event(4, struct.pack("<Q", 4) + name.encode(), **header)

    def payload(self, inner: BinlogWriter, *, compression: int = 0, size: int | None = None) -> int:
        """A transaction payload of the events of another writer (``inner_writer()``)."""
        data = bytes(inner.data)
        stored = zstandard.ZstdCompressor().compress(data) if compression == 0 else data
        count = len(stored) if size is None else size
        body = b""
        for field, value in ((1, count), (2, compression), (3, len(data))):
            body += packed(field) + packed(len(packed(value))) + packed(value)
        return self.event(40, body + packed(0) + stored)


def inner_writer() -> BinlogWriter:
    """A writer of events for a payload: no magic, no checksums."""
    writer = BinlogWriter(checksum=False, start=False)
    writer.data.clear()
    return writer


def encode_image(
    columns: Sequence[ColumnSpec], row: Sequence[object], present: Sequence[bool]
) -> bytes:
    """One row image: NULL bits of the columns that are there, then their values."""
    chosen = [
        (column, value) for column, value, there in zip(columns, row, present, strict=True) if there
    ]
    data = bitmap([value is None for _, value in chosen])
    return data + b"".join(column.encode(value) for column, value in chosen if value is not None)


def optional_metadata(
    columns: Sequence[ColumnSpec],
    *,
    full: bool = True,
    primary_key: Sequence[int] = (),
    prefixes: Sequence[int] = (),
) -> bytes:
    """The metadata that binlog_row_metadata=MINIMAL or FULL adds to a table map."""

    def field(kind: int, value: bytes) -> bytes:
        return bytes([kind]) + packed(len(value)) + value

    data = b""
    numeric = [column for column in columns if column.code in (1, 2, 3, 4, 5, 8, 9, 13, 246)]
    if numeric:
        data += field(1, bits_from_top([bool(column.unsigned) for column in numeric]))
    choices = [column for column in columns if column.members]
    texts = [
        column
        for column in columns
        if column.code in (15, 242, 252, 253, 254) and not column.members
    ]
    if texts:
        data += field(3, b"".join(packed(column.collation or 0) for column in texts))
    if not full:
        return data
    data += field(4, b"".join(_named(column.name) for column in columns))
    if choices:
        data += field(11, b"".join(packed(column.collation or 0) for column in choices))
        for kind, real_type in ((5, 248), (6, 247)):
            lists = [c.members for c in choices if c.metadata[0] == real_type]
            if lists:
                data += field(
                    kind,
                    b"".join(packed(len(names)) + b"".join(map(_named, names)) for names in lists),
                )
    if primary_key and prefixes:
        pairs = zip(primary_key, prefixes, strict=True)
        data += field(9, b"".join(packed(column) + packed(prefix) for column, prefix in pairs))
    elif primary_key:
        data += field(8, b"".join(map(packed, primary_key)))
    return data + field(12, bits_from_top([column.visible for column in columns]))


def _named(text: str) -> bytes:
    return packed(len(text.encode())) + text.encode()
