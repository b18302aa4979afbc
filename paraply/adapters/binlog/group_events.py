"""Group replication's events: transaction contexts (36) and view changes (37)."""

from __future__ import annotations

from paraply.adapters.binlog.cursor import Cursor
from paraply.adapters.binlog.events import TransactionContextEvent, ViewChangeEvent
from paraply.adapters.binlog.framing import RawEvent
from paraply.adapters.binlog.gtid_events import parse_gtid_set

_VIEW_ID_BYTES = 40


def parse_transaction_context(raw: RawEvent) -> TransactionContextEvent:
    """Decode snapshot, write set and read set (base64 hashes)."""
    cursor = Cursor(raw.body)
    uuid_bytes = cursor.unsigned(1)
    thread_id = cursor.unsigned(4)
    gtid_specified = cursor.unsigned(1)
    snapshot_bytes = cursor.unsigned(4)
    writes = cursor.unsigned(4)
    reads = cursor.unsigned(4)
    server_uuid = cursor.take(uuid_bytes).decode("latin-1")
    snapshot = parse_gtid_set(cursor.take(snapshot_bytes)) if snapshot_bytes else ""
    return TransactionContextEvent(
        header=raw.header,
        server_uuid=server_uuid,
        thread_id=thread_id,
        gtid_specified=bool(gtid_specified),
        snapshot_version=snapshot,
        write_set=_items(cursor, writes),
        read_set=_items(cursor, reads),
    )


def _items(cursor: Cursor, count: int) -> tuple[str, ...]:
    items: list[str] = []
    for _ in range(count):
        items.append(cursor.take(cursor.unsigned(2)).decode("latin-1"))
    return tuple(items)


def parse_view_change(raw: RawEvent) -> ViewChangeEvent:
    """Decode a view change, with certification info's size."""
    cursor = Cursor(raw.body)
    view_id = cursor.take(_VIEW_ID_BYTES).split(b"\0", 1)[0].decode("latin-1")
    return ViewChangeEvent(
        header=raw.header,
        view_id=view_id,
        sequence=cursor.unsigned(8),
        certification_items=cursor.unsigned(4),
    )
