"""What is fuzzed: bytes in, transactions or diagnostics out, and nothing else ever.

An input that starts with the magic of a binary log is read as a file. Any other is a script:
one byte for the server, then (type, length of 2 bytes, body) for each event; headers and format
description are made for it. So the fuzzer need not find out how framing works to reach a decoder.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator

from paraply.adapters.binlog.framing import BinlogReader
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.source import source_of_stream
from paraply.adapters.binlog.transactions import read_transactions
from paraply.vocabulary.log import LoggedTransaction, RowChange
from tests.builders.binlog_writer import BinlogWriter
from tests.builders.sample_logs import mariadb_log, mysql_log

MAGICS = (b"\xfebin", b"\xfdbin", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
SERVERS = ("9.7.4", "10.11.19-MariaDB", "5.7.44", "5.6.50")
EVENTS_MAX = 500
ROWS_MAX = 1 << 22
"""More rows than any input of a few kilobytes can honestly hold."""


def file_of(data: bytes) -> bytes:
    """Return the log that an input stands for."""
    if data.startswith(MAGICS):
        return data
    writer = BinlogWriter(
        server_version=SERVERS[data[0] % len(SERVERS)] if data else SERVERS[0], checksum=False
    )
    for code, body in _events_of_script(data[1:]):
        writer.event(code, body)
    return bytes(writer.data)


def _events_of_script(script: bytes) -> Iterator[tuple[int, bytes]]:
    position = 0
    for _ in range(EVENTS_MAX):
        if position + 3 > len(script):
            return
        code, length = struct.unpack_from("<BH", script, position)
        yield code, script[position + 3 : position + 3 + length]
        position += 3 + length


def check(data: bytes) -> str:
    """Read one input; return "read" or the first diagnostic's code.

    Raises ``AssertionError`` if anything but transactions and diagnostics comes out.
    """
    log = file_of(data)
    report = LogReport()
    rows = 0

    def on_rows(_: LoggedTransaction, batch: list[RowChange]) -> None:
        nonlocal rows
        rows += len(batch)
        assert rows < ROWS_MAX, "more rows than bytes"

    last = 0
    source = source_of_stream("fuzz", io.BytesIO(log))
    for transaction in read_transactions([source], report=report, on_rows=on_rows):
        assert last <= transaction.start.offset <= transaction.end_offset
        last = transaction.start.offset
    (file,) = report.files
    codes = []
    for diagnostic in report.diagnostics():
        assert diagnostic.where.startswith("fuzz")
        assert diagnostic.text.startswith(diagnostic.code)
        codes.append(diagnostic.code)
    assert file.read_to_end or file.diagnostics
    return "read" if file.read_to_end else codes[0]


def seeds() -> list[bytes]:
    """Return the sample logs, as files and as scripts."""
    logs = [build(checksum=checksum) for build in (mysql_log, mariadb_log) for checksum in (0, 1)]
    scripts = []
    for number, log in enumerate((mysql_log(checksum=False), mariadb_log(checksum=False))):
        script = bytearray([number])
        reader = BinlogReader(source_of_stream("seed", io.BytesIO(log)))
        for event in list(reader.raw_events())[1:]:
            script += struct.pack("<BH", event.header.type_code, len(event.body)) + event.body
        scripts.append(bytes(script))
    return logs + scripts
