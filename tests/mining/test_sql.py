"""SQL over a campaign sees the committed rows and nothing else."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from paraply.cli import main
from paraply.mining.campaign import run_campaign
from paraply.mining.engines import InProcess
from paraply.mining.sql import VIEWS, query_campaign
from paraply.vocabulary.errors import ParaplyError
from tests.mining.campaigns import rows_of, small_plan

pytest.importorskip("duckdb", reason="duckdb is not installed")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    plan, folder = small_plan(histories=40, batch=20), tmp_path_factory.mktemp("campaign")
    progress = run_campaign(plan, str(folder), InProcess())
    (folder / "rows" / "left-by-a-killed-task.parquet").write_bytes(b"nothing of ours")
    return str(folder), rows_of(folder, plan), progress


def test_views_hold_what_the_campaign_found(campaign):
    place, rows, progress = campaign
    _, found = query_campaign(place, "SELECT system, property, count(*) FROM breaches GROUP BY ALL")
    expected = Counter((row["system"], name) for row in rows for name in row["violated"])
    assert {(system, name): count for system, name, count in found} == expected
    assert expected
    _, ((count, runs),) = query_campaign(place, "SELECT count(*), count(DISTINCT run) FROM rows")
    assert (count, runs) == (len(rows), 40)
    columns, found = query_campaign(
        place,
        "SELECT s.system, s.property, s.count, (SELECT min(transactions) FROM breaches b WHERE "
        "b.system = s.system AND b.signature = s.signature) AS least, s.transactions "
        "FROM smallest s",
    )
    assert columns == ["system", "property", "count", "least", "transactions"]
    assert found
    assert all(least == transactions for *_, least, transactions in found)
    _, found = query_campaign(place, "SELECT system, histories FROM systems")
    assert dict(found) == {system.name: 40 for system in progress.plan.systems}


def test_views_have_the_columns_that_are_documented(campaign):
    page = Path(__file__).parents[2] / "docs" / "spark.md"
    text = page.read_text(encoding="utf-8")
    for view in VIEWS[1:]:
        columns, _ = query_campaign(campaign[0], f"SELECT * FROM {view}")
        (line,) = [line for line in text.splitlines() if line.startswith(f"| `{view}`")]
        assert [name for name in re.findall(r"`(\w+)`", line) if name != view] == columns


def test_command_prints_a_table_or_json(campaign, capsys):
    place, *_ = campaign
    query = "SELECT system, histories FROM systems ORDER BY system LIMIT 1"
    assert main(["mine", "--sql", query, "--out", place]) == 0
    printed = capsys.readouterr().out
    assert "histories" in printed
    assert "40" in printed
    assert main(["mine", "--sql", query, "--out", place, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["histories"] == 40


@pytest.mark.parametrize("query", ["SELECT * FROM nothing", "SELEC 1", ""])
def test_wrong_query_is_refused(campaign, query):
    with pytest.raises(ParaplyError, match="P742"):
        query_campaign(campaign[0], query)
