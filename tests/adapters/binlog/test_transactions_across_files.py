"""Transactions of several files: runs of the clock, relay logs, halves and faults."""

from __future__ import annotations

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.transactions import read_transactions
from tests.builders.binlog_writer import BinlogWriter
from tests.builders.log_reading import transactions_of
from tests.builders.small_transactions import (
    write_rows,
    write_transaction,
)


def test_next_file_starts_a_new_run_of_the_clock():
    files = []
    for number in (1, 2, 3):
        writer = BinlogWriter()
        if number != 2:  # a file without transactions is not a run
            write_transaction(writer, 1, 1)
            write_transaction(writer, 2, 2, lc=1)
        writer.rotate(f"bin.{number + 1:06d}")
        files.append(writer.data)
    transactions = transactions_of(*files)
    assert [t.clock for t in transactions] == [0, 0, 1, 1]
    assert [t.ordinal for t in transactions] == [1, 2, 3, 4]
    assert [t.start.file for t in transactions] == ["bin.000001"] * 2 + ["bin.000003"] * 2


def test_numbers_that_fall_back_in_one_file_stay_in_one_run():
    writer = BinlogWriter()
    for number in (5, 6, 1):
        write_transaction(writer, number, number)
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
    write_transaction(relay, 8, 1)
    relay.rotate("source.000001", flags=0x20, end_position=0)
    relay.format_description()  # and on connecting again, as if from its start
    write_transaction(relay, 9, 2)
    relay.rotate("relay.000002", flags=0x40)
    second = BinlogWriter(start=False)
    second.format_description(flags=0x40)
    second.format_description(flags=0x20, end_position=0)
    write_transaction(second, 10, 3)
    second.rotate("source.000002")  # the source's next file
    second.rotate("source.000002", flags=0x20, end_position=0)
    second.format_description()
    write_transaction(second, 1, 4)
    report = LogReport()
    transactions = transactions_of(relay.data, second.data, report=report)
    assert [t.clock for t in transactions] == [0, 0, 0, 1]
    assert all(file.is_relay_log for file in report.files)


def test_transaction_may_span_two_relay_logs():
    first = BinlogWriter(start=False)
    first.format_description(flags=0x40)
    first.gtid(1, last_committed=0, sequence_number=1)
    first.query("BEGIN")
    write_rows(first, 1)
    first.rotate("relay.000002", flags=0x40)
    second = BinlogWriter(start=False)
    second.format_description(flags=0x40)
    write_rows(second, 2)
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
    write_rows(first, 1)
    second = BinlogWriter()
    write_transaction(second, 1, 2)
    half, whole = transactions_of(first.data, second.data)
    assert (half.complete, whole.complete) == (False, True)
    assert half.end_offset == len(first.data)


def test_gtid_inside_a_transaction_shows_the_first_to_be_half():
    writer = BinlogWriter()
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    write_rows(writer, 1)
    write_transaction(writer, 2, 2)
    assert [t.complete for t in transactions_of(writer.data)] == [False, True]


def test_rows_before_any_beginning_are_half_a_transaction():
    writer = BinlogWriter()
    write_rows(writer, 1)
    writer.xid()
    write_transaction(writer, 2, 2)
    assert [t.complete for t in transactions_of(writer.data)] == [False, True]


def test_fault_keeps_what_was_before_and_reads_the_next_file():
    first = BinlogWriter()
    write_transaction(first, 1, 1)
    first.gtid(2, last_committed=1, sequence_number=2)
    cut = first.query("BEGIN")
    second = BinlogWriter()
    write_transaction(second, 3, 3)
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


def test_missing_file_is_reported_not_raised(tmp_path):
    report = LogReport()
    assert list(read_transactions([str(tmp_path / "none")], report=report)) == []
    assert not any(file.events for file in report.files)
    assert [d.code for d in report.diagnostics()] == ["P101"]


def test_relay_log_that_begins_inside_a_transaction_says_so():
    relay = BinlogWriter(start=False)
    relay.format_description(flags=0x40)
    write_rows(relay, 2)
    relay.xid()
    write_transaction(relay, 2, 2)
    begun, whole = transactions_of(relay.data)
    assert (begun.complete, begun.lacks_beginning) == (False, True)
    assert (whole.complete, whole.lacks_beginning) == (True, False)
