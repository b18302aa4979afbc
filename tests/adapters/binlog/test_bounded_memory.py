"""Memory follows the largest event, not the file and not the transaction."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable

import pytest

from paraply.adapters.binlog.memory import BUDGET
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.source import Source, source_of_stream
from paraply.adapters.binlog.transactions import read_transactions
from tests.builders import column_specs as spec
from tests.builders.binlog_writer import BinlogWriter, inner_writer, optional_metadata

COLUMNS = [spec.integer(4).named("id", nullable=False), spec.varchar(100).named("name")]


class Repeated(io.RawIOBase):
    """A stream of one beginning and then one piece over and over; it is nowhere held whole."""

    def __init__(self, head: bytes, piece: bytes, repeats: int) -> None:
        self._pending = head
        self._piece = piece
        self._left = repeats

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        while self._left and len(self._pending) < len(buffer):
            self._pending += self._piece
            self._left -= 1
        count = min(len(buffer), len(self._pending))
        buffer[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count


def _piece(write: Callable[[BinlogWriter], None]) -> bytes:
    writer = BinlogWriter()
    start = len(writer.data)
    write(writer)
    return bytes(writer.data[start:])


def _source(piece: bytes, repeats: int, *, head: bytes = b"") -> Source:
    raw = Repeated(bytes(BinlogWriter().data) + head, piece, repeats)
    return source_of_stream("bin.000001", io.BufferedReader(raw, 1 << 14))


def _rows(writer: BinlogWriter, count: int) -> None:
    writer.table_map(COLUMNS, metadata=optional_metadata(COLUMNS, primary_key=[0]))
    writer.rows(30, COLUMNS, [(number, "x" * 50) for number in range(count)])


def _transaction(writer: BinlogWriter) -> None:
    writer.gtid(1, last_committed=0, sequence_number=1)
    writer.query("BEGIN")
    _rows(writer, 20)
    writer.xid()


def _peak(read: Callable[[], None]) -> int:
    read()  # what is loaded once is not what grows
    tracemalloc.start()
    try:
        read()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_long_file_of_small_transactions_takes_no_more_than_a_short_one():
    piece = _piece(_transaction)

    def read(repeats: int) -> Callable[[], None]:
        return lambda: _check(sum(1 for _ in read_transactions([_source(piece, repeats)])), repeats)

    short, long = _peak(read(20)), _peak(read(2000))
    assert long < short + (64 << 10)


def _check(seen: int, expected: int) -> None:
    assert seen == expected


@pytest.mark.long
def test_huge_transaction_taken_in_batches_takes_no_more_than_a_small_one():
    head = _piece(lambda writer: (writer.gtid(1), writer.query("BEGIN")))
    piece = _piece(lambda writer: _rows(writer, 200))

    def read(repeats: int) -> Callable[[], None]:
        def run() -> None:
            rows = 0

            def on_rows(_, batch):
                nonlocal rows
                rows += len(batch)

            source = _source(piece, repeats, head=head)
            (transaction,) = read_transactions([source], on_rows=on_rows)
            assert rows == 200 * repeats
            assert not transaction.rows

        return run

    small, huge = _peak(read(5)), _peak(read(300))
    assert huge < small + (64 << 10)


def test_undecodable_rows_in_every_transaction_are_reported_once():
    columns = [spec.ColumnSpec(code=144, encode=bytes)]

    def write(writer: BinlogWriter) -> None:
        writer.gtid(1)
        writer.query("BEGIN")
        writer.table_map(columns)
        writer.rows(30, columns, [], row_data=b"\0?")
        writer.xid()

    report = LogReport()
    transactions = list(read_transactions([_source(_piece(write), 50)], report=report))
    assert len(transactions) == 50
    assert all(transaction.undecoded_tables == {"test.t"} for transaction in transactions)
    assert len(report.files[0].diagnostics) == 1


@pytest.mark.long
def test_many_table_definitions_are_not_all_kept():
    def write(writer: BinlogWriter) -> None:
        for number in range(6000):
            writer.table_map(COLUMNS, table=f"t{number}")
        _rows(writer, 1)
        writer.xid()

    piece = _piece(write)
    seen = []
    source = _source(piece, 2)
    (first, second) = read_transactions([source], on_table_map=seen.append)
    assert len(first.rows) == len(second.rows) == 1
    assert len({table.name for table in seen}) == 6001


def test_event_that_unpacks_to_more_than_the_memory_allows_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(BUDGET, "bytes", 1 << 20)
    data = b"\0" * (1 << 19)
    for write in (
        lambda w: w.rows(169, COLUMNS, [], row_data=data),
        lambda w: w.payload(_inner(data)),
    ):
        writer = BinlogWriter()
        writer.gtid(1, last_committed=0, sequence_number=1)
        writer.query("BEGIN")
        writer.table_map(COLUMNS)
        write(writer)
        report = LogReport()
        list(read_transactions([str(writer.save(tmp_path / "bin.000001"))], report=report))
        [diagnostic] = report.diagnostics()
        assert diagnostic.code == "P111"
        assert "--memory" in diagnostic.remedy


def _inner(data):
    inner = inner_writer()
    inner.event(30, data)
    return inner


def test_many_tiny_rows_count_for_what_they_take(tmp_path, monkeypatch):
    monkeypatch.setattr(BUDGET, "bytes", 1 << 20)
    narrow = [spec.integer(1).named("n")]
    writer = BinlogWriter()
    for number, rows in enumerate((1_000, 3_000), start=1):
        writer.gtid(number, last_committed=number - 1, sequence_number=number)
        writer.query("BEGIN")
        writer.table_map(narrow)
        writer.rows(30, narrow, [(None,)] * rows)
        writer.xid(number)
    few, many = read_transactions([str(writer.save(tmp_path / "bin.000001"))])
    assert (len(few.rows), few.undecoded_tables) == (1_000, frozenset())
    assert (len(many.rows), many.undecoded_tables) == (0, frozenset({"test.t"}))
