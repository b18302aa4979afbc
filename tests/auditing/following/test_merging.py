"""Small files of a followed audit are merged: rows, versions and open readers stay as they are."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from deltalake.table import TableAlterer, TableOptimizer

from paraply.mining import audit_tables
from paraply.mining.audit_tables import FILES, PARALLELISM, SCHEMAS, AuditTables, write_table
from paraply.mining.store import store_at

ROOT = Path(__file__).parents[3]
LOG_FILES = 30
SMALL_MAX = 4


def write_log_file(tables, number):
    """Commit rows of one log file, as a follower does; they need no log."""
    store = store_at(tables.url)
    name = f"binlog.{number:06}"
    rows = {
        FILES: [{"file": name, "verdict": "holds", "state": "x" * 50}],
        PARALLELISM: [{"file": name, "model": model, "steps": number} for model in "abc"],
    }
    written = {
        table: write_table(store, table, ({"number": number, **row} for row in of_table))
        for table, of_table in rows.items()
    }
    tables.commit(number, written)


WRITER = """
import json, os, signal, sys
import deltalake
from paraply.mining import audit_tables, store
from paraply.mining.audit_tables import AuditTables
from tests.auditing.following.test_merging import LOG_FILES, SMALL_MAX, write_log_file

place, left = sys.argv[1], int(sys.argv[2])
audit_tables.SMALL_FILES_MAX = SMALL_MAX

def dies(owner, name):
    real = getattr(owner, name)
    def call(*words, **named):
        step()
        try:
            return real(*words, **named)
        finally:
            step()
    setattr(owner, name, call)

def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

dies(deltalake.table.TableOptimizer, "compact")
dies(deltalake.table.TableAlterer, "set_table_properties")
dies(deltalake.DeltaTable, "vacuum")
dies(deltalake.DeltaTable, "create_write_transaction")
dies(store.DiskStore, "sync")
tables = AuditTables(place)
last = tables.last()
for number in range(1 if last is None else last["number"] + 1, LOG_FILES + 1):
    write_log_file(tables, number)
"""


def rows_of(tables, name):
    return [json.dumps(row, default=str) for row in tables.rows(name)]


def unmerged(folder, count):
    tables = AuditTables(str(folder))
    for number in range(1, count + 1):
        write_log_file(tables, number)
    assert len(tables.uris(FILES)) == count
    return tables


@pytest.fixture
def whole(tmp_path):
    return unmerged(tmp_path / "whole", LOG_FILES)


@pytest.mark.parametrize("count", [10, pytest.param(LOG_FILES, marks=pytest.mark.long(each=1))])
def test_merged_tables_have_the_same_rows_in_few_files(tmp_path, monkeypatch, count):
    whole = unmerged(tmp_path / "whole", count)
    monkeypatch.setattr(audit_tables, "SMALL_FILES_MAX", SMALL_MAX)
    tables = AuditTables(str(tmp_path / "merged"))
    opened = {}
    for number in range(1, count + 1):
        write_log_file(tables, number)
        opened[number] = tables.uris(FILES)
        assert len(opened[number]) <= SMALL_MAX
    for name in (FILES, PARALLELISM):
        assert rows_of(tables, name) == rows_of(whole, name)
    assert tables.last()["number"] == count
    # A reader that listed the files before a merge still finds them, and their rows.
    for number, uris in opened.items():
        found = [row for uri in uris for row in pq.read_table(uri).column("number").to_pylist()]
        assert sorted(found) == [*range(1, number + 1)]
    table = DeltaTable(f"{tables.url}/{FILES}")
    merges = [one for one in table.history() if one["operation"] == "OPTIMIZE"]
    assert len(merges) >= count // SMALL_MAX - 1
    # Each version can still be read; a merge changes no row.
    before = 0
    for version in range(1, table.version() + 1):
        rows = DeltaTable(table.table_uri, version=version).to_pyarrow_table().num_rows
        assert rows - before in (0, 1)
        before = rows
    assert before == count


@pytest.mark.long
def test_merged_files_are_bounded_by_size(tmp_path, monkeypatch):
    monkeypatch.setattr(audit_tables, "SMALL_FILES_MAX", SMALL_MAX)
    tables = AuditTables(str(tmp_path))
    write_log_file(tables, 1)
    (one,) = (Path(uri).stat().st_size for uri in tables.uris(FILES))
    monkeypatch.setattr(audit_tables, "FILE_BYTES", 3 * one)
    for number in range(2, LOG_FILES + 1):
        write_log_file(tables, number)
    sizes = [Path(uri).stat().st_size for uri in tables.uris(FILES)]
    assert max(sizes) < 2 * 3 * one
    assert 3 <= len(sizes) < LOG_FILES // 2
    assert [row["number"] for row in tables.rows(FILES)] == [*range(1, LOG_FILES + 1)]


@pytest.mark.long(each=20)
@pytest.mark.parametrize("seed", range(2))
def test_writer_that_is_killed_at_each_step_of_a_merge(tmp_path, whole, seed):
    tables = AuditTables(str(tmp_path / "killed"))
    rng = random.Random(seed)
    kills = 0
    while (tables.last() or {"number": 0})["number"] < LOG_FILES:
        done = subprocess.run(
            [sys.executable, "-c", WRITER, tables.url, str(rng.randint(2, 40))],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=120,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        kills += done.returncode != 0
    assert kills > 3
    for name in (FILES, PARALLELISM):
        assert rows_of(tables, name) == rows_of(whole, name)
        assert len(tables.uris(name)) <= SMALL_MAX + 1
    assert not set(SCHEMAS) - {FILES, PARALLELISM, "violations", "findings"}


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("is_guarded", [True, False])
def test_process_that_was_asleep_does_not_merge_the_same_files_again(
    tmp_path, monkeypatch, is_guarded
):
    """Without the claim, the library merges the same files again and doubles the rows."""
    awake, asleep = (AuditTables(str(tmp_path)) for _ in range(2))
    for number in range(1, 10):
        write_log_file(awake, number)
    monkeypatch.setattr(audit_tables, "SMALL_FILES_MAX", SMALL_MAX)
    real = TableOptimizer.compact

    def slow(optimizer, **named):
        monkeypatch.setattr(TableOptimizer, "compact", real)
        awake._merge_small_files(FILES)
        return real(optimizer, **named)

    if not is_guarded:
        monkeypatch.setattr(TableAlterer, "set_table_properties", lambda *_, **__: None)
    monkeypatch.setattr(TableOptimizer, "compact", slow)
    asleep._merge_small_files(FILES)
    numbers = [row["number"] for row in awake.rows(FILES)]
    assert numbers == [number for number in range(1, 10) for _ in range(1 if is_guarded else 2)]
    write_log_file(asleep, 10)
    assert asleep.last()["number"] == 10


@pytest.mark.long(each=15)
def test_process_that_read_the_tables_ends_by_its_own_exit_code(whole):
    """Threads that read ahead for a dataset of delta-rs ended every third process by SIGABRT."""
    script = (
        "import sys; from paraply.mining.audit_tables import *; tables = AuditTables(sys.argv[1])\n"
        "sys.exit(len(tables.rows(FILES)) + len(tables.rows(PARALLELISM)))"
    )
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, "-c", script, whole.url],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 4 * LOG_FILES
