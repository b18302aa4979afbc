"""Small logs that hold every kind of event, for tests that damage them."""

from __future__ import annotations

import struct
from decimal import Decimal

from tests.builders import column_specs as spec
from tests.builders.binlog_writer import (
    SOURCE_UUID,
    BinlogWriter,
    bitmap,
    encode_image,
    inner_writer,
    optional_metadata,
    packed,
)
from tests.builders.json_writer import encode_json

COLUMNS = [
    spec.integer(4).named("id", nullable=False),
    spec.varchar(400).named("name"),
    spec.decimal(20, 4).named("price"),
    spec.json_column().named("doc"),
    spec.datetime2(6).named("at"),
    spec.time2(3).named("took"),
    spec.enum("a", "b").named("e"),
    spec.set_of("x", "y").named("s"),
    spec.bit(13).named("b"),
    spec.blob(3).named("raw"),
    spec.char(40).named("code"),
    spec.timestamp2(2).named("ts"),
    spec.year().named("y"),
    spec.geometry().named("g"),
]
ROW = (
    7, "näme", Decimal("-12.3400"), encode_json({"a": [1, "x", None, 2.5]}),
    "2024-01-02 03:04:05.678901", "-01:02:03.004", "b", "x,y", 4097, b"\0\xff", "code",
    (1_700_000_000, "12"), 1999, b"\0" * 25,
)  # fmt: skip
SPARSE = (8, *(None for _ in COLUMNS[1:]))


def mysql_log(*, checksum: bool = True) -> bytes:
    """A log of MySQL with rows of all versions, XA, JSON diffs, a payload and odd events."""
    writer = BinlogWriter(server_version="9.7.4", checksum=checksum)
    writer.previous_gtids({SOURCE_UUID: [(1, 4)]})
    writer.gtid(
        5, last_committed=0, sequence_number=1, immediate_us=10**15, original_us=10**15 + 1,
        length=900, versions=(90704, 80036),
    )  # fmt: skip
    status = b"\0" + bytes(4) + b"\4" + struct.pack("<HHH", 45, 45, 45) + b"\x0c\1test\0"
    writer.query("BEGIN", status=status)
    writer.event(29, b"\6INSERT")
    metadata = optional_metadata(COLUMNS, primary_key=[0, 1], prefixes=[0, 10])
    writer.table_map(COLUMNS, metadata=metadata)
    writer.rows(30, COLUMNS, [ROW, SPARSE], ends_statement=False, extra=b"\1\4\0\0")
    writer.rows(31, COLUMNS, [ROW, SPARSE], ends_statement=False)
    writer.rows(32, COLUMNS, [SPARSE])
    writer.xid(77)
    writer.tagged_gtid(6, "tag", last_committed=1, sequence_number=2)
    inner = inner_writer()
    inner.query("BEGIN")
    inner.table_map(COLUMNS[:3])
    inner.rows(30, COLUMNS[:3], [ROW[:3]])
    inner.xid(78)
    writer.payload(inner)
    writer.gtid(7, last_committed=2, sequence_number=3)
    writer.query("XA START X'61',X'',1")
    json_columns = [COLUMNS[0], COLUMNS[3]]
    writer.table_map(json_columns)
    diff = b"\0" + packed(6) + b"$.a[1]" + packed(2) + encode_json(None)
    image = encode_image(json_columns, (ROW[0], ROW[3]), [True, True])
    image += packed(1) + bitmap([True]) + encode_image(json_columns, (7, diff), [True, True])
    writer.rows(39, json_columns, [], row_data=image)
    writer.query("XA END X'61',X'',1")
    writer.event(38, struct.pack("<BiII", 0, 1, 1, 0) + b"a")
    writer.gtid(8, last_committed=3, sequence_number=4)
    writer.query("ALTER TABLE t ADD x INT")
    writer.event(26, struct.pack("<HB", 1, 4) + b"lost")
    writer.event(41, packed(1) + packed(2) + b"b." + packed(2) + packed(1) + b"\4\0")
    writer.event(99, b"unknown")
    writer.rotate("bin.000002")
    return bytes(writer.data)


def mariadb_log(*, checksum: bool = True) -> bytes:
    """A log of MariaDB with groups, XA, compressed statements and rows."""
    writer = BinlogWriter(server_version="10.11.19-MariaDB", checksum=checksum)
    writer.mariadb_gtid_list([(0, 1, 4), (3, 1, 1)])
    writer.event(161, struct.pack("<I", 10) + b"bin.000001")
    for sequence, code in ((5, 23), (6, 166)):
        writer.mariadb_gtid(sequence, commit_id=9)
        writer.event(160, b"INSERT INTO t")
        writer.table_map(COLUMNS[:3], metadata=optional_metadata(COLUMNS[:3], primary_key=[0]))
        writer.rows(code, COLUMNS[:3], [ROW[:3], SPARSE[:3]])
        writer.xid(sequence)
    writer.mariadb_gtid(7, flags=0x29)
    writer.query("CREATE TABLE u (a INT)", code=165)
    writer.mariadb_gtid(8, flags=0x4C, xid=(7, b"g", b"b"), extra=b"\5\1" + struct.pack("<Q", 3))
    writer.table_map(COLUMNS[:3])
    writer.rows(24, COLUMNS[:3], [ROW[:3], SPARSE[:3]])
    writer.event(38, struct.pack("<BiII", 0, 7, 1, 1) + b"gb")
    writer.rotate("bin.000002")
    return bytes(writer.data)
