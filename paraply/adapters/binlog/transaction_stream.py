"""State of several files as one stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from paraply.adapters.binlog.blocks import Block
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.errors import MALFORMED_EVENT, UNDECODED_ROWS
from paraply.adapters.binlog.event_types import HeaderFlag
from paraply.adapters.binlog.events import (
    Event,
    FormatDescriptionEvent,
    GtidEvent,
    IncidentEvent,
    MariadbGtidEvent,
    MariadbGtidListEvent,
    PreviousGtidsEvent,
    QueryEvent,
    RotateEvent,
    RowsEvent,
    SkippedEvent,
    StopEvent,
    TableMapEvent,
    TransactionPayloadEvent,
    ViewChangeEvent,
    XaPrepareEvent,
    XidEvent,
)
from paraply.adapters.binlog.framing import MAGIC, BinlogReader, EventHeader
from paraply.adapters.binlog.logical_clock import ClockRuns
from paraply.adapters.binlog.memory import BUDGET, ROW_OVERHEAD_BYTES
from paraply.adapters.binlog.open_transaction import OpenTransaction
from paraply.adapters.binlog.reading import EventDecoder, read_events
from paraply.adapters.binlog.report import FileReport, LogReport, diagnostic_of
from paraply.adapters.binlog.rows_events import decode_rows
from paraply.adapters.binlog.source import Source, open_source
from paraply.adapters.binlog.statements import StatementRole, statement_role, xid_of_statement
from paraply.adapters.binlog.table_map import TableMap
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, LogPosition, RowChange

ROWS_BATCH = 4096
"""Maximum per ``on_rows`` call."""

LogFile = str | Source | Block
"""A path, ``-`` for standard input, an open source, or a part of a file."""
OnRows = Callable[[LoggedTransaction, Sequence[RowChange]], None]
OnTableMap = Callable[[TableMap], None]

_DUMMY_TABLE_ID = 0xFFFFFF
_TABLES_MAX = 1 << 16
_SKIPS_REPORTED_MAX = 1000


class TransactionStream:
    """The state of several files as one stream."""

    def __init__(
        self,
        *,
        report: LogReport,
        on_table_map: OnTableMap | None,
        on_rows: OnRows | None,
        row_bytes_max: int | None = None,
    ) -> None:
        self.report = report
        self.on_table_map = on_table_map
        self.on_rows = on_rows
        self.row_bytes_max = BUDGET.row_bytes if row_bytes_max is None else row_bytes_max
        self.decoder = EventDecoder()
        self.clock = ClockRuns()
        self.ordinal = 0
        self.open: OpenTransaction | None = None
        self.current_tables: dict[str, TableMap] = {}
        self.skips: set[tuple[str, str]] = set()
        self.file = FileReport(file="")
        self.resumes = False
        """Whether the source continues a file."""
        self._handlers: dict[type, Callable[..., Iterable[LoggedTransaction]]] = {
            RowsEvent: self.on_rows_event,
            TableMapEvent: self.on_table_map_event,
            GtidEvent: self.on_gtid,
            MariadbGtidEvent: self.on_gtid,
            XidEvent: self.on_xid,
            QueryEvent: self.on_query,
            XaPrepareEvent: self.on_xa_prepare,
            ViewChangeEvent: self.on_view_change,
            IncidentEvent: self.on_incident,
            TransactionPayloadEvent: self.on_payload,
        }

    def read_file(self, file: LogFile) -> Iterator[LoggedTransaction]:
        """Yield transactions that end in this file."""
        source = self.begin_file(file)
        if source is None:
            return
        with self.noting_faults(source) as reader:
            for event in read_events(reader, self.decoder):
                yield from self.take(event, source, reader)
        yield from self.finish_file()

    def begin_file(self, file: LogFile) -> Source | None:
        """Open a file and its report, if possible."""
        self.file = FileReport(file=file if isinstance(file, str) else file.name)
        self.report.files.append(self.file)
        self.skips.clear()
        try:
            source = self.open_file(file)
        except ParaplyError as fault:
            self.file.diagnostics.append(diagnostic_of(fault, ends_file=True))
            return None
        self.file.compression = source.compression
        self.resumes = source.resumes
        return source

    def open_file(self, file: LogFile) -> Source:
        """Return the file's bytes; raises ``ParaplyError``."""
        if isinstance(file, Block):
            return file.open()
        return open_source(file) if isinstance(file, str) else file

    @contextmanager
    def noting_faults(self, source: Source) -> Iterator[BinlogReader]:
        """Yield a reader; report faults."""
        reader = BinlogReader(source)
        try:
            yield reader
        except ParaplyError as fault:
            self.file.diagnostics.append(diagnostic_of(fault, ends_file=True))
        finally:
            self.file.bytes_read = source.offset
            self.file.checksums = [checksum.name for checksum in reader.checksums_seen]
            source.close()

    def take(
        self, event: Event, source: Source, reader: BinlogReader
    ) -> Iterator[LoggedTransaction]:
        """Yield ended transactions; raises ``ParaplyError``."""
        self.file.bytes_read = source.offset
        try:
            yield from self.on_event(event)
        except MalformedError as fault:
            raise reader.error(
                MALFORMED_EVENT, event.header.offset, event=event.header.name, reason=fault
            ) from None

    def finish_file(self) -> Iterator[LoggedTransaction]:
        """Yield the transaction open at file end."""
        # A replica may rotate its relay log inside a transaction; a source never does.
        if not (self.file.is_relay_log and self.file.read_to_end):
            yield from self.finish()

    def finish(self) -> Iterator[LoggedTransaction]:
        """Yield the transaction without an end."""
        if self.open is not None:
            self.open.transaction.complete = False
            yield self.close(self.open.transaction.end_offset)

    def close(self, end_offset: int) -> LoggedTransaction:
        """Remove and return the open transaction."""
        assert self.open is not None
        transaction = self.open.finished(end_offset)
        self.open = None
        if transaction.is_ddl:
            # A map as before is compared with the new definition.
            self.current_tables.clear()
        self.file.transactions += 1
        self.file.incomplete_transactions += not transaction.complete
        return transaction

    def begin(self, header: EventHeader) -> OpenTransaction:
        """Open a transaction at an event."""
        self.ordinal += 1
        self.open = OpenTransaction(
            LoggedTransaction(
                ordinal=self.ordinal,
                kind=LoggedKind.EMPTY,
                start=LogPosition(file=self.file.file, offset=header.offset),
                end_offset=header.next_offset,
                server_id=header.server_id,
                event_time_s=header.timestamp_s,
            )
        )
        return self.open

    def opened(self, header: EventHeader, *, beginning_seen: bool) -> OpenTransaction:
        """Return or open a transaction without GTID."""
        if self.open is None:
            transaction = self.begin(header)
            transaction.transaction.clock = self.clock.of_unnumbered()
            transaction.transaction.complete = beginning_seen
            transaction.transaction.lacks_beginning = not beginning_seen
        assert self.open is not None
        self.open.transaction.end_offset = header.next_offset
        return self.open

    def on_event(self, event: Event) -> Iterable[LoggedTransaction]:
        """Process an event; return ended transactions."""
        known = not isinstance(event, SkippedEvent) or event.known
        self.file.count_event(event.header.type_code, known=known)
        handler = self._handlers.get(type(event))
        if handler is None:
            self.on_file_event(event)
            return ()
        return handler(event)

    def on_gtid(self, event: GtidEvent | MariadbGtidEvent) -> Iterable[LoggedTransaction]:
        """Process a GTID; return an unended transaction."""
        unfinished = list(self.finish())
        self.begin_with_gtid(event)
        return unfinished

    def on_table_map_event(self, event: TableMapEvent) -> Iterable[LoggedTransaction]:
        """Process a table map."""
        self.opened(event.header, beginning_seen=False)
        self.announce(event.table)
        return ()

    def on_xid(self, event: XidEvent) -> Iterable[LoggedTransaction]:
        """Process an engine commit; return its transaction."""
        self.opened(event.header, beginning_seen=False)
        return (self.close(event.header.next_offset),)

    def on_xa_prepare(self, event: XaPrepareEvent) -> Iterable[LoggedTransaction]:
        """Process an XA PREPARE; return its transaction."""
        opened = self.opened(event.header, beginning_seen=False)
        opened.note_kind(LoggedKind.XA)
        opened.transaction.xa_id = event.xa_id
        opened.transaction.flags |= {"one_phase_xa" if event.one_phase else "prepared_xa"}
        return (self.close(event.header.next_offset),)

    def on_view_change(self, event: ViewChangeEvent) -> Iterable[LoggedTransaction]:
        """Process a view change."""
        self.opened(event.header, beginning_seen=True).note_kind(LoggedKind.VIEW_CHANGE)
        return ()

    def on_incident(self, event: IncidentEvent) -> Iterable[LoggedTransaction]:
        """Process an incident; return its transaction."""
        opened = self.opened(event.header, beginning_seen=True)
        opened.note_kind(LoggedKind.INCIDENT)
        opened.note_statement(event.message, is_ddl=False)
        return (self.close(event.header.next_offset),)

    def on_payload(self, event: TransactionPayloadEvent) -> Iterable[LoggedTransaction]:
        """Process a payload; its events follow."""
        self.opened(event.header, beginning_seen=True)
        return ()

    def on_file_event(self, event: Event) -> None:
        """Process an event without effect on transactions."""
        match event:
            case FormatDescriptionEvent(header=header, description=description):
                own = bool(header.flags & (HeaderFlag.RELAY_LOG | HeaderFlag.ARTIFICIAL))
                self.file.is_relay_log |= (
                    own or header.end_position == 0 or bool(self.file.server_versions)
                )
                self.file.server_versions.append(description.server_version)
                self.file.closed = False
                # A source's file restarts its sequence numbers. A relay log shows this only by
                # names in ROTATE events, since each reconnection repeats the format.
                if not own and header.offset == len(MAGIC) and not self.resumes:
                    self.clock.on_new_file()
            case RotateEvent(header=header, next_file=next_file):
                if not header.flags & HeaderFlag.RELAY_LOG:
                    self.clock.on_source_file(next_file)
                if not header.flags & HeaderFlag.ARTIFICIAL:
                    self.file.closed = True
                    self.file.next_file = next_file
            case StopEvent():
                self.file.closed = True
            case PreviousGtidsEvent(gtid_set=gtid_set):
                if self.file.previous_gtids is None:
                    self.file.previous_gtids = gtid_set
            case MariadbGtidListEvent(gtids=gtids):
                if self.file.gtid_list is None:
                    self.file.gtid_list = gtids
            case _:
                if self.open is not None:
                    self.open.transaction.end_offset = event.header.next_offset

    def begin_with_gtid(self, event: GtidEvent | MariadbGtidEvent) -> None:
        """Open a transaction from its GTID event."""
        opened = self.begin(event.header)
        transaction = opened.transaction
        transaction.gtid = event.gtid
        if isinstance(event, MariadbGtidEvent):
            transaction.domain = event.domain
            transaction.flags = event.flags
            transaction.commit_id = event.commit_id
            transaction.xa_id = event.xa_id
            transaction.session = event.thread_id
            transaction.clock = self.clock.of_unnumbered()
            # MariaDB's GTID event is the BEGIN, unless a single statement follows.
            opened.begun = not event.is_standalone
            if "ddl" in event.flags:
                opened.note_kind(LoggedKind.DDL)
            if event.xa_id:
                opened.note_kind(LoggedKind.XA)
                opened.begun = "prepared_xa" in event.flags
        else:
            transaction.last_committed = event.last_committed
            transaction.sequence_number = event.sequence_number
            transaction.committed_at_us = event.immediate_commit_us
            transaction.is_relayed = event.original_commit_us != event.immediate_commit_us
            transaction.flags = frozenset({"may_have_sbr"} if event.may_have_sbr else ())
            transaction.clock = self.clock.of(event.last_committed, event.sequence_number)

    def on_query(self, event: QueryEvent) -> Iterator[LoggedTransaction]:
        """Process a statement; yield ended or incomplete transactions."""
        role = statement_role(event.sql)
        if role is StatementRole.NOTHING:
            return
        if role is StatementRole.BEGIN and self.open is not None and not self.open.awaits_begin:
            yield from self.finish()
        ends_only = role in (StatementRole.END, StatementRole.ROLL_BACK)
        opened = self.opened(event.header, beginning_seen=not ends_only)
        if opened.on_statement(event, role, xid_of_statement):
            yield self.close(event.header.next_offset)

    def announce(self, table: TableMap) -> None:
        """Report a new or changed table definition."""
        if self.on_table_map is not None and self.current_tables.get(table.name) is not table:
            if len(self.current_tables) >= _TABLES_MAX:
                self.current_tables.clear()  # Only costs telling of tables again.
            self.current_tables[table.name] = table
            self.on_table_map(table)

    def on_rows_event(self, event: RowsEvent) -> Iterable[LoggedTransaction]:
        """Process an event's rows."""
        self.take_rows(event)
        return ()

    def take_rows(self, event: RowsEvent) -> None:
        """Decode rows to keep or deliver."""
        if event.table is None and event.table_id == _DUMMY_TABLE_ID:
            return
        opened = self.opened(event.header, beginning_seen=False)
        opened.note_kind(LoggedKind.ROWS)
        if event.table is None:
            self.skip_rows(event, f"table id {event.table_id}", "its table map is not in the file")
            return
        if event.table.undecodable:
            self.skip_rows(event, event.table.name, event.table.undecodable)
            return
        if self.on_rows is None:
            opened.row_bytes += len(event.row_data)
            if opened.row_bytes > self.row_bytes_max:
                self.skip_large(event, event.table.name)
                return
        batch = opened.transaction.rows if self.on_rows is None else []
        before = len(batch)
        for change in decode_rows(event, self.file.file):
            batch.append(change)
            if self.on_rows is None:
                opened.row_bytes += ROW_OVERHEAD_BYTES
                if opened.row_bytes > self.row_bytes_max:
                    del batch[before:]
                    self.skip_large(event, event.table.name)
                    return
            if self.on_rows is not None and len(batch) == ROWS_BATCH:
                self.on_rows(opened.transaction, batch)
                self.file.rows += ROWS_BATCH
                batch = []
        if self.on_rows is not None and batch:
            self.on_rows(opened.transaction, batch)
        self.file.rows += len(batch) - before

    def skip_large(self, event: RowsEvent, table: str) -> None:
        """Note rows beyond the memory limit."""
        self.skip_rows(
            event,
            table,
            f"the transaction has more than {self.row_bytes_max} bytes of rows, which --memory "
            "may allow",
        )

    def skip_rows(self, event: RowsEvent, table: str, reason: str) -> None:
        """Note undecoded rows, once per reason."""
        assert self.open is not None
        transaction = self.open.transaction
        transaction.undecoded_tables |= {table}
        if (table, reason) not in self.skips and len(self.skips) < _SKIPS_REPORTED_MAX:
            self.skips.add((table, reason))
            fault = ParaplyError(
                UNDECODED_ROWS,
                where=f"{self.file.file}:{event.header.offset}",
                table=table,
                reason=reason,
            )
            self.file.diagnostics.append(diagnostic_of(fault, ends_file=False))
