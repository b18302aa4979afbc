"""Statement-based changes inside of XA transactions and beside DDL hide rows like any others."""

from __future__ import annotations

import pytest

from paraply.auditing.pipeline import AuditRequest, audit
from paraply.properties.logs.row_replay import BEFORE_IMAGES_MATCH
from paraply.vocabulary.verdict import Verdict
from tests.builders.binlog_writer import BinlogWriter
from tests.builders.small_transactions import COLUMNS, METADATA

CHANGE = "UPDATE t SET name = 'b'"
XID = "X'61',X'',1"
INSIDE = {
    "one_phase": [f"XA START {XID}", CHANGE, f"XA END {XID}", True],
    "two_phases": [f"XA START {XID}", CHANGE, f"XA END {XID}", False, f"XA COMMIT {XID}"],
    "temporary_table": ["BEGIN", "CREATE TEMPORARY TABLE tmp (a INT)", CHANGE, "COMMIT"],
}


def log(path, course, *, overlaps):
    """Inserts of two rows, ``course``, which may overlap the second, and updates of the rows."""
    writer, number = BinlogWriter(), 1
    writer.gtid(number, last_committed=0, sequence_number=number)
    writer.query("CREATE TABLE test.t (id INT NOT NULL PRIMARY KEY, name VARCHAR(100))")

    def begin(overlaps=0):
        nonlocal number
        number += 1
        writer.gtid(number, last_committed=number - 1 - overlaps, sequence_number=number)

    def write(code, *images):
        begin()
        writer.query("BEGIN")
        writer.table_map(COLUMNS, table="t", metadata=METADATA)
        writer.rows(code, COLUMNS, images)
        writer.xid(number)

    write(30, (1, "a"))
    write(30, (2, "a"))
    begin(overlaps)
    for step in course:
        if isinstance(step, str):
            writer.query(step, schema="test")
            continue
        writer.event(38, bytes([step]) + b"\1\0\0\0\1\0\0\0\0\0\0\0a")
        if not step:
            begin()
    write(31, (1, "b"), (1, "c"))
    write(31, (2, "b"), (2, "c"))
    return str(writer.save(path))


@pytest.mark.parametrize("engine", ["readable", "compiled"])
@pytest.mark.parametrize("course", INSIDE)
def test_rows_that_a_statement_changed_are_no_finding_and_may_conflict(tmp_path, course, engine):
    for overlaps in (0, 1):
        name = log(tmp_path / f"bin.00000{overlaps}", INSIDE[course], overlaps=overlaps)
        result = audit(AuditRequest(files=(name,), engine=engine))
        assert result.verdict is Verdict.UNKNOWN
        assert not result.replay.findings
        assert any(one.property == BEFORE_IMAGES_MATCH for one in result.unknown_because)
        reasons = [one.reason for one in result.unknown_because]
        assert any("may overlap with statement" in one for one in reasons) == bool(overlaps)
