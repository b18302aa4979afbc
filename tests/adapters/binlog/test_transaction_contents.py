"""What reading transactions hands on and reports: tables, rows, statements, and their limits."""

from __future__ import annotations

from paraply.adapters.binlog.open_transaction import STATEMENTS_MAX
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.transactions import ROWS_BATCH
from paraply.vocabulary.log import DDL_CHARACTERS_MAX, STATEMENT_CHARACTERS_MAX, LoggedKind
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import SOURCE_UUID, BinlogWriter
from tests.builders.log_reading import transactions_of
from tests.builders.small_transactions import (
    COLUMNS,
    MARIADB,
    write_rows,
    write_transaction,
)


def test_report_counts_and_names_what_was_in_the_file():
    writer = BinlogWriter()
    writer.previous_gtids({SOURCE_UUID: [(1, 9)]})
    write_transaction(writer, 10, 1, 2, 3)
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
    write_transaction(writer, 1, 1)
    write_transaction(writer, 2, 2)
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
    write_transaction(writer, 1, *range(count))
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
    write_rows(writer, *range(10))
    write_rows(writer, *range(10), table="big")
    write_rows(writer, *range(10), table="big")
    writer.xid()
    write_transaction(writer, 2, 1)
    report = LogReport()
    huge, small = transactions_of(writer.data, row_bytes_max=300, report=report)
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
    write_transaction(writer, 2, 1)
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


def test_replacement_that_failed_dropped_its_table_and_other_failures_are_kept_as_written():
    writer = BinlogWriter(server_version=MARIADB)
    writer.query("CREATE OR REPLACE TABLE `a``b`.t (x int)")
    writer.query("CREATE OR REPLACE TABLE `a``b`.t (x int, x int)", error_code=1060)
    writer.query("CREATE OR REPLACE TABLE t (x int, PRIMARY", error_code=1064)
    writer.query("CREATE OR REPLACE VIEW v AS SELECT 1", error_code=1050)
    writer.query("DROP TABLE one, two", error_code=1051)
    found = [txn.statements for txn in transactions_of(writer.data)]
    assert found == [
        ("CREATE OR REPLACE TABLE `a``b`.t (x int)",),
        ("DROP TABLE IF EXISTS `a``b`.`t`",),
        # Its table is unknown afterwards, as with every text that is not understood.
        ("CREATE OR REPLACE TABLE t (x int, PRIMARY",),
        ("CREATE OR REPLACE VIEW v AS SELECT 1",),
        ("DROP TABLE one, two",),
    ]
