"""Damage of any kind ends in a diagnostic with a place, never in a trace, a loop or a flood."""

from __future__ import annotations

import gzip
import random
import struct
import tracemalloc

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from paraply.adapters.binlog.report import LogReport
from paraply.vocabulary.log import LoggedTransaction
from tests.builders.log_reading import raw_events_of, transactions_of
from tests.builders.sample_logs import mariadb_log, mysql_log

LOGS = {
    "mysql": mysql_log(),
    "mysql-unchecked": mysql_log(checksum=False),
    "mariadb": mariadb_log(),
    "mariadb-unchecked": mariadb_log(checksum=False),
}
REGISTERED = {f"P{number}" for number in range(101, 112)}


def _read(data: bytes) -> tuple[list[LoggedTransaction], LogReport]:
    report = LogReport()
    transactions = transactions_of(data, report=report)
    assert {diagnostic.code for diagnostic in report.diagnostics()} <= REGISTERED
    assert all(diagnostic.where for diagnostic in report.diagnostics())
    return transactions, report


@pytest.mark.parametrize("name", LOGS)
def test_undamaged_samples_are_read_to_their_end(name):
    transactions, report = _read(LOGS[name])
    assert report.read_to_end
    assert not list(report.diagnostics())
    assert all(transaction.complete for transaction in transactions)
    assert len(report.files[0].events) >= 10
    assert sum(len(transaction.rows) for transaction in transactions) >= 5


@pytest.mark.long
@pytest.mark.parametrize("name", LOGS)
def test_truncation_at_every_byte_keeps_every_transaction_before_it(name):
    data = LOGS[name]
    whole, _ = _read(data)
    ends = {event.header.next_offset for event in raw_events_of(data)}
    for length in range(len(data)):
        transactions, report = _read(data[:length])
        assert report.read_to_end == (length in ends), length
        expected = [t for t in whole if t.end_offset <= length]
        assert transactions[: len(expected)] == expected, length
        assert len(transactions) <= len(expected) + 1, length
        assert all(not t.complete for t in transactions[len(expected) :]), length


@pytest.mark.long
@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_every_flipped_bit_under_a_checksum_is_found(name):
    data = LOGS[name]
    in_use_bit = 4 + 17
    for offset in range(len(data)):
        damaged = bytearray(data)
        damaged[offset] ^= 1 << offset % 8
        transactions, report = _read(bytes(damaged))
        if offset == in_use_bit and damaged[offset] & ~1 == data[offset] & ~1:
            continue  # the one bit no checksum covers
        assert not report.read_to_end, offset
        assert all(t.end_offset <= offset for t in transactions if t.complete), offset


@pytest.mark.long
@pytest.mark.parametrize("name", ["mysql-unchecked", "mariadb-unchecked"])
def test_every_flipped_byte_without_checksum_is_survived(name):
    data = LOGS[name]
    stopped = 0
    for offset in range(len(data)):
        damaged = bytearray(data)
        damaged[offset] ^= (0xFF, 0x01, 0x80)[offset % 3]
        stopped += not _read(bytes(damaged))[1].read_to_end
    # Most damage hits values and goes unseen; enough of it must hit structure.
    assert stopped > len(data) // 8


@given(st.sampled_from(["mysql-unchecked", "mariadb-unchecked"]), st.integers(0, (1 << 64) - 1))
def test_many_faults_at_once_are_survived(name, seed):
    random_choice = random.Random(seed)
    damaged = bytearray(LOGS[name])
    for _ in range(random_choice.randint(2, 20)):
        offset = random_choice.randrange(4, len(damaged))
        size = random_choice.choice([1, 2, 4, 8])
        value = random_choice.choice([0, 1, 0xFF, 0x7F, 0x80, random_choice.getrandbits(8)])
        damaged[offset : offset + size] = bytes([value]) * size
    _read(bytes(damaged))


@pytest.mark.long
@pytest.mark.parametrize("name", ["mysql-unchecked", "mariadb-unchecked"])
@pytest.mark.parametrize("value", [0xFFFFFFFF, 0x7FFFFFFF, 0x10000000])
def test_hostile_lengths_anywhere_do_not_allocate(name, value):
    data = LOGS[name]
    tracemalloc.start()
    try:
        for offset in range(4, len(data) - 4, 13):
            damaged = bytearray(data)
            struct.pack_into("<I", damaged, offset, value)
            _read(bytes(damaged))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


@given(st.binary(max_size=300))
def test_garbage_behind_the_magic_is_survived(garbage):
    _, report = _read(b"\xfebin" + garbage)
    assert not report.read_to_end


@given(st.integers(0, 255), st.binary(max_size=120))
def test_garbage_in_an_event_of_any_type_is_survived(code, body):
    data = bytearray(LOGS["mysql-unchecked"])
    size = 19 + len(body)
    data += struct.pack("<IBIIIH", 0, code, 1, size, len(data) + size, 0) + body
    _read(bytes(data))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_cut_compression_at_every_byte_is_survived(pack):
    packed = pack(LOGS["mysql"])
    for length in range(0, len(packed), 3):
        _, report = _read(packed[:length])
        assert not report.read_to_end, length
    assert _read(packed)[1].read_to_end
