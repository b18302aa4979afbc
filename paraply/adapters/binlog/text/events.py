"""Events from a text dump's header lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from paraply.adapters.binlog.event_types import EventType
from paraply.adapters.binlog.events import (
    Event,
    FormatDescriptionEvent,
    GtidEvent,
    IncidentEvent,
    MariadbGtidEvent,
    RotateEvent,
    SkippedEvent,
    StopEvent,
    TransactionPayloadEvent,
    ViewChangeEvent,
)
from paraply.adapters.binlog.format_description import Checksum, FormatDescription
from paraply.adapters.binlog.framing import EventHeader
from paraply.adapters.binlog.text.lines import TextHeader

DELIMITER = b"/*!*/;"
_EVENT_TYPES = {
    "Start": EventType.FORMAT_DESCRIPTION, "Query": EventType.QUERY, "Xid": EventType.XID,
    "Query_compressed": EventType.QUERY_COMPRESSED, "Table_map": EventType.TABLE_MAP,
    "Write_rows": EventType.WRITE_ROWS, "Update_rows": EventType.UPDATE_ROWS,
    "Delete_rows": EventType.DELETE_ROWS, "Write_rows_v1": EventType.WRITE_ROWS_V1,
    "Update_rows_v1": EventType.UPDATE_ROWS_V1, "Delete_rows_v1": EventType.DELETE_ROWS_V1,
    "Update_rows_partial": EventType.PARTIAL_UPDATE_ROWS,
    "Write_compressed_rows": EventType.WRITE_ROWS_COMPRESSED_V1,
    "Update_compressed_rows": EventType.UPDATE_ROWS_COMPRESSED_V1,
    "Delete_compressed_rows": EventType.DELETE_ROWS_COMPRESSED_V1,
    "Rotate": EventType.ROTATE, "Stop": EventType.STOP, "Anonymous_GTID": EventType.ANONYMOUS_GTID,
    "Previous-GTIDs": EventType.PREVIOUS_GTIDS, "Gtid": EventType.MARIADB_GTID_LIST,
    "Binlog": EventType.BINLOG_CHECKPOINT, "Annotate_rows": EventType.ANNOTATE_ROWS,
    "Rows_query": EventType.ROWS_QUERY, "Intvar": EventType.INTVAR, "Rand": EventType.RAND,
    "User_var": EventType.USER_VAR, "XA PREPARE": EventType.XA_PREPARE,
    "XID": EventType.XA_PREPARE, "Transaction_Payload": EventType.TRANSACTION_PAYLOAD,
    "Incident": EventType.INCIDENT, "View_change": EventType.VIEW_CHANGE,
}  # fmt: skip
_NUMBERED = re.compile(r"(\w+)=(\S+)")
UNSIGNED_DIGITS = 20
"""Of 64 bits without sign."""

_ALTER_PHASES = (
    (" START ALTER", "start_alter"),
    (" COMMIT ALTER", "commit_alter"),
    (" ROLLBACK ALTER", "rollback_alter"),
)
_MARIADB_GTID = re.compile(r"\d{1,10}-\d{1,10}-\d{1,20}(?!\S)")


def error_code_of(rest: str) -> int:
    """Return the error that a statement's line names, 0 if none."""
    return _number(dict(_NUMBERED.findall(rest)), "error_code") or 0


def is_mariadb_gtid(rest: str) -> bool:
    """Return whether the line is MariaDB's: ``GTID 0-1-5 cid=3 trans``."""
    return _MARIADB_GTID.match(rest) is not None


def mysql_gtid(rest: str, gtid_next: str, header: EventHeader) -> GtidEvent:
    """Return a MySQL GTID line's event."""
    fields = dict(_NUMBERED.findall(rest))
    return GtidEvent(
        header=header,
        gtid="" if gtid_next.upper() == "ANONYMOUS" else gtid_next,
        may_have_sbr=fields.get("rbr_only") == "no",
        last_committed=_signed(_number(fields, "last_committed")),
        sequence_number=_signed(_number(fields, "sequence_number")),
        immediate_commit_us=_number(fields, "immediate_commit_timestamp"),
        original_commit_us=_number(fields, "original_committed_timestamp"),
        transaction_length=_number(fields, "transaction_length"),
    )


