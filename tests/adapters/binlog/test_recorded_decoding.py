"""Every shipped log, decoded, beside the text its own server printed and the rows it had."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraply.adapters.binlog.charsets import collation_of
from paraply.vocabulary.log import LoggedKind, LoggedTransaction, Operation
from tests.builders.beside_twins import Decoded, assert_decodes_as_printed, decode_logs
from tests.builders.canonical_rows import canonical_row

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


def test_logs_of_both_servers_are_shipped():
    assert {folder.parent.name.split("-")[0] for folder in SCENARIOS} == {"mariadb", "mysql"}
    assert len(FILES) > 50


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(("folder", "file"), FILES, ids=_name)
def test_recorded_log_decodes_to_what_its_server_printed(folder, file):
    printed = gzip.decompress((folder / "expected" / f"{file}.txt.gz").read_bytes())
    assert_decodes_as_printed(folder / file, printed)


@pytest.mark.parametrize("folder", READABLE, ids=_name)
def test_recorded_log_holds_as_much_as_its_manifest_says(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for log in manifest["logs"].values():
        for entry in log["files"]:
            decoded, _ = decode_logs(folder / entry["file"])
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
    transactions = [transaction for transaction, _ in decode_logs(*files)[0]]
    if server.startswith("mariadb"):
        groups = Counter(t.commit_id for t in transactions if t.commit_id is not None)
        assert max(groups.values()) > 2
    else:
        spans = [t.sequence_number - t.last_committed for t in transactions]
        assert max(spans) > 2


def test_encrypted_log_is_refused_by_name():
    (folder,) = [folder for folder in SCENARIOS if folder.name == "encrypted"]
    _, report = decode_logs(folder / "bin.000001")
    assert "P103" in {diagnostic.code for diagnostic in report.diagnostics()}


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


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("folder", REBUILT, ids=_name)
def test_rows_rebuilt_from_the_log_are_the_rows_the_server_had(folder):
    truth = json.loads(gzip.decompress((folder / "rows.json.gz").read_bytes()))
    decoded, _ = decode_logs(*sorted(folder.glob("bin.*")))
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


@pytest.mark.long
def test_recorded_tables_name_collations_that_are_known():
    for folder in READABLE:
        decoded, _ = decode_logs(*sorted(folder.glob("bin.*")))
        for table in {id(t): t for _, tables in decoded for t in tables.values()}.values():
            for column in table.columns:
                assert column.collation is None or collation_of(column.collation), column


TAMPERED = {
    "value": (rb"(###   @4=\d+\.\d)\d", rb"\g<1>x"),
    "operation": (rb"### INSERT INTO", rb"### DELETE FROM"),
    "table": (rb"(### [A-Z ]+ `shop`\.)`stock`", rb"\g<1>`stork`"),
    "clock": (rb"sequence_number=20\b", b"sequence_number=21"),
    "group": (rb"cid=(\d+)", rb"cid=9\1"),
    "gtid": (rb"(GTID_NEXT= '[0-9a-f-]+:|\tGTID 0-1-)20\b", rb"\g<1>19"),
    "column": (rb"###   @2=.*\n", b""),
}


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("what", TAMPERED)
@pytest.mark.parametrize("server", sorted({folder.parent.name for folder in SCENARIOS}))
def test_comparison_notices_a_tampered_text(server, what):
    folder = RECORDED / server / "load-minimal-metadata"
    text = gzip.decompress((folder / "expected" / "bin.000001.txt.gz").read_bytes())
    pattern, replacement = TAMPERED[what]
    other = re.sub(pattern, replacement, text, count=1)
    if other == text:
        pytest.skip(f"{server} prints no {what}")
    with pytest.raises((AssertionError, ArithmeticError)):
        assert_decodes_as_printed(folder / "bin.000001", other)
