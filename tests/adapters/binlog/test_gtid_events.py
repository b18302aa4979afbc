from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.cursor import Cursor, MalformedError
from paraply.adapters.binlog.events import GtidEvent, MariadbGtidEvent
from paraply.adapters.binlog.gtid_events import parse_gtid_set, parse_tagged_gtid
from paraply.vocabulary.errors import ParaplyError
from tests.builders.binlog_writer import (
    SOURCE_UUID,
    BinlogWriter,
    packed,
    varlen,
    varlen_signed,
)
from tests.builders.log_reading import event_of, raw_events_of

UNSIGNED = st.integers(0, (1 << 64) - 1)
SIGNED = st.integers(-(1 << 63), (1 << 63) - 1)


def _gtid(**fields) -> GtidEvent:
    writer = BinlogWriter()
    writer.gtid(**fields)
    event = event_of(writer)
    assert isinstance(event, GtidEvent)
    return event


def test_gtid_of_5_6_has_no_logical_timestamp():
    event = _gtid(number=9)
    assert event.gtid == f"{SOURCE_UUID}:9"
    assert (event.last_committed, event.sequence_number) == (None, None)


def test_gtid_of_5_7_has_a_logical_timestamp_and_no_times():
    event = _gtid(number=9, last_committed=3, sequence_number=5, flags=1)
    assert (event.last_committed, event.sequence_number) == (3, 5)
    assert event.may_have_sbr
    assert event.immediate_commit_us is None


def test_gtid_of_8_0_has_times_length_versions_and_ticket():
    event = _gtid(
        number=(1 << 63) - 2,
        last_committed=0,
        sequence_number=0,
        immediate_us=1_700_000_000_000_001,
        original_us=1_600_000_000_000_002,
        length=70_000,
        versions=(80036, 80023),
        ticket=12,
    )
    assert event.gtid.endswith(":9223372036854775806")
    assert event.immediate_commit_us == 1_700_000_000_000_001
    assert event.original_commit_us == 1_600_000_000_000_002
    assert event.transaction_length == 70_000
    assert (event.immediate_server_version, event.original_server_version) == (80036, 80023)
    assert event.commit_group_ticket == 12


def test_original_time_and_version_default_to_the_immediate_ones():
    event = _gtid(
        last_committed=1, sequence_number=2, immediate_us=55, length=3, versions=(80036, 80036)
    )
    assert event.original_commit_us == 55
    assert event.original_server_version == 80036


def test_anonymous_gtid_has_no_text():
    event = _gtid(anonymous=True, last_committed=1, sequence_number=2)
    assert event.gtid == ""
    assert event.sequence_number == 2


def test_gtid_number_zero_is_malformed():
    with pytest.raises(ParaplyError, match="P107"):
        _gtid(number=0)


def test_tagged_gtid_is_read_with_all_fields():
    writer = BinlogWriter(server_version="9.7.4")
    writer.tagged_gtid(3, "mytag", last_committed=4, sequence_number=70_000)
    event = event_of(writer)
    assert isinstance(event, GtidEvent)
    assert event.gtid == f"{SOURCE_UUID}:mytag:3"
    assert (event.last_committed, event.sequence_number) == (4, 70_000)
    assert event.transaction_length == 300
    assert event.original_commit_us == event.immediate_commit_us == 1_700_000_000_000_000
    assert event.original_server_version == 90_000


def test_tagged_gtid_ignores_unknown_fields_only_where_it_may():
    writer = BinlogWriter(server_version="9.7.4")
    unknown = varlen(40) + varlen(1)
    writer.tagged_gtid(3, "", last_committed=4, sequence_number=5, extra_fields=unknown)
    event = event_of(writer)
    assert isinstance(event, GtidEvent)
    assert event.gtid == f"{SOURCE_UUID}:3"
    writer.tagged_gtid(
        3, "a", last_committed=4, sequence_number=5, extra_fields=unknown, last_required_field=40
    )
    with pytest.raises(MalformedError, match="field 40"):
        parse_tagged_gtid(raw_events_of(writer.data)[-1])


