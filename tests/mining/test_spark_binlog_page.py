"""The queries of docs/spark-binlog.md run, and their answers are those of the readable reader."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from paraply.adapters.binlog.keys.builder import KeyBuilder
from paraply.adapters.binlog.schema.registry import SchemaRegistry
from paraply.adapters.binlog.transactions import read_transactions
from paraply.mining.binlog_source import SCHEMAS
from tests.builders.hot_logs import hot_log
from tests.builders.log_forger import ForgedLog

pytestmark = pytest.mark.xdist_group("spark")

PAGE = Path(__file__).parents[2] / "docs" / "spark-binlog.md"


def test_page_names_every_column():
    text = PAGE.read_text(encoding="utf-8")
    for rows, ddl in SCHEMAS.items():
        (line,) = re.findall(rf"^\| `{rows}`.*$", text, re.MULTILINE)
        for column in ddl.split(", "):
            assert f"`{column.split(' ')[0]}`" in line, column


@pytest.mark.long
def test_queries_of_the_page(spark, tmp_path):
    from paraply.mining.binlog_source import register_binlog

    sound = hot_log(tmp_path / "sound.000001", size_bytes=150_000, seed=5, block_transactions=40)
    forged = ForgedLog.read(sound)
    forged.set_timestamp(len(forged) - 1, last_committed=1)
    log = str(forged.save(tmp_path / "forged.000001"))
    register_binlog(spark)
    for rows in SCHEMAS:
        frame = spark.read.format("binlog").option("rows", rows).load(log).cache()
        frame.createOrReplaceTempView(rows)
    queries = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(queries) == 10
    found = [[row.asDict() for row in spark.sql(query).collect()] for query in queries]
    keys, read = KeyBuilder(SchemaRegistry()), []
    for transaction in read_transactions([log]):
        keys.complete_transaction(transaction)
        read.append(transaction)
    tables = Counter(table for one in read for table in {row.table for row in one.rows})
    assert {row["table"]: row["transactions"] for row in found[0]} == tables
    hot = Counter(str(key) for one in read for key in one.keys)
    assert [row["transactions"] for row in found[1]] == [
        count for _, count in hot.most_common(len(found[1]))
    ]
    assert sum(row["transactions"] for row in found[2]) == len(read)
    assert sum(row["bytes"] for row in found[3]) == sum(one.size_bytes for one in read)
    assert found[4][0]["bytes"] == max(one.size_bytes for one in read)
    assert [row["statement"] for row in found[5]] == [
        sql for one in read if one.kind.value == "ddl" for sql in one.statements
    ]
    assert found[6], "no change of the row that the page asks for"
    assert all(row["updates"] > 0 for row in found[7])
    assert found[7]
    writers: dict = {}
    for one in read:
        for key in one.keys:
            writers.setdefault(key, []).append(one)
    overlapping = Counter(
        (later.gtid, earlier.gtid)
        for of_key in writers.values()
        for earlier, later in pairwise(of_key)
        if later.last_committed < earlier.sequence_number
    )
    assert Counter((row["gtid"], row["before_gtid"]) for row in found[8]) == overlapping
    assert overlapping
    assert {row["type"] for row in found[9]} >= {"GTID", "TABLE_MAP", "XID"}
