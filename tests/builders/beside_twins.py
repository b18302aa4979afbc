"""A log as we decode it, held against the text that its server printed of it."""

from __future__ import annotations

from pathlib import Path

from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.table_map import TableMap
from paraply.adapters.binlog.transactions import read_transactions
from paraply.vocabulary.log import ABSENT, LoggedTransaction, RowImage
from tests.builders.text_twins import read_twin
from tests.builders.twin_values import is_printed_as

Decoded = tuple[LoggedTransaction, dict[str, TableMap]]
"""A transaction, and the table definitions known after it."""


def decode_logs(*files: Path) -> tuple[list[Decoded], LogReport]:
    """Return what we make of some files, read as one stream."""
    report = LogReport()
    tables: dict[str, TableMap] = {}
    found = []
    for transaction in read_transactions(
        [str(file) for file in files],
        report=report,
        on_table_map=lambda table: tables.update({table.name: table}),
    ):
        found.append((transaction, dict(tables)))
    return found, report


def assert_decodes_as_printed(file: Path, text: bytes) -> None:
    """Compare GTIDs, clocks, commit ids, tables, operations and every printed value."""
    twin = read_twin(text)
    decoded, report = decode_logs(file)
    assert [diagnostic.text for diagnostic in report.diagnostics()] == []
    ours = [transaction for transaction, _ in decoded]
    assert [(t.gtid, t.last_committed, t.sequence_number, t.commit_id) for t in ours] == [
        (t.gtid, t.last_committed, t.sequence_number, t.commit_id) for t in twin
    ]
    for (transaction, tables), printed in zip(decoded, twin, strict=True):
        assert [(row.operation.value, row.table) for row in transaction.rows] == [
            (row.operation, row.table) for row in printed.rows
        ]
        for row, shown in zip(transaction.rows, printed.rows, strict=True):
            where = f"{row.position} {row.table}"
            _compare(row.before, shown.before, tables[row.table], shown.stops, f"{where} before")
            _compare(row.after, shown.after, tables[row.table], shown.stops, f"{where} after")


def _compare(
    image: RowImage | None,
    printed: dict[int, bytes] | None,
    table: TableMap,
    stops: bool,
    where: str,
) -> None:
    assert (image is None) == (printed is None) or stops, where
    if image is None or printed is None:
        return
    present = {number: value for number, value in enumerate(image, 1) if value is not ABSENT}
    assert list(present) == list(printed) or stops, where
    for number in printed:
        value = present[number]
        column = table.columns[number - 1]
        assert is_printed_as(value, printed[number], column), (
            f"{where} @{number} {column}: decoded {value!r:.200}, printed {printed[number]!r:.200}"
        )