@given(UNSIGNED)
def test_varlen_round_trips(number):
    cursor = Cursor(varlen(number) + b"x")
    assert cursor.varlen() == number
    assert cursor.remaining == 1


@given(SIGNED)
def test_signed_varlen_round_trips(number):
    assert Cursor(varlen_signed(number)).varlen_signed() == number


@given(UNSIGNED)
def test_packed_integer_round_trips(number):
    assert Cursor(packed(number)).packed() == number


@pytest.mark.parametrize(
    ("number", "data"),
    [(65535, "f3ff0f"), (-65535, "ebff0f"), (-65536, "fbff0f")],
)
def test_signed_varlen_reads_the_bytes_of_the_specification(number, data):
    assert Cursor(bytes.fromhex(data)).varlen_signed() == number


def test_gtid_set_is_printed_as_the_server_prints_it():
    writer = BinlogWriter()
    writer.previous_gtids(
        {SOURCE_UUID: [(1, 5), (7, 7)], SOURCE_UUID.replace("3e", "4e"): [(2, 3)]}
    )
    event = event_of(writer)
    assert event.gtid_set == (f"{SOURCE_UUID}:1-5:7,{SOURCE_UUID.replace('3e', '4e')}:2-3")


def test_tagged_gtid_set_keeps_tags_under_their_uuid():
    uuid = bytes(range(16))
    interval = struct.pack("<QQQ", 1, 1, 4)
    data = (1 | 2 << 8 | 1 << 56).to_bytes(8, "little")
    data += uuid + varlen(0) + interval + uuid + varlen(3) + b"abc" + interval
    assert parse_gtid_set(data) == "00010203-0405-0607-0809-0a0b0c0d0e0f:1-3:abc:1-3"


@pytest.mark.parametrize("interval", [(0, 4), (4, 4), (5, 4)])
def test_gtid_set_with_an_impossible_interval_is_malformed(interval):
    data = struct.pack("<Q16sQQQ", 1, bytes(16), 1, *interval)
    with pytest.raises(MalformedError, match="interval"):
        parse_gtid_set(data)


def test_gtid_set_with_a_hostile_count_is_malformed_at_once():
    with pytest.raises(MalformedError, match="past the end"):
        parse_gtid_set(struct.pack("<Q", (1 << 55) - 1) + bytes(64))


def _mariadb(**fields) -> MariadbGtidEvent:
    writer = BinlogWriter(server_version="10.11.19-MariaDB", server_id=7)
    writer.mariadb_gtid(**fields)
    event = event_of(writer)
    assert isinstance(event, MariadbGtidEvent)
    return event


def test_mariadb_gtid_without_group_has_no_commit_id():
    event = _mariadb(sequence=12, domain=3, flags=0x0D)
    assert event.gtid == "3-7-12"
    assert event.commit_id is None
    assert event.flags == {"standalone", "transactional", "allow_parallel"}
    assert event.is_standalone


def test_mariadb_gtid_of_a_group_has_its_commit_id():
    event = _mariadb(sequence=1, commit_id=(1 << 64) - 1, flags=0x14)
    assert event.commit_id == (1 << 64) - 1
    assert event.flags == {"transactional", "waited"}


def test_mariadb_xid_follows_the_commit_id():
    event = _mariadb(sequence=1, commit_id=5, flags=0x40, xid=(7, b"gt", b"bq"))
    assert event.commit_id == 5
    assert event.xa_id == "X'6774',X'6271',7"
    assert "prepared_xa" in event.flags


def test_mariadb_extra_flags_tell_two_phase_alters_and_threads():
    event = _mariadb(sequence=1, extra=bytes([0x01 | 0x04 | 0x10, 2]) + struct.pack("<QI", 99, 42))
    assert event.start_alter_sequence == 99
    assert event.thread_id == 42
    assert "commit_alter" in event.flags


def test_mariadb_gtid_list_masks_its_flags_out_of_the_count():
    writer = BinlogWriter(server_version="10.11.19-MariaDB")
    writer.mariadb_gtid_list([(0, 1, 5), (2, 7, 9)], flags=1)
    event = event_of(writer)
    assert event.gtids == ("0-1-5", "2-7-9")
    assert event.flags == 1