def number_of(text: str, digits_max: int = 19) -> int | None:
    """Return a number that a server may have written, otherwise None."""
    return int(text) if text.isdecimal() and len(text) <= digits_max else None


def _number(fields: Mapping[str, str], name: str) -> int | None:
    return number_of(fields.get(name, ""), UNSIGNED_DIGITS)


def _signed(number: int | None) -> int | None:
    """Return a signed number of 64 bits that the program prints without its sign."""
    return None if number is None else (number + (1 << 63)) % (1 << 64) - (1 << 63)


def mariadb_gtid(
    rest: str, body: Sequence[bytes], header: EventHeader, *, allows_parallel: bool
) -> MariadbGtidEvent:
    """Return a MariaDB GTID line's event.

    Statements mark COMMIT and ROLLBACK of a prepared transaction.
    """
    gtid, *words = rest.split()
    domain, _, sequence = (int(part) for part in gtid.split("-"))
    flags = {word for word in words if word in ("ddl", "waited")}
    if "trans" in words:
        flags.add("transactional")
    flags |= {flag for phase, flag in _ALTER_PHASES if phase in rest}
    if allows_parallel:
        flags.add("allow_parallel")
    xa_start = next((line for line in body if line.startswith(b"XA START ")), b"")
    if xa_start:
        flags.add("prepared_xa")
    elif not any(line.startswith((b"BEGIN", b"START TRANSACTION")) for line in body):
        flags.add("standalone")
    commit_ids = [word[4:24] for word in words if word.startswith("cid=")]
    return MariadbGtidEvent(
        header=header,
        gtid=gtid,
        domain=domain,
        sequence=sequence,
        flags=frozenset(flags),
        commit_id=number_of(commit_ids[0], UNSIGNED_DIGITS) if commit_ids else None,
        xa_id=xa_start[9:].removesuffix(DELIMITER).decode("utf-8", "replace").strip(),
    )


def type_code(header: TextHeader) -> int:
    """Return a header line's event type."""
    if header.kind == "GTID":
        is_mariadb = is_mariadb_gtid(header.rest)
        return int(EventType.MARIADB_GTID if is_mariadb else EventType.GTID)
    return int(_EVENT_TYPES.get(header.kind, EventType.IGNORABLE))


def event_of_line(kind: str, rest: str, header: EventHeader) -> Event:
    """Return a self-contained header line's event."""
    if kind == "Start":
        found = re.search(r"server v (\S+)", rest)
        version = found[1] if found else ""
        return FormatDescriptionEvent(
            header=header,
            description=FormatDescription(
                server_version=version,
                is_mariadb="MariaDB" in version,
                created_s=header.timestamp_s if "at startup" in rest else 0,
                header_length=19,
                post_header_lengths=b"",
                checksum=Checksum.NONE,
                has_checksum_field=False,
            ),
        )
    if kind == "Rotate":
        found = re.match(r"to (\S+)", rest)
        return RotateEvent(header=header, next_file=found[1] if found else "", next_position=4)
    if kind == "Stop":
        return StopEvent(header=header)
    if kind == "Incident":
        return IncidentEvent(header=header, number=0, message=rest.lstrip(": "))
    if kind.startswith("View_change"):
        return ViewChangeEvent(header=header, view_id=rest, sequence=0, certification_items=0)
    if kind == "Transaction_Payload":
        fields = dict(_NUMBERED.findall(rest))
        return TransactionPayloadEvent(
            header=header,
            compression=fields.get("compression_type", ""),
            compressed_bytes=_number(fields, "payload_size") or 0,
            uncompressed_bytes=_number(fields, "uncompressed_size") or 0,
        )
    return SkippedEvent(header=header, known=kind in _EVENT_TYPES)
