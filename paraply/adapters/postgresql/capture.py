r"""Captured pgoutput streams, raw or as psql text.

* ``pg_recvlogical --start -o proto_version=1 -o publication_names=P -f FILE``: messages, each with
  a line feed;
* ``psql -At -c "SELECT lsn, xid, data FROM pg_logical_slot_get_binary_changes(...)"``: a message
  per line, as ``\x`` and hexadecimal data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from paraply.adapters.binlog.report import FileReport, LogReport, diagnostic_of
from paraply.adapters.binlog.source import Source, open_source
from paraply.adapters.postgresql.changes import Assembler, OnTable
from paraply.adapters.postgresql.errors import MALFORMED_STREAM
from paraply.adapters.postgresql.pgoutput import (
    IncompleteMessageError,
    MalformedMessageError,
    PgoutputReader,
)
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedTransaction

_PSQL = re.compile(rb"^[0-9A-F]+/[0-9A-F]+[|\t]\d+[|\t]\\x")
_BEGIN_BYTES = 21
_CHUNK_BYTES = 1 << 16


def is_change_stream(head: bytes) -> bool:
    """Return whether a file is a captured stream."""
    return bool(_PSQL.match(head)) or _is_raw(head)


def _is_raw(head: bytes) -> bool:
    return head[:1] == b"B" and head[_BEGIN_BYTES : _BEGIN_BYTES + 1] == b"\n"


def read_stream(
    files: Sequence[str | Source],
    *,
    report: LogReport,
    on_table: OnTable,
    by_origin: bool,
) -> Iterator[LoggedTransaction]:
    """Yield the transactions of consecutive files; ``report`` lists unreadable parts.

    ``by_origin`` uses the source's names.
    """
    assembler = Assembler("", on_table)
    reader = PgoutputReader(assembler, by_origin=by_origin)
    for file in files:
        yield from _read_file(file, report, assembler, reader)


def _read_file(
    file: str | Source, report: LogReport, assembler: Assembler, reader: PgoutputReader
) -> Iterator[LoggedTransaction]:
    name = file if isinstance(file, str) else file.name
    about = FileReport(file=name)
    report.files.append(about)
    assembler.file = name
    try:
        source = open_source(file) if isinstance(file, str) else file
    except ParaplyError as fault:
        about.diagnostics.append(diagnostic_of(fault, ends_file=True))
        return
    about.server_versions.append("PostgreSQL, pgoutput")
    about.compression = source.compression

    def note(offset: int, reason: str) -> None:
        error = ParaplyError(MALFORMED_STREAM, where=f"{name}:{offset}", reason=reason)
        about.diagnostics.append(diagnostic_of(error, ends_file=True))

    with source:
        read = _read_raw if _is_raw(source.peek(_BEGIN_BYTES + 1)) else _read_lines
        try:
            for txn in read(source, reader, note):
                about.transactions += 1
                about.rows += len(txn.rows)
                about.bytes_read = source.offset
                yield txn
        except ParaplyError as fault:
            about.diagnostics.append(diagnostic_of(fault, ends_file=True))
        about.bytes_read = source.offset
        about.events["message"] += 1


_Note = Callable[[int, str], None]


def _read_lines(source: Source, reader: PgoutputReader, note: _Note) -> Iterator[LoggedTransaction]:
    offset = 0
    for line in _lines(source):
        _, mark, digits = line.rpartition(b"\\x")
        try:
            if not mark:
                raise MalformedMessageError("a line without \\x and hexadecimal digits")
            yield from reader.take(bytes.fromhex(digits.decode("ascii").strip()), offset)
        except (MalformedMessageError, ValueError) as fault:
            note(offset, str(fault))
            return
        offset += len(line) + 1


def _lines(source: Source) -> Iterator[bytes]:
    rest = b""
    while chunk := source.read(_CHUNK_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line)
    if rest:
        yield rest


def _read_raw(source: Source, reader: PgoutputReader, note: _Note) -> Iterator[LoggedTransaction]:
    data = b""
    offset = at = 0
    awaits_line_feed = False
    while True:
        if awaits_line_feed and at < len(data):
            if data[at : at + 1] != b"\n":
                note(offset + at, "a message is not followed by a line feed")
                return
            at += 1
            awaits_line_feed = False
        if at < len(data):
            try:
                at, found = reader.take_first(data, at, offset + at)
            except IncompleteMessageError:
                pass
            except MalformedMessageError as fault:
                note(offset + at, str(fault))
                return
            else:
                yield from found
                awaits_line_feed = True
                continue
        chunk = source.read(max(_CHUNK_BYTES, len(data) - at))
        if not chunk:
            if at < len(data):
                note(offset + at, "it ends inside a message")
            return
        offset, data, at = offset + at, data[at:] + chunk, 0
