"""Packets, answers, commands and the served log, without a server."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from paraply.adapters.binlog.rewriting import raw_events, rewritten
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.cases.case import log_for
from paraply.adapters.wire.answers import Answer, Code
from paraply.adapters.wire.case_logs import as_logged, require_suited
from paraply.adapters.wire.commands import CommandReader, HoldRule
from paraply.adapters.wire.locks import lock_waits
from paraply.adapters.wire.packets import (
    CLIENT_DEPRECATE_EOF,
    CLIENT_MYSQL,
    CLIENT_SSL,
    PART_BYTES_MAX,
    TLS_REQUIRED,
    PacketBuffer,
    edited_greeting,
    edited_login,
    error_payload,
    packed,
)
from paraply.adapters.wire.served_log import ServedLog, dump_by_gtids, dump_by_place
from paraply.adapters.wire.source_answers import local_answer
from paraply.vocabulary.errors import ParaplyError

FIXTURES = Path(__file__).parents[2] / "fixtures" / "binlogs"
RANDOM_LOGS = 40
OK = b"\0\x01\0\x03\0\0\0"
EOF = b"\xfe\0\0\x02\0"


def read(code, *payloads, deprecates_eof=False):
    answer = Answer(code, deprecates_eof)
    for number, payload in enumerate(payloads, 1):
        assert not answer.is_whole, f"whole before payload {number}"
        (packet,) = PacketBuffer().feed(packed(payload, number))
        answer.take(packet)
    return answer


@pytest.mark.parametrize("size", [0, 5, PART_BYTES_MAX - 1, PART_BYTES_MAX, PART_BYTES_MAX + 7])
def test_packets_are_whole_however_they_are_received(size):
    payload = bytes(size)
    raw = packed(payload, 3)
    buffer = PacketBuffer()
    cut = len(raw) // 2
    found = [*buffer.feed(raw[:cut]), *buffer.feed(raw[cut:] + packed(b"next", 0))]
    assert [one.payload for one in found] == [payload, b"next"]
    assert found[0].raw == raw


@pytest.mark.parametrize("is_mariadb", [False, True])
def test_greeting_loses_tls_and_mariadb_its_extensions(is_mariadb):
    low = 0xFFFF & ~(CLIENT_MYSQL if is_mariadb else 0)
    fixed = struct.pack("<HBHHB", low, 45, 2, 0xFFFF, 21) + bytes(6) + b"\xff\xff\xff\xff"
    greeting = b"\x0a10.11.19-MariaDB\0" + struct.pack("<I", 77) + bytes(9) + fixed + b"rest\0"
    found = edited_greeting(greeting)
    assert found.thread_id == 77
    assert not found.capabilities & CLIENT_SSL
    assert found.capabilities & CLIENT_DEPRECATE_EOF
    assert found.payload.endswith((bytes(4) if is_mariadb else b"\xff" * 4) + b"rest\0")
    assert len(found.payload) == len(greeting)


def test_tls_request_is_refused_with_its_remedy():
    request = struct.pack("<IIB", CLIENT_SSL, 1 << 24, 45) + bytes(23)
    with pytest.raises(ParaplyError) as raised:
        edited_login(request)
    assert raised.value.error is TLS_REQUIRED
    assert not edited_login(request + b"user\0").capabilities & CLIENT_SSL


def test_answer_with_rows_ends_at_the_second_eof():
    answer = read(Code.QUERY, b"\x01", b"\x03def", EOF, b"\x01a", EOF)
    assert answer.is_whole
    assert answer.status == 2


def test_answer_with_rows_ends_at_ok_if_eof_is_deprecated():
    answer = read(
        Code.QUERY, b"\x01", b"\x03def", b"\x01a", b"\xfe\0\0\x01\0\0\0", deprecates_eof=True
    )
    assert answer.is_whole
    assert answer.status == 1


def test_answer_to_several_statements_counts_each():
    more = b"\0\x02\0\x0b\0\0\0"
    answer = read(Code.QUERY, more, OK)
    assert answer.is_whole
    assert answer.affected == [2, 1]


def test_error_ends_an_answer():
    answer = read(Code.QUERY, error_payload(1213, "40001", "Deadlock"))
    assert answer.is_whole
    assert answer.error == "1213 Deadlock"


def test_prepared_statement_with_parameters_ends_after_all_definitions():
    first = b"\0" + struct.pack("<IHHBH", 9, 1, 2, 0, 0)
    answer = read(Code.PREPARE, first, b"p", b"p", EOF, b"c", EOF)
    assert answer.is_whole
    assert answer.statement == (9, 2)


def test_execution_shows_its_parameters_also_without_types_the_second_time():
    reader = CommandReader(HoldRule())
    text = "UPDATE t SET v = ? WHERE id = ? AND w <=> ?"
    prepared = reader.read(bytes([Code.PREPARE]) + text.encode(), b"")
    assert not prepared.is_held
    reader.remember(prepared, 5, 3)
    head = bytes([Code.EXECUTE]) + struct.pack("<IBI", 5, 0, 1) + b"\x04"
    types = b"\x01" + b"\x03\0\xfd\0\x06\0"
    first = reader.read(head + types + struct.pack("<i", -7) + b"\x02ab", b"")
    again = reader.read(head + b"\0" + struct.pack("<i", 8) + b"\x02cd", b"")
    assert first.text == f"{text} (-7, 'ab', NULL)"
    assert again.text == f"{text} (8, 'cd', NULL)"
    assert first.is_held


@pytest.mark.parametrize(
    ("text", "is_held"),
    [
        ("insert into t values (1)", True),
        ("/* gh-ost */ REPLACE INTO t VALUES (1)", True),
        ("COMMIT", True),
        ("BEGIN", False),
        ("SET autocommit = 0", False),
        ("SELECT 1", False),
        ("UPDATE shop._orders_ghc SET v = 1", False),
    ],
)
def test_changes_wait_and_the_rest_passes(text, is_held):
    rule = HoldRule(let_pass=re.compile("_ghc"))
    command = CommandReader(rule).read(bytes([Code.QUERY]) + text.encode(), b"")
    assert command.is_held == is_held


def fixture_files():
    return [
        path
        for path in sorted(FIXTURES.rglob("bin.0*"))
        if path.read_bytes()[:4] == b"\xfebin" and "encrypted" not in path.parts
    ]


def test_rewriting_without_a_change_gives_the_same_file():
    files = fixture_files()
    assert len(files) > 10
    for path in files:
        data = path.read_bytes()
        if "crash" not in path.parts:
            assert rewritten(data, lambda event: event.body) == data, path


def log_of(folder):
    path = next((FIXTURES / "mariadb-10.11.19" / folder).glob("bin.0*"))
    return ServedLog.of_files([(path.name, path.read_bytes())])


def request(name, offset, flags=1):
    return b"\x12" + struct.pack("<IHI", offset, flags, 1) + name.encode()


def sent(dump):
    events = list(dump.opening)
    while dump.remaining:
        events += dump.take()
    return [*events, *dump.ending()]


def test_whole_dump_has_each_event_of_the_file_once():
    path = next((FIXTURES / "mariadb-10.11.19" / "keys").glob("bin.0*"))
    log = log_of("keys")
    events = sent(dump_by_place(log, request(path.name, 4)))
    logged = [event.raw for event in raw_events(path.read_bytes())]
    assert events[2:] == logged[1:]
    assert events[0][4] == 4, "an artificial rotation comes first"


def test_dump_from_a_place_begins_with_that_transaction():
    log = log_of("keys")
    group = log.groups[5]
    dump = dump_by_place(log, request(group.start[0], group.start[1]))
    assert dump.remaining[0].number == 6
    assert tuple(dump.take()) == group.events


def test_mariadb_dump_skips_what_its_state_contains():
    log = log_of("keys")
    # A replica that reconnects names a place inside of a transaction, too, which does not count.
    place = log.groups[12].start
    for asked in (request("", 4), request(place[0], place[1] + 50)):
        dump = dump_by_place(log, asked, log.groups[9].gtid)
        assert dump.remaining[0].number == 11
        assert len(dump.remaining) == len(log.groups) - 10


def test_mysql_dump_skips_the_gtids_of_the_set():
    paths = [path for path in fixture_files() if "mysql" in path.parts[-3]]
    path = next(
        (one for one in paths if ServedLog.of_files([("b", one.read_bytes())]).groups), None
    )
    if path is None:
        pytest.skip("no log of MySQL among the fixtures")
    log = ServedLog.of_files([(path.name, path.read_bytes())])
    source, _, number = log.groups[2].gtid.partition(":")
    interval = struct.pack("<qq", 1, int(number) + 1)
    gtids = struct.pack("<Q", 1) + bytes.fromhex(source) + struct.pack("<Q", 1) + interval
    payload = b"\x1e" + struct.pack("<HII", 1, 1, 0) + struct.pack("<QI", 4, len(gtids)) + gtids
    assert dump_by_gtids(log, payload).remaining[0].number == 4


def test_questions_about_the_log_are_answered_from_the_served_files():
    log = log_of("keys")
    raw = local_answer("SHOW MASTER STATUS", log, deprecates_eof=False)
    assert raw is not None
    answer = Answer(Code.QUERY, deprecates_eof=False)
    for packet in PacketBuffer().feed(raw):
        answer.take(packet)
    assert answer.is_whole
    assert log.files[0].name.encode() in answer.raw
    assert local_answer("SELECT @@version", log, deprecates_eof=False) is None


@pytest.mark.parametrize("family", ["MySQL", "MariaDB"])
def test_lock_waits_are_those_of_waiting_transactions(family):
    text = (
        "---TRANSACTION 12, ACTIVE 1 sec starting index read\n"
        f"LOCK WAIT 2 lock struct(s)\n{family} thread id 31, query id 5\n"
        f"---TRANSACTION 11, ACTIVE 2 sec\n{family} thread id 30, query id 4\n"
    )
    assert lock_waits(text) == {31}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("name", ["A", "E", "H", "I", "J", "L", "M"])
def test_random_case_is_a_log_of_any_server_once_what_changes_nothing_is_left_out(name):
    (case,) = cases_named([f"{name}-random-01"])
    shortened = 0
    for seed in range(RANDOM_LOGS):
        log = as_logged(log_for(case, seed))
        require_suited(log, is_mariadb=False)
        shortened += len(log.transactions) < len(log_for(case, seed).transactions)
    assert shortened
