"""Rows events where no server writes them: both engines read the same."""

from __future__ import annotations

from itertools import product

import pytest

from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter
from tests.builders.engines import audit_by_compiled, audit_by_readable, differences

COLUMNS = [spec.integer(4).named("id", nullable=False)]


def log_of(pieces, ends_statement):
    """Return a log: a whole transaction, ``pieces`` in their order, a whole transaction."""
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("CREATE TABLE t (id int PRIMARY KEY)")
    for number in (2, 3):
        writer.gtid(number, last_committed=number - 1, sequence_number=number)
        writer.query("BEGIN")
        writer.table_map(COLUMNS)
        writer.rows(30, COLUMNS, [(number,)], ends_statement=ends_statement)
        if number == 2:
            for piece in pieces:
                _write(writer, piece)
        writer.xid(number)
    return writer


def _write(writer, piece):
    if piece == "xid":
        writer.xid(9)
    elif piece == "rows":
        writer.rows(30, COLUMNS, [(7,)])
    elif piece == "map":
        writer.table_map(COLUMNS)
    elif piece == "begin":
        writer.query("BEGIN")


@pytest.mark.long(each=5)
@pytest.mark.parametrize("ends_statement", [True, False])
@pytest.mark.parametrize(
    "pieces",
    [p for size in (1, 2, 3) for p in product(("xid", "rows", "map", "begin"), repeat=size)],
)
def test_engines_agree_on_rows_after_an_intervening_end(tmp_path, pieces, ends_statement):
    path = str(log_of(pieces, ends_statement).save(tmp_path / "bin.000001"))
    readable = audit_by_readable((path,))
    compiled = audit_by_compiled_or_none((path,))
    if compiled is not None:
        assert differences(readable, compiled) == []


@pytest.mark.parametrize("error_code", [0, 1060])
def test_engines_agree_that_a_failed_replacement_drops(tmp_path, error_code):
    writer = log_of([], ends_statement=True)
    writer.query("CREATE OR REPLACE TABLE t (id int)", error_code=error_code)
    writer.query("CREATE TABLE IF NOT EXISTS t (id int PRIMARY KEY)")
    for number in (5, 6):
        writer.gtid(number, last_committed=4, sequence_number=number)
        writer.query("BEGIN")
        writer.table_map(COLUMNS)
        writer.rows(30, COLUMNS, [(1,)])
        writer.xid(number)
    path = str(writer.save(tmp_path / "bin.000001"))
    readable = audit_by_readable((path,))
    # The new table has a key only if the old one is gone.
    assert any(one.certain for one in readable.result.violations) is bool(error_code)
    compiled = audit_by_compiled_or_none((path,))
    assert compiled is not None
    assert differences(readable, compiled) == []


def audit_by_compiled_or_none(files):
    """Return the compiled engine's audit, None where it hands over."""
    from paraply.vocabulary.not_compilable import NotCompilable

    try:
        return audit_by_compiled(files)
    except NotCompilable:
        return None
