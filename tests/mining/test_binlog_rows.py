"""Rows of binary logs: parts give what the whole gives, and what the readable reader reads."""

from __future__ import annotations

import os
import random
import shutil
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.mining.binlog_follow import available, parts_between
from paraply.mining.binlog_rows import Part, files_at, parts_of, read_part, taught_parts
from paraply.vocabulary.errors import ParaplyError
from tests.builders.hot_logs import hot_log

TRANSACTIONS = pa.schema(
    [
        ("file", pa.string()), ("offset", pa.int64()), ("end_offset", pa.int64()),
        ("gtid", pa.string()), ("kind", pa.string()), ("last_committed", pa.int64()),
        ("sequence_number", pa.int64()), ("time", pa.timestamp("us", "UTC")),
        ("rows", pa.int64()), ("tables", pa.list_(pa.string())),
        ("keys", pa.list_(pa.string())), ("key_digests", pa.list_(pa.int64())),
        ("keys_complete", pa.bool_()), ("complete", pa.bool_()),
    ]
)  # fmt: skip
CHANGES = pa.schema(
    [
        ("gtid", pa.string()), ("table", pa.string()), ("operation", pa.string()),
        ("offset", pa.int64()), ("before", pa.map_(pa.string(), pa.string())),
        ("after", pa.map_(pa.string(), pa.string())),
    ]
)  # fmt: skip
EVENTS = pa.schema([("offset", pa.int64()), ("end_offset", pa.int64()), ("type", pa.string())])
SCHEMAS = {"transactions": TRANSACTIONS, "changes": CHANGES, "events": EVENTS}


def read(parts, rows="transactions", **more):
    return [
        row
        for part in parts
        for batch in read_part(part, rows, SCHEMAS[rows], lambda _: True, **more)
        for row in batch.to_pylist()
    ]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    return hot_log(folder / "log.000001", size_bytes=200_000, seed=5, block_transactions=40)


@pytest.fixture(scope="module", params=["mysql", "mariadb"])
def either_log(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "log.000001"
    return hot_log(path, size_bytes=120_000, seed=2, dialect=request.param, block_transactions=30)


@pytest.mark.parametrize("rows", SCHEMAS)
def test_parts_give_the_rows_of_the_whole(either_log, rows):
    whole = read(taught_parts(parts_of([str(either_log)], 1 << 30), None), rows)
    blocks = parts_of([str(either_log)], 20_000)
    assert len(blocks) > 3
    assert read(taught_parts(blocks, None), rows) == whole
    assert len(whole) > 20


def test_columns_are_those_of_the_reader(either_log):
    expected = []
    keys = KeyBuilder(SchemaRegistry())
    for transaction in read_transactions([str(either_log)]):
        keys.complete_transaction(transaction)
        expected.append(transaction)
    found = read(taught_parts(parts_of([str(either_log)], 20_000), None))
    assert len(found) == len(expected)
    for row, transaction in zip(found, expected, strict=True):
        assert row["offset"] == transaction.start.offset
        assert row["gtid"] == (transaction.gtid or None)
        assert row["rows"] == len(transaction.rows)
        assert row["tables"] == sorted({change.table for change in transaction.rows})
        assert row["last_committed"] == transaction.last_committed
        assert sorted(row["keys"]) == sorted(map(str, transaction.keys))
        assert len(set(row["key_digests"])) == len(transaction.keys)
    assert any(row["keys"] for row in found)


def test_part_alone_does_not_claim_keys_that_it_cannot_know(log):
    blocks = parts_of([str(log)], 20_000)
    alone = read([Part(block=blocks[-1])])
    assert not all(row["keys_complete"] for row in alone if row["rows"])
    taught = read([taught_parts(blocks, None)[-1]])
    assert all(row["keys_complete"] for row in taught)


def test_damaged_log_is_refused_or_read_as_far_as_it_goes(log, tmp_path):
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 0x40
    damaged = tmp_path / "log.000001"
    damaged.write_bytes(bytes(data))
    parts = taught_parts(parts_of([str(damaged)], 1 << 30), None)
    with pytest.raises(ParaplyError, match="P101"):
        read(parts)
    whole = read(taught_parts(parts_of([str(log)], 1 << 30), None))
    some = read(parts, permissive=True)
    assert 0 < len(some) < len(whole)
    assert [row["gtid"] for row in some] == [row["gtid"] for row in whole[: len(some)]]


def test_filter_keeps_the_rows_it_names(log):
    (part,) = taught_parts(parts_of([str(log)], 1 << 30), None)
    every = read([part])
    noon = datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC)
    batches = read_part(part, "transactions", TRANSACTIONS, lambda row: row["time"] >= noon)
    found = [row for batch in batches for row in batch.to_pylist()]
    assert found == [row for row in every if row["time"] >= noon]


def test_files_are_read_in_the_order_of_their_numbers(tmp_path):
    for name in ("log.1000000", "log.999999", "log.index", ".hidden"):
        (tmp_path / name).write_bytes(b"x")
    names = [os.path.basename(name) for name in files_at(str(tmp_path))]
    assert names == ["log.999999", "log.1000000"]
    with pytest.raises(ParaplyError, match="P101"):
        files_at(str(tmp_path / "none*"))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limit", [None, 1, 15_000])
def test_followed_log_gives_each_transaction_once(log, tmp_path, seed, limit):
    """Append random pieces, also inside events, and read what is available after each."""
    rng = random.Random(seed)
    data = log.read_bytes()
    expected = [row["gtid"] for row in read([Part(block=parts_of([str(log)], 1 << 30)[0])])]
    growing = tmp_path / "log.000001"
    growing.write_bytes(b"")
    start: dict[str, int] = {}
    found: list[str] = []

    def follow():
        nonlocal start
        while True:
            end = available(str(tmp_path), start, limit)
            if end == start:
                return
            found.extend(
                row["gtid"]
                for block in parts_between(start, end, 20_000)
                for row in read([Part(block=block)])
            )
            start = end

    at = 0
    while at < len(data):
        size = rng.choice((7, 500, 30_000))
        with growing.open("ab") as file:
            file.write(data[at : at + size])
        at += size
        if rng.random() < 0.4:
            follow()
            assert found == expected[: len(found)]
    follow()
    shutil.copy(log, tmp_path / "log.000002")  # Another file follows: the first is whole.
    follow()
    assert found[: len(expected)] == expected
    assert found[len(expected) :] == expected[: len(found) - len(expected)]
    assert len(found) > len(expected)


def test_log_that_went_back_is_refused(log, tmp_path):
    path = tmp_path / "log.000001"
    shutil.copy(log, path)
    start = available(str(tmp_path), {}, None)
    os.truncate(path, 1_000)
    with pytest.raises(ParaplyError, match="P741"):
        available(str(tmp_path), start, None)
    path.unlink()
    assert available(str(tmp_path), start, None) == start
