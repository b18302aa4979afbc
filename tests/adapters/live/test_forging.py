"""Forged commit ids: everything else of the log stays what it was."""

from __future__ import annotations

import io

import pytest

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.source import source_of_stream
from paraply.adapters.binlog.transactions import read_transactions
from paraply.adapters.live.forging import forge_commit_ids, forge_last_committed, forged_log
from tests.builders.log_forger import ForgedLog
from tests.builders.sample_logs import mariadb_log, mysql_log


def read(data):
    report = LogReport()
    source = source_of_stream("bin.000001", io.BufferedReader(io.BytesIO(data)))
    found = list(read_transactions([source], report=report))
    assert not [one for file in report.files for one in file.diagnostics]
    return found


def is_plain(logged):
    return "ddl" not in logged.flags and not logged.xa_id


@pytest.mark.parametrize("checksum", [True, False])
def test_every_plain_transaction_gets_the_commit_id_and_keeps_the_rest(checksum):
    original = mariadb_log(checksum=checksum)
    forged, count = forged_log(original, 777)
    before, after = read(original), read(forged)
    plain = [one for one in after if is_plain(one)]
    assert count == len(plain) > 1
    assert {one.commit_id for one in plain} == {777}
    told = [[(one.gtid, one.flags, len(one.rows), one.xa_id) for one in log]
            for log in (before, after)]  # fmt: skip
    assert told[0] == told[1]


def test_forging_equals_the_forger_of_the_tests():
    original = mariadb_log()
    other = ForgedLog(original)
    for number, one in enumerate(read(original), start=1):
        if is_plain(one):
            other.set_commit_id(number, 777)
    assert forged_log(original, 777)[0] == other.data()


def test_forging_twice_changes_nothing_more():
    once, _ = forged_log(mariadb_log(), 777)
    assert forged_log(once, 777)[0] == once


def test_file_without_transactions_stays_as_it_is(tmp_path):
    file = tmp_path / "bin.000001"
    file.write_bytes(b"\xfebin")
    assert forge_commit_ids(file) == 0
    assert file.read_bytes() == b"\xfebin"


@pytest.mark.parametrize("checksum", [True, False])
def test_every_transaction_seems_to_need_the_first_alone(checksum, tmp_path):
    original = mysql_log(checksum=checksum)
    file = tmp_path / "bin.000001"
    file.write_bytes(original)
    before = read(original)
    later = [one for one in before if (one.last_committed or 0) > 1]
    assert later
    assert forge_last_committed(file) == len(later)
    after = read(file.read_bytes())
    assert {one.last_committed for one in after if one.sequence_number} == {0, 1}
    for one, other in zip(before, after, strict=True):
        assert (one.gtid, one.sequence_number, one.rows, one.end_offset) == (
            other.gtid, other.sequence_number, other.rows, other.end_offset,
        )  # fmt: skip
    assert forge_last_committed(file) == 0
