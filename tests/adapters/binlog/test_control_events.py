from __future__ import annotations

import struct

import pytest

from paraply.adapters.binlog.events import (
    AnnotationEvent,
    CheckpointEvent,
    HeartbeatEvent,
    IncidentEvent,
    QueryEvent,
    RotateEvent,
    SkippedEvent,
    TransactionContextEvent,
    ViewChangeEvent,
    XaPrepareEvent,
)
from paraply.vocabulary.errors import ParaplyError
from tests.builders.binlog_writer import SOURCE_UUID, BinlogWriter, packed
from tests.builders.log_reading import event_of, events_of


def _event(code: int, body: bytes, version: str = "8.0.36"):
    writer = BinlogWriter(server_version=version)
    writer.event(code, body)
    return event_of(writer)


def _query(sql, **options) -> QueryEvent:
    writer = BinlogWriter()
    writer.query(sql, **options)
    event = event_of(writer)
    assert isinstance(event, QueryEvent)
    return event


def test_query_reads_schema_text_and_status_variables():
    status = b"\0" + bytes(4) + b"\1" + struct.pack("<Q", 0x1234) + b"\6\3std"
    status += b"\4" + struct.pack("<HHH", 8, 8, 45) + b"\5\3UTC" + b"\x0c\2a\0b\0"
    status += b"\x0b\1u\1h" + b"\x80" + bytes(3) + b"\x11" + bytes(8)
    event = _query("SELECT 'é'".encode("latin-1"), schema="s", status=status)
    assert event.schema == "s"
    assert event.sql == "SELECT 'é'"
    assert event.sql_mode == 0x1234
    assert event.client_collation == 8


@pytest.mark.parametrize(
    "status",
    [
        b"\x83\1" + struct.pack("<HH", 33, 2048),
        b"\x82\2",
        b"\x82\4" + struct.pack("<Q", 3),
        b"\x82\x08" + struct.pack("<Q", 3),
    ],
)
def test_status_variables_of_mariadb_11_do_not_hide_the_clients_character_set(status):
    status += b"\4" + struct.pack("<HHH", 8, 8, 45)
    assert _query("SELECT 'é'".encode("latin-1"), status=status).sql == "SELECT 'é'"


@pytest.mark.parametrize("status", [b"\xf0abc", b"\1\2", b"\x0c\xffab", b"\x0c\xfe", b"\2\3std\0"])
def test_query_survives_status_variables_it_does_not_know(status):
    assert _query("COMMIT", status=status).sql == "COMMIT"


def test_compressed_query_of_mariadb_is_inflated():
    assert _query("INSERT INTO t VALUES (1) " * 50, code=165).sql.count("INSERT") == 50


@pytest.mark.parametrize(
    "wrapped", [b"\x84\x7f\xff\xff\xff" + bytes(9), b"\x11abc", b"\xf1\1a", b"\x81\5x"]
)
def test_compressed_query_that_lies_is_a_user_error(wrapped):
    body = struct.pack("<IIBHH", 1, 0, 0, 0, 0) + b"\0" + wrapped
    with pytest.raises(ParaplyError, match=r"P107|P111"):
        _event(165, body, "10.11.19-MariaDB")


def test_statement_that_is_not_text_is_shown_with_replacements():
    assert (
        "\ufffd" in _query(b"INSERT \xff\xfe", status=b"\4" + struct.pack("<HHH", 45, 45, 45)).sql
    )


def test_load_query_skips_its_file_fields():
    text = b"LOAD DATA INFILE 'x' INTO TABLE t"
    body = struct.pack("<IIBHH", 1, 0, 4, 0, 0) + bytes(13) + b"test\0" + text
    event = _event(18, body)
    assert isinstance(event, QueryEvent)
    assert event.sql == text.decode()


def test_rotate_names_the_next_file():
    writer = BinlogWriter()
    writer.rotate("bin.000002")
    event = event_of(writer)
    assert isinstance(event, RotateEvent)
    assert (event.next_file, event.next_position) == ("bin.000002", 4)


def test_xa_prepare_prints_its_xid_as_statements_do():
    event = _event(38, struct.pack("<BiII", 1, 7, 2, 1) + b"abc")
    assert isinstance(event, XaPrepareEvent)
    assert event.xa_id == "X'6162',X'63',7"
    assert event.one_phase


def test_incident_keeps_number_and_message():
    event = _event(26, struct.pack("<HB", 1, 4) + b"lost")
    assert isinstance(event, IncidentEvent)
    assert (event.number, event.message) == (1, "lost")


@pytest.mark.parametrize(("code", "body"), [(29, b"\x04DROP"), (160, b"DROP")])
def test_annotations_of_both_servers_are_comments(code, body):
    event = _event(code, body)
    assert isinstance(event, AnnotationEvent)
    assert event.sql == "DROP"


def test_checkpoint_names_a_file():
    event = _event(161, struct.pack("<I", 5) + b"bin.1", "10.11.19-MariaDB")
    assert isinstance(event, CheckpointEvent)
    assert event.file == "bin.1"


def test_heartbeats_old_and_new_name_file_and_position():
    old = _event(27, b"bin.000003")
    new = _event(
        41, packed(1) + packed(3) + b"b.3" + packed(2) + packed(9) + packed(1 << 40) + b"\0"
    )
    assert isinstance(old, HeartbeatEvent)
    assert isinstance(new, HeartbeatEvent)
    assert old.file == "bin.000003"
    assert (new.file, new.position) == ("b.3", 1 << 40)


def test_transaction_context_gives_snapshot_and_write_set():
    snapshot = struct.pack("<Q16sQQQ", 1, bytes(16), 1, 1, 10)
    items = [b"AAAA", b"BBBBBBBB"]
    body = struct.pack("<BIBIII", 36, 5, 1, len(snapshot), 2, 1) + SOURCE_UUID.encode() + snapshot
    body += b"".join(struct.pack("<H", len(item)) + item for item in [*items, b"R"])
    event = _event(36, body)
    assert isinstance(event, TransactionContextEvent)
    assert event.snapshot_version == "00000000-0000-0000-0000-000000000000:1-9"
    assert event.write_set == ("AAAA", "BBBBBBBB")
    assert event.read_set == ("R",)


def test_view_change_gives_its_view():
    event = _event(37, b"15:3".ljust(40, b"\0") + struct.pack("<QI", 4, 0))
    assert isinstance(event, ViewChangeEvent)
    assert (event.view_id, event.sequence, event.certification_items) == ("15:3", 4, 0)


def test_unknown_type_is_skipped_and_known_context_is_told_apart():
    writer = BinlogWriter()
    writer.event(99, b"?")
    writer.event(5, bytes(9))
    first, second = events_of(writer.data)[1:]
    assert isinstance(first, SkippedEvent)
    assert isinstance(second, SkippedEvent)
    assert (first.known, second.known) == (False, True)


@pytest.mark.parametrize(
    "code", [2, 4, 16, 19, 26, 30, 31, 33, 35, 36, 37, 38, 39, 40, 42, 161, 162]
)
def test_empty_body_is_a_user_error_with_its_place(code):
    writer = BinlogWriter()
    offset = writer.event(code, b"")
    with pytest.raises(ParaplyError, match="P107") as caught:
        events_of(writer.data)
    assert caught.value.where == f"bin.000001:{offset}"
