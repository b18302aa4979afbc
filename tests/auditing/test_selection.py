"""Auditing a part of a log: --start-gtid, --stop-gtid, --domain."""

from __future__ import annotations

import pytest

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.auditing.selection import Selection
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import SOURCE_UUID, BinlogWriter

COLUMNS = [spec.integer(4).named("id", nullable=False), spec.integer(4).named("v")]


def change(writer, *rows, code=30):
    writer.query("BEGIN")
    writer.table_map(COLUMNS)
    writer.rows(code, COLUMNS, rows)
    writer.xid(1)


@pytest.fixture
def mysql(tmp_path):
    """CREATE, then rows 2 to 5: each deletes what the one before inserted."""
    writer = BinlogWriter()
    for number in range(1, 6):
        writer.gtid(number, last_committed=number - 1, sequence_number=number)
        if number == 1:
            writer.query("CREATE TABLE t (id int PRIMARY KEY, v int)")
        else:
            change(writer, (1, 1), code=30 if number % 2 == 0 else 32)
    return str(writer.save(tmp_path / "bin.000001"))


@pytest.fixture
def mariadb(tmp_path):
    """Two domains that take turns changing one row."""
    writer = BinlogWriter(server_version="10.11.19-MariaDB")
    writer.mariadb_gtid(1, flags=0x29)
    writer.query("CREATE TABLE t (id int PRIMARY KEY, v int)")
    for number in range(2, 8):
        writer.mariadb_gtid(number, domain=number % 2)
        image = (1, number)
        if number == 2:
            change(writer, image, code=23)
        else:
            change(writer, (1, number - 1), image, code=24)
    return str(writer.save(tmp_path / "bin.000001"))


def audited(file, **selection):
    request = AuditRequest(files=(file,), selection=Selection(**selection))
    return audit(request)


def gtid(number):
    return f"{SOURCE_UUID}:{number}"


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [("", "", 5), (gtid(3), "", 3), ("", gtid(3), 3), (gtid(2), gtid(4), 3), (gtid(5), "", 1)],
)
def test_part_of_a_log_is_judged_and_the_rest_teaches_the_tables(mysql, start, stop, expected):
    result = audited(mysql, start_gtid=start, stop_gtid=stop)
    assert result.transactions == expected
    assert result.replay.findings == []
    assert all(table.keys == ("PRIMARY(id)",) for table in result.tables)
    assert result.tables


def test_gtid_in_another_case_is_the_same(mysql):
    assert audited(mysql, start_gtid=gtid(4).upper()).transactions == 2


def test_one_domain_is_judged_alone_and_what_others_change_is_forgotten(mariadb):
    whole, zero, one = (audited(mariadb, domain=domain) for domain in (None, 0, 1))
    assert (whole.transactions, zero.transactions, one.transactions) == (7, 4, 3)
    assert whole.replay.findings == zero.replay.findings == one.replay.findings == []
    assert whole.replay.before_images_found == 5
    assert one.replay.before_images_found == 0
    assert Verdict.VIOLATED not in (zero.verdict, one.verdict)


def test_domains_have_starts_and_stops_of_their_own(mariadb):
    assert audited(mariadb, start_gtid="0-1-4,1-1-7").transactions == 3
    assert audited(mariadb, start_gtid="1-1-5", stop_gtid="0-1-2").transactions == 4


@pytest.mark.parametrize(
    ("selection", "code"),
    [
        ({"start_gtid": gtid(9)}, "P346"),
        ({"stop_gtid": gtid(9)}, "P346"),
        ({"start_gtid": "0-1"}, "P345"),
        ({"start_gtid": "0-1-1,0-1-2"}, "P345"),
        ({"stop_gtid": f"{gtid(1)},{gtid(2)}"}, "P345"),
    ],
)
def test_gtid_that_is_none_or_not_there_is_an_error(mysql, selection, code):
    with pytest.raises(ParaplyError, match=code):
        audited(mysql, **selection)
