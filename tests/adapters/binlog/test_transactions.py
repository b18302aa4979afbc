from __future__ import annotations

import struct

import pytest

from adapters.binlog.open_transaction import STATEMENTS_MAX
from adapters.binlog.report import LogReport
from adapters.binlog.transactions import ROWS_BATCH
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import SOURCE_UUID, BinlogWriter, optional_metadata
from tests.builders.log_reading import transactions_of
from vocabulary.log import DDL_CHARACTERS_MAX, STATEMENT_CHARACTERS_MAX, LoggedKind

COLUMNS = [spec.integer(4).named("id", nullable=False), spec.varchar(100).named("name")]
METADATA = optional_metadata(COLUMNS, primary_key=[0])
MARIADB = "10.11.19-MariaDB"


def _rows(writer: BinlogWriter, *ids: int, table: str = "t") -> None:
    writer.table_map(COLUMNS, table=table, metadata=METADATA)
    writer.rows(30, COLUMNS, [(number, "x") for number in ids])


def _mysql_transaction(writer: BinlogWriter, number: int, *ids: int, lc: int = 0) -> None:
    writer.gtid(number, last_committed=lc, sequence_number=number)
    writer.query("BEGIN")
    _rows(writer, *ids)
    writer.xid(number)


def test_rows_between_gtid_and_xid_are_one_transaction():
    writer = BinlogWriter(server_id=5)
    start = writer.gtid(
        7, last_committed=2, sequence_number=3, immediate_us=1_700_000_000_000_000, length=1
    )
    writer.query("BEGIN", schema="shop")
    _rows(writer, 1, 2)
    _rows(writer, 3, table="u")
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
        _rows(writer, 1)
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
    _rows(writer, 1)
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
    _rows(writer, 2)
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
    _rows(writer, 1)
    writer.query("ROLLBACK TO `s`")
    writer.query("ROLLBACK")
    (transaction,) = transactions_of(writer.data)
    assert transaction.flags == {"partly_rolled_back", "rolled_back"}
    assert transaction.kind is LoggedKind.ROWS


def test_xa_prepare_holds_the_rows_and_ends_at_its_event():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("XA START X'61',X'',1")
    _rows(writer, 1)
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
    _rows(writer, 1)
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
    _mysql_transaction(writer, 1, 1)
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


def test_mariadb_xa_prepare_and_finish_share_their_xid():
    writer = BinlogWriter(server_version=MARIADB)
    writer.mariadb_gtid(1, flags=0x4C, xid=(7, b"g", b"b"))
    writer.table_map(COLUMNS)
    writer.rows(23, COLUMNS, [(1, "x")])
    writer.query("XA END X'67',X'62',7")
    writer.event(38, struct.pack("<BiII", 0, 7, 1, 1) + b"gb")
    writer.mariadb_gtid(2, flags=0x8D, xid=(7, b"g", b"b"))
    writer.query("XA COMMIT X'67',X'62',7")
    prepare, finish = transactions_of(writer.data)
    assert prepare.xa_id == finish.xa_id == "X'67',X'62',7"
    assert prepare.kind is finish.kind is LoggedKind.XA
    assert "prepared_xa" in prepare.flags
    assert "completed_xa" in finish.flags


def test_next_file_starts_a_new_run_of_the_clock():
    files = []
    for number in (1, 2, 3):
        writer = BinlogWriter()
        if number != 2:  # a file without transactions is not a run
            _mysql_transaction(writer, 1, 1)
            _mysql_transaction(writer, 2, 2, lc=1)
        writer.rotate(f"bin.{number + 1:06d}")
        files.append(writer.data)
    transactions = transactions_of(*files)
    assert [t.clock for t in transactions] == [0, 0, 1, 1]
    assert [t.ordinal for t in transactions] == [1, 2, 3, 4]
    assert [t.start.file for t in transactions] == ["bin.000001"] * 2 + ["bin.000003"] * 2


def test_numbers_that_fall_back_in_one_file_stay_in_one_run():
    writer = BinlogWriter()
    for number in (5, 6, 1):
        _mysql_transaction(writer, number, number)
    assert [t.clock for t in transactions_of(writer.data)] == [0, 0, 0]


def test_group_replication_marker_before_falling_numbers_starts_a_run():
    writer = BinlogWriter()
    for number in (2, 3, 0, 4, 0, 2):
        writer.gtid(9, last_committed=0, sequence_number=number)
        writer.query("BEGIN")
        writer.query("COMMIT")
    assert [t.clock for t in transactions_of(writer.data)] == [0, 0, 0, 0, 0, 1]


