"""Which events make one transaction, and of which kind it is."""

from __future__ import annotations

import struct

import pytest

from paraply.vocabulary.log import LoggedKind
from tests.builders.binlog_writer import SOURCE_UUID, BinlogWriter
from tests.builders.log_reading import transactions_of
from tests.builders.small_transactions import (
    COLUMNS,
    MARIADB,
    METADATA,
    write_rows,
    write_transaction,
)


def test_rows_between_gtid_and_xid_are_one_transaction():
    writer = BinlogWriter(server_id=5)
    start = writer.gtid(
        7, last_committed=2, sequence_number=3, immediate_us=1_700_000_000_000_000, length=1
    )
    writer.query("BEGIN", schema="shop")
    write_rows(writer, 1, 2)
    write_rows(writer, 3, table="u")
    writer.xid()
    end = len(writer.data)
    (transaction,) = transactions_of(writer.data)
    assert transaction.kind is LoggedKind.ROWS
    assert transaction.gtid == f"{SOURCE_UUID}:7"
    assert (transaction.last_committed, transaction.sequence_number) == (2, 3)
    assert (transaction.start.offset, transaction.end_offset) == (start, end)
    assert str(transaction.start) == f"bin.000001:{start}"
    assert transaction.size_bytes == end - start
    assert [row.table for row in transaction.rows] == ["test.t", "test.t", "test.u"]
    assert transaction.default_schema == "shop"
    assert transaction.committed_at_us == 1_700_000_000_000_000
    assert transaction.event_time_s == 1_700_000_000
    assert transaction.server_id == 5
    assert transaction.ordinal == 1
    assert transaction.complete


def test_transactions_of_5_5_have_neither_gtid_nor_numbers():
    writer = BinlogWriter(server_version="5.5.62", checksum=False, start=False)
    writer.format_description(has_field=False)
    for _ in range(2):
        writer.query("BEGIN")
        write_rows(writer, 1)
        writer.xid()
    writer.query("CREATE TABLE x (a INT)")
    kinds = [(t.kind, t.gtid, t.sequence_number) for t in transactions_of(writer.data)]
    assert kinds == [(LoggedKind.ROWS, "", None)] * 2 + [(LoggedKind.DDL, "", None)]


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("create /* c */ table t (a int)", LoggedKind.DDL),
        ("/*!50003 CREATE*/ /*!50020 DEFINER=`a`@`b`*/ TRIGGER x", LoggedKind.DDL),
        ("/*M!100501 ALTER*/ TABLE t ADD a INT", LoggedKind.DDL),
        ("-- note\nTRUNCATE t", LoggedKind.DDL),
        ("SET PASSWORD FOR a = 'b'", LoggedKind.DDL),
        ("INSERT INTO t VALUES (1)", LoggedKind.STATEMENT),
        ("WITH a AS (SELECT 1) DELETE FROM t", LoggedKind.STATEMENT),
        ("(SELECT 1)", LoggedKind.STATEMENT),
        ("XA COMMIT X'61',X'',1", LoggedKind.XA),
        ("XA ROLLBACK X'61',X'',1", LoggedKind.XA),
    ],
)
def test_single_statement_is_a_transaction_of_its_kind(sql, kind):
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query(sql)
    writer.gtid(2, last_committed=0, sequence_number=2)
    writer.query(sql)
    transactions = transactions_of(writer.data)
    assert [transaction.kind for transaction in transactions] == [kind, kind]
    assert transactions[0].statements == (sql,)
    assert all(transaction.complete for transaction in transactions)
    if kind is LoggedKind.XA:
        assert transactions[0].xa_id == "X'61',X'',1"


def test_begin_and_commit_around_nothing_is_empty():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert transaction.kind is LoggedKind.EMPTY
    assert transaction.complete


def test_create_table_select_is_ddl_with_rows():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    writer.query("CREATE TABLE t (id INT, name TEXT) START TRANSACTION")
    write_rows(writer, 1)
    writer.xid()
    (transaction,) = transactions_of(writer.data)
    assert transaction.kind is LoggedKind.DDL
    assert len(transaction.rows) == 1


def test_statement_beside_rows_makes_the_whole_a_statement():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1, flags=1)
    writer.query("BEGIN")
    writer.event(5, bytes(9))
    writer.query("INSERT INTO t VALUES (1)")
    write_rows(writer, 2)
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert transaction.kind is LoggedKind.STATEMENT
    assert transaction.flags == {"may_have_sbr"}


def test_comment_in_place_of_a_statement_changes_nothing():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("# Dummy event replacing event type 160")
    writer.query("BEGIN")
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert transaction.kind is LoggedKind.EMPTY


def test_savepoints_and_rollbacks_are_told():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    writer.query("SAVEPOINT `s`")
    write_rows(writer, 1)
    writer.query("ROLLBACK TO `s`")
    writer.query("ROLLBACK")
    (transaction,) = transactions_of(writer.data)
    assert transaction.flags == {"partly_rolled_back", "rolled_back"}
    assert transaction.kind is LoggedKind.ROWS
    assert [len(transaction.rows), len(transaction.lasting_rows)] == [1, 0]


