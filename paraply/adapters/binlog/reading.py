"""Decoder of a file stream, with its table maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paraply.adapters.binlog import control_events, group_events, gtid_events
from paraply.adapters.binlog.cursor import MalformedError
from paraply.adapters.binlog.errors import EVENT_TOO_LARGE, MALFORMED_EVENT
from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import (
    Event,
    FormatDescriptionEvent,
    RowsEvent,
    SkippedEvent,
    TableMapEvent,
)
from paraply.adapters.binlog.format_description import FormatDescription
from paraply.adapters.binlog.framing import BinlogReader, RawEvent
from paraply.adapters.binlog.memory import EventTooLargeError
from paraply.adapters.binlog.payload import inner_events, parse_payload
from paraply.adapters.binlog.rows_events import ROWS_SHAPES, parse_rows, table_id_bytes
from paraply.adapters.binlog.table_map import TableMap, parse_table_map

_DEFINITION_BYTES_MAX = 1 << 24
_DEFINITION_BYTES_MIN = 1 << 12
"""Charge per small definition; 4,096 are kept."""
_TABLE_IDS_MAX = 1 << 16

_Parse = Callable[[RawEvent], Event]
_PARSERS: dict[int, _Parse] = {
    EventType.STOP: control_events.parse_stop,
    EventType.ROTATE: control_events.parse_rotate,
    EventType.XID: control_events.parse_xid,
    EventType.XA_PREPARE: control_events.parse_xa_prepare,
    EventType.INCIDENT: control_events.parse_incident,
    EventType.HEARTBEAT: control_events.parse_heartbeat,
    EventType.HEARTBEAT_V2: control_events.parse_heartbeat,
    EventType.ROWS_QUERY: control_events.parse_annotation,
    EventType.ANNOTATE_ROWS: control_events.parse_annotation,
    EventType.BINLOG_CHECKPOINT: control_events.parse_checkpoint,
    EventType.GTID: gtid_events.parse_gtid,
    EventType.ANONYMOUS_GTID: gtid_events.parse_gtid,
    EventType.GTID_TAGGED: gtid_events.parse_tagged_gtid,
    EventType.PREVIOUS_GTIDS: gtid_events.parse_previous_gtids,
    EventType.MARIADB_GTID: gtid_events.parse_mariadb_gtid,
    EventType.MARIADB_GTID_LIST: gtid_events.parse_mariadb_gtid_list,
    EventType.TRANSACTION_CONTEXT: group_events.parse_transaction_context,
    EventType.VIEW_CHANGE: group_events.parse_view_change,
}
_QUERIES = frozenset({EventType.QUERY, EventType.EXECUTE_LOAD_QUERY, EventType.QUERY_COMPRESSED})
_KNOWN_CONTEXT = frozenset(
    {
        EventType.INTVAR, EventType.RAND, EventType.USER_VAR, EventType.APPEND_BLOCK,
        EventType.DELETE_FILE, EventType.BEGIN_LOAD_QUERY, EventType.IGNORABLE,
        EventType.START_ENCRYPTION,
    }
)  # fmt: skip


_ENDS_TABLE_MAPS = frozenset(
    {
        EventType.XID,
        EventType.XA_PREPARE,
        EventType.GTID,
        EventType.ANONYMOUS_GTID,
        EventType.GTID_TAGGED,
        EventType.MARIADB_GTID,
    }
)


class EventDecoder:
    """Decodes raw events of one or more files in order.

    Equal table definitions share one ``TableMap`` and its plans.
    """

    def __init__(self) -> None:
        self._tables: dict[int, TableMap] = {}
        self._definitions: dict[tuple[bool, bytes], TableMap] = {}
        self._definition_bytes = 0

    def decode(self, raw: RawEvent, description: FormatDescription) -> Iterator[Event]:
        """Yield the event, and a payload's inner events.

        Raises ``MalformedError``.
        """
        if raw.header.type_code == EventType.TRANSACTION_PAYLOAD:
            payload = parse_payload(raw)
            yield payload.event
            for inner in inner_events(payload):
                yield self.decode_one(inner, description)
        else:
            yield self.decode_one(raw, description)

    def decode_one(self, raw: RawEvent, description: FormatDescription) -> Event:
        """Return one event, except a transaction payload."""
        code = raw.header.type_code
        if code in ROWS_SHAPES:
            return self._on_rows(raw, description)
        if code == EventType.TABLE_MAP:
            return self._on_table_map(raw, description)
        parse = _PARSERS.get(code)
        if parse is not None:
            if code in _ENDS_TABLE_MAPS:
                self._tables.clear()
            return parse(raw)
        if code in _QUERIES:
            self._tables.clear()
            return control_events.parse_query(raw, description)
        if code == EventType.FORMAT_DESCRIPTION:
            return FormatDescriptionEvent(header=raw.header, description=description)
        return SkippedEvent(header=raw.header, known=code in _KNOWN_CONTEXT)

    def _on_table_map(self, raw: RawEvent, description: FormatDescription) -> TableMapEvent:
        width = table_id_bytes(description)
        if len(raw.body) < width + 2:
            raise MalformedError(f"a table map of {len(raw.body)} bytes")
        table = self.table_of(raw.body[width + 2 :], is_mariadb=description.is_mariadb)
        table_id = int.from_bytes(raw.body[:width], "little")
        if len(self._tables) >= _TABLE_IDS_MAX:
            raise MalformedError(f"more than {_TABLE_IDS_MAX} table maps in one statement")
        self._tables[table_id] = table
        return TableMapEvent(header=raw.header, table_id=table_id, table=table)

    def table_of(self, definition: bytes, *, is_mariadb: bool) -> TableMap:
        """Return the table that a map's body defines; raises ``MalformedError``."""
        key = (is_mariadb, definition)
        table = self._definitions.get(key)
        if table is None:
            table = parse_table_map(definition, is_mariadb=is_mariadb)
            self._definition_bytes += len(definition) + _DEFINITION_BYTES_MIN
            if self._definition_bytes > _DEFINITION_BYTES_MAX:
                self._definitions.clear()
                self._definition_bytes = 0
            self._definitions[key] = table
        return table

    def _on_rows(self, raw: RawEvent, description: FormatDescription) -> RowsEvent:
        event = parse_rows(raw, description, self._tables)
        if event.ends_statement:
            self._tables.clear()
        return event


def read_events(reader: BinlogReader, decoder: EventDecoder | None = None) -> Iterator[Event]:
    """Yield decoded events until a fault raises ``ParaplyError``.

    Share ``decoder`` where transactions span files (relay logs).
    """
    decoder = decoder or EventDecoder()
    payload = int(EventType.TRANSACTION_PAYLOAD)
    for raw in reader.raw_events():
        description = reader.format_description
        assert description is not None
        try:
            if raw.header.type_code == payload:
                yield from decoder.decode(raw, description)
            else:
                yield decoder.decode_one(raw, description)
        except EventTooLargeError as fault:
            raise reader.error(
                EVENT_TOO_LARGE, raw.header.offset, event=raw.header.name, reason=fault
            ) from None
        except MalformedError as fault:
            raise reader.error(
                MALFORMED_EVENT, raw.header.offset, event=raw.header.name, reason=fault
            ) from None