def test_relay_log_keeps_one_run_until_the_source_rotates():
    relay = BinlogWriter(start=False)
    relay.format_description(flags=0x40)
    relay.rotate("source.000001", flags=0x20, end_position=0)
    relay.format_description(end_position=0)  # sent on connecting in mid-file
    _mysql_transaction(relay, 8, 1)
    relay.rotate("source.000001", flags=0x20, end_position=0)
    relay.format_description()  # and on connecting again, as if from its start
    _mysql_transaction(relay, 9, 2)
    relay.rotate("relay.000002", flags=0x40)
    second = BinlogWriter(start=False)
    second.format_description(flags=0x40)
    second.format_description(flags=0x20, end_position=0)
    _mysql_transaction(second, 10, 3)
    second.rotate("source.000002")  # the source's next file
    second.rotate("source.000002", flags=0x20, end_position=0)
    second.format_description()
    _mysql_transaction(second, 1, 4)
    report = LogReport()
    transactions = transactions_of(relay.data, second.data, report=report)
    assert [t.clock for t in transactions] == [0, 0, 0, 1]
    assert all(file.is_relay_log for file in report.files)


def test_transaction_may_span_two_relay_logs():
    first = BinlogWriter(start=False)
    first.format_description(flags=0x40)
    first.gtid(1, last_committed=0, sequence_number=1)
    first.query("BEGIN")
    _rows(first, 1)
    first.rotate("relay.000002", flags=0x40)
    second = BinlogWriter(start=False)
    second.format_description(flags=0x40)
    _rows(second, 2)
    second.xid()
    (transaction,) = transactions_of(first.data, second.data)
    assert transaction.complete
    assert [row.after for row in transaction.rows] == [(1, "x"), (2, "x")]
    assert [row.position.file for row in transaction.rows] == ["bin.000001", "bin.000002"]
    assert transaction.start.file == "bin.000001"


def test_transaction_never_spans_two_files_of_a_source():
    first = BinlogWriter()
    first.gtid(1, last_committed=0, sequence_number=1)
    first.query("BEGIN")
    _rows(first, 1)
    second = BinlogWriter()
    _mysql_transaction(second, 1, 2)
    half, whole = transactions_of(first.data, second.data)
    assert (half.complete, whole.complete) == (False, True)
    assert half.end_offset == len(first.data)


def test_gtid_inside_a_transaction_shows_the_first_to_be_half():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    _rows(writer, 1)
    _mysql_transaction(writer, 2, 2)
    assert [t.complete for t in transactions_of(writer.data)] == [False, True]


def test_rows_before_any_beginning_are_half_a_transaction():
    writer = BinlogWriter()
    _rows(writer, 1)
    writer.xid()
    _mysql_transaction(writer, 2, 2)
    assert [t.complete for t in transactions_of(writer.data)] == [False, True]


def test_fault_keeps_what_was_before_and_reads_the_next_file():
    first = BinlogWriter()
    _mysql_transaction(first, 1, 1)
    first.gtid(2, last_committed=1, sequence_number=2)
    cut = first.query("BEGIN")
    second = BinlogWriter()
    _mysql_transaction(second, 3, 3)
    report = LogReport()
    transactions = transactions_of(first.data[: cut + 25], b"junk", second.data, report=report)
    assert [t.complete for t in transactions] == [True, False, True]
    cut_file, junk, good = report.files
    assert [d.code for d in report.diagnostics()] == ["P104", "P102"]
    assert cut_file.diagnostics[0].where == f"bin.000001:{cut}"
    assert cut_file.transactions == 2
    assert cut_file.incomplete_transactions == 1
    assert not junk.events
    assert good.read_to_end
    assert not report.read_to_end
    assert not report.nothing_read


def test_missing_file_is_reported_not_raised(tmp_path):
    from adapters.binlog.transactions import read_transactions

    report = LogReport()
    assert list(read_transactions([str(tmp_path / "none")], report=report)) == []
    assert report.nothing_read
    assert [d.code for d in report.diagnostics()] == ["P101"]


def test_report_counts_and_names_what_was_in_the_file():
    writer = BinlogWriter()
    writer.previous_gtids({SOURCE_UUID: [(1, 9)]})
    _mysql_transaction(writer, 10, 1, 2, 3)
    writer.event(99, b"?")
    writer.rotate("bin.000002")
    report = LogReport()
    transactions_of(writer.data, report=report)
    (file,) = report.files
    assert file.server_version == "8.0.36"
    assert file.checksums == ["CRC32"]
    assert file.previous_gtids == f"{SOURCE_UUID}:1-9"
    assert (file.rows, file.transactions, file.bytes_read) == (3, 1, len(writer.data))
    assert (file.closed, file.next_file) == (True, "bin.000002")
    assert file.events["WRITE_ROWS"] == 1
    assert file.unknown_events == {99: 1}
    assert file.events.total() == 9
    assert not file.is_relay_log