@pytest.mark.parametrize(
    ("course", "left"),
    [
        ([1, "SAVEPOINT `s`", 2, "ROLLBACK TO `s`", 3], [1, 3]),
        ([1, "SAVEPOINT `S 1`", 2, "/* app */ rollback work to savepoint `s 1`", 3], [1, 3]),
        ([1, "SAVEPOINT `a`", 2, "SAVEPOINT `b`", 3, "ROLLBACK TO `b`", 4], [1, 2, 4]),
        ([1, "SAVEPOINT `a`", 2, "SAVEPOINT `b`", 3, "ROLLBACK TO `a`", 4], [1, 4]),
        (["SAVEPOINT `a`", 1, "ROLLBACK TO `a`", 2, "ROLLBACK TO `a`", 3], [3]),
        ([1, "SAVEPOINT `a`", 2, "SAVEPOINT `a`", 3, "ROLLBACK TO `a`", 4], [1, 2, 4]),
    ],
)
def test_rows_after_a_savepoint_do_not_last_beyond_the_return_to_it(course, left):
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    for one in course:
        if isinstance(one, int):
            write_rows(writer, one)
        else:
            writer.query(one)
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert [row.after[0] for row in transaction.lasting_rows] == left
    assert len(transaction.rows) == sum(isinstance(one, int) for one in course)


def test_xa_prepare_holds_the_rows_and_ends_at_its_event():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("XA START X'61',X'',1")
    write_rows(writer, 1)
    writer.query("XA END X'61',X'',1")
    writer.event(38, struct.pack("<BiII", 0, 1, 1, 0) + b"a")
    writer.gtid(2, last_committed=1, sequence_number=2)
    writer.query("XA COMMIT X'61',X'',1")
    prepare, finish = transactions_of(writer.data)
    assert (prepare.kind, prepare.xa_id, len(prepare.rows)) == (LoggedKind.XA, "X'61',X'',1", 1)
    assert (finish.kind, finish.xa_id) == (LoggedKind.XA, "X'61',X'',1")
    assert "prepared_xa" in prepare.flags
    assert "completed_xa" in finish.flags


def test_xa_in_one_phase_is_told_from_a_prepare():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("XA START X'61',X'',1")
    write_rows(writer, 1)
    writer.query("XA END X'61',X'',1")
    writer.event(38, struct.pack("<BiII", 1, 1, 1, 0) + b"a")
    (transaction,) = transactions_of(writer.data)
    assert transaction.flags == {"one_phase_xa"}


def test_view_change_is_its_own_kind():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=0)
    writer.query("BEGIN")
    writer.event(37, b"1:2".ljust(40, b"\0") + struct.pack("<QI", 1, 0))
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert transaction.kind is LoggedKind.VIEW_CHANGE
    assert (transaction.last_committed, transaction.sequence_number) == (0, 0)


def test_incident_stands_alone_with_its_message():
    writer = BinlogWriter()
    writer.event(26, struct.pack("<HB", 1, 4) + b"lost")
    write_transaction(writer, 1, 1)
    incident, after = transactions_of(writer.data)
    assert (incident.kind, incident.statements) == (LoggedKind.INCIDENT, ("lost",))
    assert after.kind is LoggedKind.ROWS


def _mariadb(writer: BinlogWriter, sequence: int, **options: object) -> None:
    writer.mariadb_gtid(sequence, **options)
    writer.table_map(COLUMNS, metadata=METADATA)
    writer.rows(23, COLUMNS, [(sequence, "x")])
    writer.xid(sequence)


def test_mariadb_groups_domains_and_flags_are_kept():
    writer = BinlogWriter(server_version=MARIADB, server_id=3)
    _mariadb(writer, 5, domain=2, commit_id=77)
    _mariadb(writer, 6, domain=2, commit_id=77)
    writer.mariadb_gtid(7, flags=0x29)
    writer.query("DROP TABLE t")
    _mariadb(writer, 8)
    transactions = transactions_of(writer.data)
    assert [t.gtid for t in transactions] == ["2-3-5", "2-3-6", "0-3-7", "0-3-8"]
    assert [t.commit_id for t in transactions] == [77, 77, None, None]
    assert [t.domain for t in transactions] == [2, 2, 0, 0]
    assert transactions[2].kind is LoggedKind.DDL
    assert transactions[2].flags == {"standalone", "allow_parallel", "ddl"}
    assert transactions[0].flags == {"transactional", "allow_parallel"}
    assert all(t.complete and t.sequence_number is None for t in transactions)


def test_mariadb_statement_group_ends_at_commit_not_at_its_statement():
    writer = BinlogWriter(server_version=MARIADB)
    writer.mariadb_gtid(1)
    writer.query("INSERT INTO t VALUES (1)")
    writer.query("INSERT INTO t VALUES (2)")
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert len(transaction.statements) == 2
    assert transaction.complete


@pytest.mark.parametrize("scheduled", [(7, b"g", b"b"), (7, b"?", b"b")])
def test_mariadb_xa_prepare_and_finish_share_the_xid_of_their_statements(scheduled):
    writer = BinlogWriter(server_version=MARIADB)
    writer.mariadb_gtid(1, flags=0x4C, xid=(7, b"g", b"b"))
    writer.table_map(COLUMNS)
    writer.rows(23, COLUMNS, [(1, "x")])
    writer.query("XA END X'67',X'62',7")
    writer.event(38, struct.pack("<BiII", 0, 7, 1, 1) + b"gb")
    writer.mariadb_gtid(2, flags=0x8D, xid=scheduled)
    writer.query("XA COMMIT X'67',X'62',7")
    prepare, finish = transactions_of(writer.data)
    assert prepare.xa_id == finish.xa_id == "X'67',X'62',7"
    assert prepare.kind is finish.kind is LoggedKind.XA
    assert "prepared_xa" in prepare.flags
    assert "completed_xa" in finish.flags
