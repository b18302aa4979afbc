"""Histories as Parquet: what was written is read back, and damage is seen."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraply.adapters import history_parquet
from paraply.adapters.history_parquet import HistoryParquetWriter, read_parquet, write_parquet
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import HistoryHeader
from paraply.vocabulary.notation_parser import parse_history
from paraply.vocabulary.transactions import Transaction
from tests.vocabulary.histories import histories

SHORT = parse_history(
    'seed=7 options={"workers":4} | T1{a 7 "7"} 2<1 +t[1,"x"] | T2{b}'
    ' | begun T1@w2 ; row_applied T1@w2 {a} ok ; read @r2 [a=T1 "7"=T0] ; crashed'
)


@pytest.mark.long
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(several=st.lists(histories(), max_size=2))
def test_histories_round_trip_through_parquet(tmp_path, several):
    write_parquet(tmp_path, several)
    assert list(read_parquet(tmp_path)) == several


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("rows", [1, 2, 3, 1000])
def test_histories_round_trip_whatever_the_batches(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(history_parquet, "BATCH_ROWS", rows)
    several = [SHORT, parse_history(""), parse_history("T1{x}"), SHORT]
    write_parquet(tmp_path, several)
    assert list(read_parquet(tmp_path)) == several


def test_columns_are_the_fields_of_the_records_with_their_defaults(tmp_path):
    write_parquet(tmp_path, [SHORT])
    tables = {
        name: pq.read_table(tmp_path / f"{name}.parquet")
        for name in ("histories", "transactions", "events")
    }
    extra = ["history", "is_complete", "transaction_count", "event_count"]
    assert tables["histories"].column_names == [*extra, *HistoryHeader.__dataclass_fields__]
    assert tables["transactions"].column_names == ["history", *Transaction.__dataclass_fields__]
    assert tables["events"].column_names == ["history", *Event._fields]
    assert tables["transactions"]["write_set"].to_pylist() == [["7", '"7"', "a"], ["b"]]
    assert tables["transactions"]["timestamp"][0].as_py() == {
        "last_committed": 1, "sequence_number": 2,
    }  # fmt: skip
    assert tables["events"]["member"].to_pylist() == ["r1", "r1", "r2", "r1"]
    assert tables["events"]["attempt"].to_pylist() == [1, 1, 1, 1]
    assert json.loads(tables["histories"]["options"][0].as_py()) == {"workers": 4}


def test_only_finished_files_are_left(tmp_path):
    write_parquet(tmp_path, [SHORT])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["events.parquet", "histories.parquet", "transactions.parquet"]


def test_writing_that_fails_leaves_nothing_new_behind(tmp_path):
    write_parquet(tmp_path, [SHORT])

    def broken():
        yield parse_history("T1{other}")
        raise RuntimeError("out of histories")

    with pytest.raises(RuntimeError, match="out of histories"):
        write_parquet(tmp_path, broken())
    assert list(read_parquet(tmp_path)) == [SHORT]
    assert len(list(tmp_path.iterdir())) == 3


def test_writer_takes_one_history_at_a_time(tmp_path):
    with HistoryParquetWriter(tmp_path) as writer:
        writer.write(SHORT)
        assert not (tmp_path / "events.parquet").exists()
    assert list(read_parquet(tmp_path)) == [SHORT]


@pytest.mark.parametrize("name", ["histories", "transactions", "events"])
@pytest.mark.parametrize("damage", ["missing", "cut", "other", "columns"])
def test_damaged_folder_is_refused_with_the_file(tmp_path, name, damage):
    write_parquet(tmp_path, [SHORT])
    path = tmp_path / f"{name}.parquet"
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "other":
        path.write_bytes(b"not parquet at all")
    else:
        pq.write_table(pa.table({"history": [0]}), path)
    with pytest.raises(ParaplyError, match=rf"P505 .*{name}\.parquet: "):
        list(read_parquet(tmp_path))


def test_damaged_pages_are_refused_with_the_file(tmp_path):
    write_parquet(tmp_path, [SHORT])
    path = tmp_path / "events.parquet"
    data = bytearray(path.read_bytes())
    data[4:200] = bytes(196)
    path.write_bytes(data)
    with pytest.raises(ParaplyError, match=r"P505 .*events\.parquet: .*"):
        list(read_parquet(tmp_path))


COUNTS = ("transaction_count", "event_count")


def rewrite(path, change):
    """Write a Parquet file again with changed rows."""
    table = pq.read_table(path)
    pq.write_table(pa.Table.from_pylist(change(table.to_pylist()), table.schema), path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("events", lambda rows: rows[:-1], "it has 3 rows, and the histories declare 4"),
        ("transactions", lambda rows: [*rows, rows[0]], "it has 3 rows, and the histories declare"),
        (
            "events",
            lambda rows: [*rows[:-1], rows[0] | {"history": 9}],
            "history 0 has 3 rows here, and says 4",
        ),
        (
            "histories",
            lambda rows: [*rows, rows[0] | dict.fromkeys(COUNTS, 0)],
            "row of history 0 is out of place",
        ),
        ("histories", lambda rows: [rows[0] | {"event_count": -1}], "a history has no event_count"),
        ("histories", lambda rows: [rows[0] | {"event_count": None}], "has no event_count"),
        (
            "events",
            lambda rows: [rows[0] | {"kind": "x"}, *rows[1:]],
            "a row of history 0: kind: expected one of",
        ),
        (
            "events",
            lambda rows: [rows[0] | {"member": None}, *rows[1:]],
            "member: expected a string, got None",
        ),
        ("histories", lambda rows: [rows[0] | {"options": "{"}], "a row of history 0: Expecting"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_the_file(tmp_path, name, change, message):
    write_parquet(tmp_path, [SHORT])
    rewrite(tmp_path / f"{name}.parquet", change)
    with pytest.raises(ParaplyError, match=rf"P505 .*{name}\.parquet: .*{message}"):
        list(read_parquet(tmp_path))


def test_parts_that_do_not_fit_are_refused(tmp_path):
    write_parquet(tmp_path, [SHORT])
    rewrite(tmp_path / "events.parquet", lambda rows: [rows[0] | {"time": 99}, *rows[1:]])
    with pytest.raises(ParaplyError, match=r"P504 .*history 0: .*event 2 has time 2 after time 99"):
        list(read_parquet(tmp_path))


def repeated(path, count):
    """Replace the rows of a Parquet file by its first one, ``count`` times."""
    table = pq.read_table(path)
    pq.write_table(table.take(pa.array([0] * count)), path, compression="zstd")


@pytest.mark.long(quick=4)
@pytest.mark.parametrize("name", ["transactions", "events"])
@pytest.mark.parametrize("is_declared", [False, True])
def test_millions_of_repeated_rows_are_refused_before_any_is_read(
    tmp_path, monkeypatch, name, is_declared
):
    def untouched(*_):
        raise AssertionError("rows were read")

    write_parquet(tmp_path, [SHORT])
    monkeypatch.setattr(history_parquet, "HISTORY_ROWS_MAX", 1 << 19)
    count = history_parquet.HISTORY_ROWS_MAX + 1
    repeated(tmp_path / f"{name}.parquet", count)
    assert (tmp_path / f"{name}.parquet").stat().st_size < 1 << 20
    if is_declared:
        counts = {f"{name.removesuffix('s')}_count": count}
        rewrite(tmp_path / "histories.parquet", lambda rows: [rows[0] | counts])
    monkeypatch.setattr(history_parquet._TableReader, "_read_rows", untouched)
    said = "a history has a .* of 524,289, above" if is_declared else "it has 524,289 rows, and"
    with pytest.raises(ParaplyError, match=f"P505 .*{said}"):
        list(read_parquet(tmp_path))


def test_rows_of_one_history_do_not_stand_for_those_of_others(tmp_path):
    write_parquet(tmp_path, [SHORT, SHORT])
    rewrite(tmp_path / "events.parquet", lambda rows: [row | {"history": 0} for row in rows])
    with pytest.raises(ParaplyError, match=r"P505 .*history 1 has 0 rows here, and says 4"):
        list(read_parquet(tmp_path))
