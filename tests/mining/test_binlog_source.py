"""The `binlog` data source on Spark: batch, filters, columns and streaming."""

from __future__ import annotations

import shutil

import pytest

from paraply.mining.binlog_rows import Part, parts_of, read_part
from tests.builders.hot_logs import hot_log
from tests.mining.test_binlog_rows import TRANSACTIONS

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    return hot_log(folder / "log.000001", size_bytes=150_000, seed=5, block_transactions=40)


@pytest.fixture(scope="module")
def reader(spark):
    from paraply.mining.binlog_source import register_binlog

    register_binlog(spark)
    return lambda: spark.read.format("binlog").option("partBytes", "30000")


@pytest.fixture(scope="module")
def expected(log):
    (block,) = parts_of([str(log)], 1 << 30)
    batches = read_part(Part(block=block), "transactions", TRANSACTIONS, lambda _: True)
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.long
def test_transactions_are_rows_in_several_partitions(reader, log, expected):
    frame = reader().load(str(log))
    found = sorted((row.asDict() for row in frame.collect()), key=lambda row: row["offset"])
    assert [row["gtid"] for row in found] == [row["gtid"] for row in expected]
    assert [row["keys"] for row in found] == [row["keys"] for row in expected]
    assert all(row["keys_complete"] for row in found)
    assert frame.selectExpr("spark_partition_id() p").distinct().count() > 2


@pytest.mark.long
def test_filters_and_columns_give_what_spark_gives(reader, log, expected):
    frame = reader().load(str(log))
    middle = expected[len(expected) // 2]
    for condition, wanted in (
        (f"gtid = '{middle['gtid']}'", lambda row: row["gtid"] == middle["gtid"]),
        (f"offset >= {middle['offset']}", lambda row: row["offset"] >= middle["offset"]),
        (f"offset < {middle['offset']}", lambda row: row["offset"] < middle["offset"]),
        ("time >= timestamp'2023-11-14 22:13:21Z'", lambda row: row["time"].second >= 21),
        ("file = 'none'", lambda row: False),
        ("array_contains(tables, 'none')", lambda row: False),
    ):
        found = {row["gtid"] for row in frame.where(condition).select("gtid").collect()}
        assert found == {row["gtid"] for row in expected if wanted(row)}, condition
    some = reader().schema("gtid string, rows long").load(str(log))
    assert some.columns == ["gtid", "rows"]
    assert some.agg({"rows": "sum"}).collect()[0][0] == sum(row["rows"] for row in expected)


@pytest.mark.long
def test_changes_and_events(reader, log, expected):
    changes = reader().option("rows", "changes").load(str(log))
    assert changes.count() == sum(row["rows"] for row in expected)
    events = reader().option("rows", "events").load(str(log))
    kinds = {row["type"]: row["count"] for row in events.groupBy("type").count().collect()}
    assert kinds["GTID"] == len(expected)
    assert kinds["FORMAT_DESCRIPTION"] == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rows": "pages"}, "rows=pages"),
        ({"colour": "red"}, "no such option: colour"),
        ({"mode": "guess"}, "mode=GUESS"),
        ({"partBytes": "x"}, "partBytes=x"),
    ],
)
def test_wrong_options_are_refused(reader, log, options, said):
    with pytest.raises(Exception, match=f"P740.*{said}"):
        reader().options(**options).load(str(log)).collect()


@pytest.mark.long
def test_stream_follows_new_files_and_resumes(spark, reader, log, expected, tmp_path):
    folder, out, checkpoint = (tmp_path / name for name in ("logs", "out", "checkpoint"))
    folder.mkdir()
    reader()

    def run():
        stream = spark.readStream.format("binlog").option("maxBytesPerTrigger", "60000")
        query = (
            stream.load(str(folder))
            .select("file", "gtid", "offset")
            .writeStream.format("parquet")
            .option("path", str(out))
            .option("checkpointLocation", str(checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        rows = spark.read.parquet(str(out)).collect()
        return sorted((row["file"], row["offset"]) for row in rows)

    first = folder / "log.000001"
    shutil.copy(log, first)
    whole = [(str(first), row["offset"]) for row in expected]
    found = run()
    assert found == whole[: len(found)]
    assert 0 < len(found) <= len(whole)
    second = folder / "log.000002"
    shutil.copy(log, second)
    both = whole + [(str(second), row["offset"]) for row in expected]
    again = run()
    assert again == both[: len(again)]
    assert len(again) > len(whole)
