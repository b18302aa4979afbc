"""Logs of real servers, from public projects; read in place, skipped where they are absent."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from paraply.adapters.binlog.partial_json import DiffOperation, JsonDiff, PartialJson
from paraply.adapters.binlog.report import LogReport
from paraply.adapters.binlog.transactions import read_transactions
from paraply.vocabulary.log import ABSENT, LoggedKind, LoggedTransaction, RowChange, RowImage
from tests.builders.dump_rows import dumped_rows

RUST = "blackbeam__rust_mysql_common"
JAVA = "osheroff__mysql-binlog-connector-java"
ZALORA = "zalora__binlog-parser"
PERCONA = "Percona-Lab__percona-binlog-server"


def _read(corpus: Path, *names: str) -> tuple[list[LoggedTransaction], LogReport]:
    paths = [corpus / name for name in names]
    for path in paths:
        if not path.is_file():
            pytest.skip(f"no {path}")
    report = LogReport()
    return list(read_transactions([str(path) for path in paths], report=report)), report


def _rows(transactions: list[LoggedTransaction]) -> list[RowChange]:
    return [row for transaction in transactions for row in transaction.rows]


def _printed(image: RowImage | None) -> dict[int, str]:
    if image is None:
        return {}
    return {
        position: f"'{value.decode()}'" if isinstance(value, bytes) else str(value)
        for position, value in enumerate(image, start=1)
        if value is not ABSENT
    }


@pytest.mark.parametrize(("number", "rows"), [("01", 10), ("03", 7), ("07", 2)])
def test_zaloras_dumps_say_the_same_as_their_logs(corpus, number, rows):
    transactions, report = _read(corpus, f"{ZALORA}/mysql-bin.{number}")
    text = (corpus / ZALORA / f"plaintext-mysql-bin.{number}").read_text()
    dumped = list(dumped_rows(text))
    decoded = _rows(transactions)
    assert len(dumped) == len(decoded) == rows
    for ours, theirs in zip(decoded, dumped, strict=True):
        assert (ours.operation.value, ours.table) == (theirs.operation, theirs.table)
        assert (_printed(ours.before), _printed(ours.after)) == (theirs.before, theirs.after)
    positions = [int(line[5:]) for line in text.splitlines() if line.startswith("# at ")]
    assert report.files[0].events.total() == len(positions)
    assert {transaction.start.offset for transaction in transactions} <= set(positions)
    assert report.read_to_end


def test_mariadb_10_0_log_has_its_gtids(corpus):
    transactions, report = _read(corpus, f"{ZALORA}/mysql-bin.07")
    assert [(t.gtid, t.kind) for t in transactions] == [
        ("0-3704-2815", LoggedKind.DDL),
        ("0-3704-2816", LoggedKind.ROWS),
    ]
    assert report.files[0].gtid_list == ("0-3704-2814",)
    assert report.files[0].checksums == ["NONE"]


@pytest.mark.parametrize("mode", ["gtid", "position"])
def test_sequence_numbers_restart_with_the_second_file(corpus, mode):
    names = [f"{PERCONA}/{mode}/binlog.00000{number}" for number in (1, 2)]
    transactions, report = _read(corpus, *names)
    assert [(t.clock, t.last_committed, t.sequence_number) for t in transactions] == [
        (0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 4), (1, 0, 1), (1, 1, 2),
    ]  # fmt: skip
    assert report.files[0].next_file == "binlog.000002"
    assert all(t.complete for t in transactions)
    assert [bool(t.gtid) for t in transactions] == [mode == "gtid"] * 6


def test_partial_json_update_without_before_image_keeps_its_diffs(corpus):
    transactions, _ = _read(corpus, f"{RUST}/json.binlog.000001")
    rows = _rows(transactions)
    assert rows[0].after == (1, '{"age": 24, "data": "xxxxxxxxxx", "name": "Joe"}', "Joe", 24)
    partial = PartialJson((JsonDiff(DiffOperation.REPLACE, "$.age", "26"),))
    assert rows[-6].before == (1, ABSENT, ABSENT, ABSENT)
    assert rows[-6].after == (ABSENT, partial, "Joe", 26)


def test_vectors_are_their_bytes_and_text_after_them_is_text(corpus):
    transactions, report = _read(corpus, f"{RUST}/vector.binlog")
    first = _rows(transactions)[0]
    assert first.after is not None
    assert struct.unpack("<3f", first.after[1]) == pytest.approx((1.1, 2.2, 3.3))
    assert len(_rows(transactions)) == 10
    assert report.read_to_end


@pytest.mark.parametrize(
    ("name", "gtid"),
    [(f"{RUST}/transaction_compression.000001", ""), (f"{JAVA}/mysql-bin.compressed", "")],
)
def test_compressed_transactions_give_their_rows(corpus, name, gtid):
    (transaction,), report = _read(corpus, name)
    assert transaction.kind is LoggedKind.ROWS
    assert transaction.gtid == gtid
    assert len(transaction.rows) == 1
    assert transaction.complete
    assert report.files[0].events["TRANSACTION_PAYLOAD"] == 1


def test_tagged_gtid_of_9_6_is_read(corpus):
    (transaction,), report = _read(corpus, f"{RUST}/binlog_transaction_with_GTID_TAG.000001")
    assert transaction.gtid == "55778904-0299-11f1-b1b8-4ef0c4956feb:mytag:3"
    assert (transaction.last_committed, transaction.sequence_number) == (0, 1)
    previous = report.files[0].previous_gtids
    assert previous == "55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2"


def test_minimal_metadata_gives_values_but_no_names(corpus):
    transactions, _ = _read(corpus, f"{RUST}/minimal_row_metadata.000001")
    maps = []
    path = corpus / RUST / "minimal_row_metadata.000001"
    list(read_transactions([str(path)], on_table_map=maps.append))
    assert not maps[0].has_names
    assert not maps[0].table_schema().keys_known
    assert len(_rows(transactions)) == 1


def test_enums_sets_and_long_strings_have_their_members(corpus):
    transactions, _ = _read(corpus, f"{RUST}/mysql-enum-string-set.000001")
    deleted = _rows(transactions)[-1]
    assert deleted.before is not None
    assert deleted.before[:4] == ("field1", "field_2", "variant2", "two,four")


def test_invisible_columns_are_told(corpus):
    path = corpus / RUST / "binlog-invisible-columns.000001"
    if not path.is_file():
        pytest.skip(f"no {path}")
    maps = []
    transactions = list(read_transactions([str(path)], on_table_map=maps.append))
    assert [t.kind.value for t in transactions] == ["ddl", "ddl", "rows", "rows", "rows"]
    visible = [column.visible for column in maps[0].table_schema().columns]
    assert maps[0].has_names is (False in visible)


def test_relay_log_of_5_7_is_read(corpus):
    transactions, report = _read(corpus, f"{RUST}/slave-relay-bin.000001")
    assert [(t.kind, t.last_committed, t.sequence_number) for t in transactions] == [
        (LoggedKind.DDL, 0, 1),
        (LoggedKind.DDL, 1, 2),
    ]
    assert report.read_to_end


def test_padding_of_aurora_is_skipped_and_counted(corpus):
    (transaction,), report = _read(corpus, f"{JAVA}/mysql-bin.aurora-padding")
    assert report.files[0].unknown_events == {100: 1}
    assert (transaction.last_committed, transaction.sequence_number) == (27625, 27636)
    assert not transaction.complete


def test_log_without_checksums_is_read_to_its_end(corpus):
    transactions, report = _read(corpus, f"{JAVA}/mysql-bin.checksum-none")
    assert report.files[0].checksums == ["NONE"]
    assert [t.sequence_number for t in transactions] == list(range(1, 41))
    assert len(_rows(transactions)) == 36


@pytest.mark.parametrize(
    ("name", "offset", "events"),
    [("binlog_truncated_event.000001", 4, 0), ("binlog_truncated_prev_gtid_event.000001", 120, 1)],
)
def test_truncated_logs_say_where_they_end(corpus, name, offset, events):
    transactions, report = _read(corpus, f"{RUST}/{name}")
    assert transactions == []
    (diagnostic,) = report.diagnostics()
    assert diagnostic.code == "P104"
    assert diagnostic.where.endswith(f"{name}:{offset}")
    assert report.files[0].events.total() == events


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("bug27213339-bin.000001", ["ddl"] * 46),
        ("binlog_56_gtid_reserved_word.000001", ["ddl", "ddl", "statement", "rows", "ddl", "ddl"]),
        ("binlog_transaction_with_anonymous_GTID.000001", ["ddl", "statement"]),
        (
            "rpl_cross_version_default_utf8mb4_collation.000001",
            ["ddl", "statement", "statement", "ddl", "ddl"],
        ),
        ("mariadb-bin.000001", ["rows", "rows"]),
    ],
)
def test_other_logs_hold_the_kinds_they_should(corpus, name, kinds):
    transactions, report = _read(corpus, f"{RUST}/{name}")
    assert [t.kind.value for t in transactions] == kinds
    assert all(t.complete for t in transactions)
    assert report.read_to_end
    assert not report.files[0].unknown_events


def test_every_log_of_the_folder_is_read_without_a_fault(corpus):
    """Whatever is added to the folder is read, or says with a code why not."""
    logs = [
        path
        for path in sorted(corpus.rglob("*"))
        if path.is_file() and path.read_bytes()[:4] == b"\xfebin"
    ]
    if not logs:
        pytest.skip(f"no binary logs under {corpus}")
    for path in logs:
        _, report = _read(corpus, str(path.relative_to(corpus)))
        stopped = [diagnostic for diagnostic in report.diagnostics() if diagnostic.ends_file]
        assert bool(stopped) == ("truncated" in path.name), (path, stopped)