def test_unclosed_file_of_mariadb_reports_its_state():
    writer = BinlogWriter(server_version=MARIADB, in_use=True)
    writer.mariadb_gtid_list([(0, 1, 5), (1, 1, 2)])
    report = LogReport()
    assert transactions_of(writer.data, report=report) == []
    assert report.files[0].gtid_list == ("0-1-5", "1-1-2")
    assert not report.files[0].closed


def test_table_definitions_are_announced_before_their_rows_and_when_they_change():
    seen = []
    writer = BinlogWriter()
    _mysql_transaction(writer, 1, 1)
    _mysql_transaction(writer, 2, 2)
    writer.gtid(3, last_committed=2, sequence_number=3)
    writer.query("BEGIN")
    writer.table_map([*COLUMNS, spec.integer(1).named("new")])
    writer.rows(30, [*COLUMNS, spec.integer(1)], [(1, "x", 5)])
    writer.xid()
    transactions = transactions_of(
        writer.data,
        on_table_map=seen.append,
        on_rows=lambda _transaction, rows: seen.extend(row.after for row in rows),
    )
    assert [entry if isinstance(entry, tuple) else entry.column_count for entry in seen] == [
        2, (1, "x"), (2, "x"), 3, (1, b"x", 5),
    ]  # fmt: skip
    assert seen[0].table_schema().unique_keys[0].name == "PRIMARY"
    assert [t.rows for t in transactions] == [[], [], []]


def test_rows_taken_in_batches_are_all_rows():
    batches = []
    writer = BinlogWriter()
    count = 2 * ROWS_BATCH + 5
    _mysql_transaction(writer, 1, *range(count))
    report = LogReport()
    (transaction,) = transactions_of(
        writer.data, on_rows=lambda owner, rows: batches.append((owner, rows)), report=report
    )
    assert [len(rows) for _, rows in batches] == [ROWS_BATCH, ROWS_BATCH, 5]
    assert all(owner is transaction for owner, _ in batches)
    assert report.files[0].rows == count


def test_huge_transaction_keeps_what_it_may_and_names_the_rest():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    _rows(writer, *range(10))
    _rows(writer, *range(10), table="big")
    _rows(writer, *range(10), table="big")
    writer.xid()
    _mysql_transaction(writer, 2, 1)
    report = LogReport()
    huge, small = transactions_of(writer.data, row_bytes_max=100, report=report)
    assert huge.undecoded_tables == {"test.big"}
    assert {row.table for row in huge.rows} == {"test.t"}
    assert huge.complete
    assert small.undecoded_tables == frozenset()
    assert [(d.code, d.ends_file) for d in report.diagnostics()] == [("P110", False)]


def test_rows_of_undecodable_table_are_named_and_the_log_goes_on():
    columns = [spec.ColumnSpec(code=144, encode=bytes)]
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    writer.table_map(columns, table="odd")
    writer.rows(30, columns, [], row_data=b"\0???")
    writer.xid()
    _mysql_transaction(writer, 2, 1)
    report = LogReport()
    odd, good = transactions_of(writer.data, report=report)
    assert odd.undecoded_tables == {"test.odd"}
    assert odd.kind is LoggedKind.ROWS
    assert len(good.rows) == 1
    assert "type 144" in next(report.diagnostics()).text


def test_rows_without_their_table_map_are_named_but_the_dummy_event_is_nothing():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    writer.rows(30, COLUMNS, [(1, "x")], table_id=99, ends_statement=False)
    writer.rows(30, COLUMNS, [], table_id=0xFFFFFF)
    writer.xid()
    (transaction,) = transactions_of(writer.data)
    assert transaction.undecoded_tables == {"table id 99"}


def test_endless_statements_of_one_transaction_are_not_all_kept():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    for number in range(STATEMENTS_MAX + 5):
        writer.query(f"INSERT INTO t VALUES ({number})")
    writer.query("COMMIT")
    (transaction,) = transactions_of(writer.data)
    assert len(transaction.statements) == STATEMENTS_MAX
    assert transaction.kind is LoggedKind.STATEMENT


def test_long_statements_are_cut_ddl_later_than_others():
    writer = BinlogWriter()
    for number, word in ((1, "INSERT"), (2, "CREATE")):
        writer.gtid(number, last_committed=0, sequence_number=number)
        writer.query(word + " " + "x" * 200_000)
    lengths = [len(t.statements[0]) for t in transactions_of(writer.data)]
    assert lengths == [STATEMENT_CHARACTERS_MAX, DDL_CHARACTERS_MAX]
