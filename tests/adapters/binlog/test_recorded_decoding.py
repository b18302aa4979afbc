"""Every shipped log, decoded, beside the text its own server printed and the rows it had."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.binlog.charsets import collation_of
from adapters.binlog.report import LogReport
from adapters.binlog.table_map import TableMap
from adapters.binlog.transactions import read_transactions
from tests.builders.canonical_rows import canonical_row
from tests.builders.text_twins import read_twin
from tests.builders.twin_values import is_printed_as
from vocabulary.log import ABSENT, LoggedKind, LoggedTransaction, Operation, RowImage

RECORDED = Path(__file__).resolve().parents[2] / "fixtures" / "binlogs"
SCENARIOS = sorted(path.parent for path in RECORDED.glob("*/*/manifest.json"))
READABLE = [folder for folder in SCENARIOS if (folder / "expected").is_dir()]
FILES = [
    (folder, entry["file"])
    for folder in READABLE
    for log in json.loads((folder / "manifest.json").read_text())["logs"].values()
    for entry in log["files"]
]


def _name(value: object) -> str:
    return f"{value.parent.name}/{value.name}" if isinstance(value, Path) else str(value)


def _decode(*files: Path) -> tuple[list[tuple[LoggedTransaction, dict[str, TableMap]]], LogReport]:
    """Return the transactions, each with the table definitions known after it."""
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


def test_logs_of_both_servers_are_shipped():
    assert {folder.parent.name.split("-")[0] for folder in SCENARIOS} == {"mariadb", "mysql"}
    assert len(FILES) > 50


@pytest.mark.parametrize(("folder", "file"), FILES, ids=_name)
def test_recorded_log_decodes_to_what_its_server_printed(folder, file):
    twin = read_twin(gzip.decompress((folder / "expected" / f"{file}.txt.gz").read_bytes()))
    decoded, report = _decode(folder / file)
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


@pytest.mark.parametrize("folder", READABLE, ids=_name)
def test_recorded_log_holds_as_much_as_its_manifest_says(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for log in manifest["logs"].values():
        for entry in log["files"]:
            decoded, _ = _decode(folder / entry["file"])
            operations = Counter(row.operation for t, _ in decoded for row in t.rows)
            assert {
                "transactions": len(decoded),
                "inserts": operations[Operation.INSERT],
                "updates": operations[Operation.UPDATE],
                "deletes": operations[Operation.DELETE],
            } == {name: entry[name] for name in ("transactions", "inserts", "updates", "deletes")}


@pytest.mark.parametrize("name", ["load-minimal-metadata", "load-full-metadata", "rotation"])
@pytest.mark.parametrize("server", sorted({folder.parent.name for folder in SCENARIOS}))
def test_recorded_load_has_commit_groups_of_several_members(server, name):
    """Without them every safety check over these logs would hold for want of anything to do."""
    files = sorted((RECORDED / server / name).glob("bin.*"))
    transactions = [transaction for transaction, _ in _decode(*files)[0]]
    if server.startswith("mariadb"):
        groups = Counter(t.commit_id for t in transactions if t.commit_id is not None)
        assert max(groups.values()) > 2
    else:
        spans = [t.sequence_number - t.last_committed for t in transactions]
        assert max(spans) > 2


def test_encrypted_log_is_refused_by_name():
    (folder,) = [folder for folder in SCENARIOS if folder.name == "encrypted"]
    _, report = _decode(folder / "bin.000001")
    assert "P103" in {diagnostic.code for diagnostic in report.diagnostics()}


Decoded = tuple[LoggedTransaction, dict[str, TableMap]]


def _applied(decoded: list[Decoded]) -> Iterator[Decoded]:
    """Yield transactions as they take effect: XA when it is finished, not when it is prepared."""
    prepared: dict[str, LoggedTransaction] = {}
    for transaction, tables in decoded:
        if transaction.kind is not LoggedKind.XA or "one_phase_xa" in transaction.flags:
            yield transaction, tables
        elif transaction.rows:
            prepared[transaction.xa_id] = transaction
        elif not transaction.statements[0].startswith("XA ROLLBACK"):
            yield prepared.pop(transaction.xa_id), tables


CASCADED = {"shop.purchase"}
"""Rows that the engine's cascades delete without a word in the log."""
REBUILT = [
    folder
    for folder in READABLE
    if folder.name.split("-")[0] in ("load", "compressed", "rotation", "restart", "keys", "types",
                                     "no", "crash", "domains", "tags", "anonymous", "xa", "partial")
    and not folder.name.endswith(
        ("minimal-image", "noblob-image", "types-minimal", "partial-json")
    )
]  # fmt: skip


@pytest.mark.parametrize("folder", REBUILT, ids=_name)
def test_rows_rebuilt_from_the_log_are_the_rows_the_server_had(folder):
    truth = json.loads(gzip.decompress((folder / "rows.json.gz").read_bytes()))
    decoded, _ = _decode(*sorted(folder.glob("bin.*")))
    rebuilt: dict[str, Counter[tuple[str | None, ...]]] = {name: Counter() for name in truth}
    for transaction, tables in _applied(decoded):
        for row in transaction.rows:
            columns = truth[row.table]
            wire = tables[row.table].columns
            bag = rebuilt[row.table]
            if row.before is not None:
                image = canonical_row(row.before, columns, wire)
                assert bag[image] > 0, f"{row.position}: no such row in {row.table}: {image}"
                bag[image] -= 1
            if row.after is not None:
                bag[canonical_row(row.after, columns, wire)] += 1
    for table, content in truth.items():
        if table not in CASCADED:
            assert +rebuilt[table] == Counter(map(tuple, content["rows"])), table


def test_recorded_tables_name_collations_that_are_known():
    for folder in READABLE:
        decoded, _ = _decode(*sorted(folder.glob("bin.*")))
        for table in {id(t): t for _, tables in decoded for t in tables.values()}.values():
            for column in table.columns:
                assert column.collation is None or collation_of(column.collation), column
