"""Tables of transactions, audited with ``--spark``: breaches by name, bad tables by their fault."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraply.cli import main
from paraply.mining.history_tables import write_columns
from paraply.properties.tables.timestamps import TableRow
from tests.properties.tables.test_timestamps import columns


@pytest.mark.long
def test_table_of_transactions_is_checked_and_its_faults_are_told(tmp_path, capsys):
    path = tmp_path / "histories.parquet"
    rows = [TableRow(0, 0, 1, (1,)), TableRow(0, 0, 2, (1, 2)), TableRow(0, 2, 3, (2,))]
    write_columns(path, [columns(rows)])
    assert main(["audit", "--spark", str(path), "--json", str(tmp_path / "found.json")]) == 1
    assert "1 write follows another of its item" in capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["verdict"], found["unordered"], found["compared"]) == ("violated", 1, 2)


@pytest.mark.parametrize("lc", [0, 1])
def test_breaches_of_a_table_are_written_by_name(tmp_path, capsys, lc):
    path, out = tmp_path / "histories.parquet", tmp_path / "out"
    rows = [TableRow(4, 0, 1, (1,)), TableRow(4, lc, 2, (1, 9))]
    write_columns(path, [columns(rows[:1]), columns(rows[1:])])
    words = ["audit", "--spark", "--master", "none", str(path), "--out", str(out)]
    out.mkdir()
    (out / "violations.parquet").write_bytes(b"mine")
    assert main(words) == 3
    (out / "violations.parquet").unlink()
    capsys.readouterr()
    for _ in range(2):
        assert main(words) == (0 if lc else 1)
    assert f"{'0 violations' if lc else '1 violation'} in {out}" in capsys.readouterr().err
    found = pq.read_table(out / "violations.parquet").to_pylist()
    assert found == [
        {
            "breach": "unordered", "history": 4, "file": str(path), "row": 1, "lc": 0, "sn": 2,
            "item": 1, "earlier_file": str(path), "earlier_row": 0, "earlier_sn": 1,
        }
    ][lc:]  # fmt: skip


def test_table_without_conflicts_exits_2_and_says_that_nothing_was_shown(tmp_path, capsys):
    path = tmp_path / "histories.parquet"
    write_columns(path, [columns([TableRow(0, 0, 1, (1,))])])
    assert main(["audit", "--spark", str(path)]) == 2
    assert "nothing was shown" in capsys.readouterr().out


def table_of(path, *groups):
    write_columns(path, [columns(rows) for rows in groups])
    return str(path)


@pytest.mark.parametrize("in_one_file", [True, False])
def test_histories_that_do_not_ascend_over_row_groups_and_files_are_refused(
    tmp_path, capsys, in_one_file
):
    """Else the parts of a history would be held for two histories, and nothing would conflict."""
    first = [TableRow(5, 0, 1, (1,))]
    between = [TableRow(6, 0, 1, (1,))]
    again = [TableRow(5, 0, 2, (1,))]
    if in_one_file:
        files = [table_of(tmp_path / "t.parquet", first, between, again)]
    else:
        files = [
            table_of(tmp_path / f"{n}.parquet", rows)
            for n, rows in enumerate([first, between, again])
        ]
    assert main(["audit", "--spark", "--master", "none", *files]) == 3
    assert "P730" in (said := capsys.readouterr().err)
    assert "begins with history 5, after 6" in said
    sound = table_of(tmp_path / "sound.parquet", first, again, between)
    assert main(["audit", "--spark", "--master", "none", sound]) == 1


def test_nulls_in_a_list_and_damaged_pages_are_told_with_the_file(tmp_path, capsys):
    path = tmp_path / "nulls.parquet"
    kinds = [("history", pa.int64()), ("lc", pa.int64()), ("sn", pa.int64())]
    schema = pa.schema([*kinds, ("items", pa.list_(pa.int64()))])
    rows = {"history": [0], "lc": [0], "sn": [1], "items": [[1, None]]}
    pq.write_table(pa.table(rows, schema=schema), path)
    assert main(["audit", "--spark", "--master", "none", str(path)]) == 3
    assert "nulls.parquet is not a table of transactions: row group 0 has nulls" in (
        capsys.readouterr().err
    )
    path = tmp_path / "damaged.parquet"
    table_of(path, [TableRow(0, n, n + 1, (n,)) for n in range(1, 2_000)])
    data = bytearray(path.read_bytes())
    data[4:900] = bytes(896)
    path.write_bytes(data)
    assert main(["audit", "--spark", "--master", "none", str(path)]) == 3
    assert "row group 0 cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--html", "--junit"])
def test_option_that_tables_do_not_have_is_refused(tmp_path, capsys, option):
    path = table_of(tmp_path / "t.parquet", [TableRow(0, 0, 1, (1,))])
    assert main(["audit", "--spark", path, option, str(tmp_path / "x")]) == 3
    assert f"{option} goes with binary logs" in capsys.readouterr().err
    assert main(["audit", "--spark", path, "--strict"]) == 1
