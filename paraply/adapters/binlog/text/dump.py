"""Text dumps: the output of mysqlbinlog -v and mariadb-binlog -v.

Both inputs give the same transactions. The text lacks character sets, positions of rows events
printed together (the last counts), and without -vv types. Keys then rest on the schema.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from paraply.adapters.binlog.event_types import HeaderFlag
from paraply.adapters.binlog.events import (
    Event,
    FormatDescriptionEvent,
    MariadbGtidListEvent,
    PreviousGtidsEvent,
    QueryEvent,
    RotateEvent,
    SkippedEvent,
    StopEvent,
    XaPrepareEvent,
    XidEvent,
)
from paraply.adapters.binlog.framing import EventHeader
from paraply.adapters.binlog.report import LogReport, diagnostic_of
from paraply.adapters.binlog.source import Source
from paraply.adapters.binlog.sql_modes import in_usual_mode
from paraply.adapters.binlog.text.events import (
    DELIMITER,
    UNSIGNED_DIGITS,
    error_code_of,
    event_of_line,
    is_mariadb_gtid,
    mariadb_gtid,
    mysql_gtid,
    number_of,
    type_code,
)
from paraply.adapters.binlog.text.lines import (
    NOT_A_TEXT_DUMP,
    Lines,
    TextHeader,
    parse_header,
)
from paraply.adapters.binlog.text.rows import RowReader
from paraply.adapters.binlog.transaction_stream import LogFile, OnRows, TransactionStream
from paraply.vocabulary.errors import ErrorCode, ParaplyError
from paraply.vocabulary.log import LoggedKind, LoggedTransaction

HEAD_LINES = 200
"""A header must appear within them."""
_ROWS_KIND = re.compile(r"(Write|Update|Delete)_\w*rows")
_GTID_NEXT = re.compile(rb"SET @@SESSION\.GTID_NEXT= '([^']*)'")
_SKIP_PARALLEL = re.compile(rb"skip_parallel_replication=(\d)")
_USE = re.compile(rb"use `((?:[^`]|``)*)`$", re.IGNORECASE)
_SQL_MODE = re.compile(rb"SET @@session\.sql_mode=(\d{1,20})$")
_SQL_BYTES_MAX = 1 << 16
_COMMENTED = b"### "
_NEXT = (b"# at ", b"DELIMITER ;")
_PREAMBLE = (
    FormatDescriptionEvent, RotateEvent, StopEvent, SkippedEvent, PreviousGtidsEvent,
    MariadbGtidListEvent,
)  # fmt: skip
FIRST_EVENT = 4
"""Offset after the magic bytes."""


def is_text_dump(head: bytes) -> bool:
    """Return whether ``head`` starts a text dump."""
    return not head.startswith((b"\xfebin", b"\xfdbin")) and (
        b"/*!" in head or b"# at " in head or b"server id" in head
    )


def read_text_transactions(
    files: Sequence[LogFile],
    *,
    report: LogReport | None = None,
    on_rows: OnRows | None = None,
    row_bytes_max: int | None = None,
) -> Iterator[LoggedTransaction]:
    """Yield the transactions of text dumps as one stream.

    ``report`` lists errors P121 to P124 with lines; ``ParaplyError`` is never raised. Arguments:
    :func:`paraply.adapters.binlog.transactions.read_transactions`.
    """
    stream = TransactionStream(
        report=report if report is not None else LogReport(),
        on_table_map=None,
        on_rows=on_rows,
        row_bytes_max=row_bytes_max,
    )
    for file in files:
        source = stream.begin_file(file)
        if source is None:
            continue
        with source:
            yield from _TextFile(stream, source).read()
        yield from stream.finish()


class _TextFile:
    def __init__(self, stream: TransactionStream, source: Source) -> None:
        self.stream = stream
        self.lines = Lines(source)
        self.starts: deque[int] = deque()
        self.end_last = FIRST_EVENT
        self.payload: EventHeader | None = None
        self.schema = ""
        self.sql_mode = 0
        self.skip_parallel = False
        self.gtid_line: str | None = None
        """The GTID line of an incomplete event."""
        self.header: EventHeader | None = None
        self.xa_id = ""
        self.gtid_next = ""
        self.gtid_body: list[bytes] = []
        self.statement: list[bytes] | None = None
        """None outside a Query event."""
        self.statement_bytes = self.error_code = 0
        self.in_base64 = False
        self.rows = RowReader(stream, self.lines)
        self.preamble: list[Event] | None = []
        """A second format inside marks a relay log. None after delivery."""
        self.is_relay_log = False
        self.source_end = 0

    def read(self) -> Iterator[LoggedTransaction]:
        seen_header = False
        try:
            for line in self.lines:
                yield from self.on_line(line)
                seen_header = seen_header or self.header is not None
                if not seen_header and self.lines.number >= HEAD_LINES:
                    raise self.error(NOT_A_TEXT_DUMP, lines=HEAD_LINES)
            if not seen_header:
                raise self.error(NOT_A_TEXT_DUMP, lines=HEAD_LINES)
            yield from self.flush()
            yield from self.hand_on_preamble()
        except ParaplyError as fault:
            self.rows.end_row()
            self.rows.hand_out_rows()
            self.stream.file.diagnostics.append(diagnostic_of(fault, ends_file=True))
        self.stream.file.bytes_read = self.lines.source.offset

    def error(self, code: ErrorCode, **details: object) -> ParaplyError:
        return ParaplyError(code, where=self.lines.where, **details)

    # Lines

    def on_line(self, line: bytes) -> Iterator[LoggedTransaction]:
        if self.in_base64:
            self.in_base64 = not line.endswith(b"'" + DELIMITER)
            return
        if self.statement is not None:
            if not (self.in_commented_statement and line.startswith(_NEXT)):
                yield from self.on_statement_line(line)
                return
            yield from self.end_statement()
        if line.startswith(b"###"):
            self.rows.on_line(line)
            return
        if line.startswith(b"# at "):
            if line[5:].isdigit() and len(line) < 30:
                self.starts.append(int(line[5:]))
            return
        header = parse_header(line)
        if header is not None:
            yield from self.on_header(header)
        elif line.startswith(b"BINLOG '"):
            self.in_base64 = not line.endswith(b"'" + DELIMITER)
        elif line.startswith(b"# End of compressed events"):
            self.payload = None
        elif found := _SKIP_PARALLEL.search(line[:120]):
            self.skip_parallel = found[1] != b"0"
        elif self.xa_id and line.startswith((b"XA PREPARE ", b"XA COMMIT ")):
            # Only the statement after the header contains ONE PHASE.
            yield from self.end_xa(one_phase=line.endswith(b" ONE PHASE"))
        elif self.gtid_line is not None:
            # mysqlbinlog adds a second one where a log ends within a transaction.
            if not self.gtid_next and (found := _GTID_NEXT.match(line)):
                self.gtid_next = found[1].decode("utf-8", "replace")
            if len(self.gtid_body) < 50:
                self.gtid_body.append(line[:1000])

    def on_header(self, header: TextHeader) -> Iterator[LoggedTransaction]:
        is_rows = _ROWS_KIND.match(header.kind) is not None
        yield from self.flush(continues_rows=is_rows or header.kind == "Table_map")
        start = self.starts.popleft() if self.starts else self.end_last
        inner = self.payload
        if inner is not None:
            start, end = inner.offset, inner.next_offset
        else:
            end = self.end_last = self.end_of_event(header, start)
        self.header = EventHeader(
            timestamp_s=header.timestamp_s,
            type_code=type_code(header),
            server_id=header.server_id,
            length=max(0, end - start),
            end_position=header.end_position,
            flags=0,
            offset=start,
            next_offset=end,
        )
        yield from self.on_event(header, self.header)

    def end_of_event(self, header: TextHeader, start: int) -> int:
        """A relay log's text shows the source's end."""
        if header.kind == "Start" and start != FIRST_EVENT and self.preamble:
            self.is_relay_log = True
            self.source_end = FIRST_EVENT
        if not self.is_relay_log:
            return max(start, header.end_position)
        length = header.end_position - self.source_end
        if header.end_position:
            self.source_end = header.end_position
        return start + max(0, length)

    def on_event(self, text: TextHeader, header: EventHeader) -> Iterator[LoggedTransaction]:
        kind, rest = text.kind, text.rest
        if kind in ("Query", "Query_compressed"):
            self.statement, self.statement_bytes = [], 0
            self.error_code = error_code_of(rest)
        elif kind in ("GTID", "Anonymous_GTID"):
            self.gtid_next, self.gtid_body = "", []
            self.gtid_line = rest
        elif kind == "Xid":
            number = rest.removeprefix("=").strip()
            xid = number_of(number, UNSIGNED_DIGITS) or 0
            yield from self.hand_on(XidEvent(header=header, xid=xid))
        elif kind in ("XA PREPARE", "XID"):
            self.xa_id = rest.removeprefix("=").strip()
        elif kind == "Table_map":
            self.rows.on_table_map(rest)
            self.stream.file.count_event(header.type_code)
        elif _ROWS_KIND.match(kind):
            self.stream.file.count_event(header.type_code)
            self.rows.on_rows_event(rest, header)
            yield from self.hand_on_preamble()
            self.stream.opened(header, beginning_seen=False).note_kind(LoggedKind.ROWS)
        else:
            yield from self.hand_on(event_of_line(kind, rest, header))
            if kind == "Transaction_Payload":
                self.payload = header

    def hand_on(self, event: Event) -> Iterator[LoggedTransaction]:
        if isinstance(event, FormatDescriptionEvent):
            self.rows.is_mariadb = event.description.is_mariadb
            if event.header.offset == FIRST_EVENT:
                # The next file of a dump of several.
                yield from self.hand_on_preamble()
                self.preamble, self.is_relay_log = [], False
        if self.preamble is not None and isinstance(event, _PREAMBLE):
            self.preamble.append(event)
            return
        yield from self.hand_on_preamble()
        yield from self.stream.on_event(event)

    def hand_on_preamble(self) -> Iterator[LoggedTransaction]:
        events, self.preamble = self.preamble or [], None
        own = HeaderFlag.RELAY_LOG if self.is_relay_log else 0
        for number, event in enumerate(events):
            if number == 0 and isinstance(event, FormatDescriptionEvent):
                event = replace(event, header=event.header._replace(flags=own))
            yield from self.stream.on_event(event)

    # Statements

    def on_statement_line(self, line: bytes) -> Iterator[LoggedTransaction]:
        """SET and use lines precede the statement."""
        assert self.statement is not None
        if not self.statement and line.endswith(DELIMITER) and line != DELIMITER:
            if found := _USE.match(line.removesuffix(DELIMITER)):
                self.schema = found[1].replace(b"``", b"`").decode("utf-8", "replace")
            elif found := _SQL_MODE.match(line.removesuffix(DELIMITER)):
                self.sql_mode = int(found[1])
            return
        if line != DELIMITER:
            # Only the head of a huge statement is kept, as the binary decoder does.
            if self.statement_bytes < _SQL_BYTES_MAX:
                self.statement.append(line)
                self.statement_bytes += len(line) + 1
            return
        yield from self.end_statement()

    @property
    def in_commented_statement(self) -> bool:
        """Return whether this is a part of a two-phase ALTER, printed without a delimiter."""
        statement = self.statement
        return bool(statement and statement[0].startswith(_COMMENTED))

    def end_statement(self) -> Iterator[LoggedTransaction]:
        assert self.header is not None
        assert self.statement is not None
        text = b"\n".join(self.statement).removeprefix(_COMMENTED)
        sql = in_usual_mode(text.decode("utf-8", "replace")[:_SQL_BYTES_MAX], self.sql_mode)
        self.statement = None
        event = QueryEvent(
            header=self.header, schema=self.schema, sql=sql, error_code=self.error_code
        )
        yield from self.hand_on(event)

    def end_xa(self, *, one_phase: bool) -> Iterator[LoggedTransaction]:
        assert self.header is not None
        xa_id, self.xa_id = self.xa_id, ""
        yield from self.hand_on(
            XaPrepareEvent(header=self.header, xa_id=xa_id, one_phase=one_phase)
        )

    def flush(self, *, continues_rows: bool = False) -> Iterator[LoggedTransaction]:
        self.rows.end_row()
        self.rows.hand_out_rows()
        # A statement may print the rows of several events behind the last of them.
        if not continues_rows:
            self.rows.end_statement()
        if self.xa_id:
            yield from self.end_xa(one_phase=False)
        if self.gtid_line is not None and self.header is not None:
            rest, self.gtid_line = self.gtid_line, None
            event: Event
            if is_mariadb_gtid(rest):
                allows = not self.skip_parallel
                event = mariadb_gtid(rest, self.gtid_body, self.header, allows_parallel=allows)
            else:
                event = mysql_gtid(rest, self.gtid_next, self.header)
            yield from self.hand_on(event)
