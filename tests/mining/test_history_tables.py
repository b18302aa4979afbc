"""Tables in Parquet are checked alike whatever their row groups, files and tasks."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraply.mining.engines import OnSpark
from paraply.mining.history_tables import check_files, plan_stretches, write_columns
from paraply.mining.table_breaches import write_breaches
from paraply.properties.tables.breaches import KINDS, NO_ROW, TableBreach, breaches_of
from paraply.properties.tables.timestamps import TableRow, summarise
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.verdict import Verdict
from tests.properties.tables.test_timestamps import columns


def random_rows(seed):
    """Histories of unlike length, with a fault here and there."""
    rng = random.Random(seed)
    rows = []
    for history in range(rng.randint(1, 6)):
        writers = {}
        for sn in range(1, rng.choice((2, 10, 60, 300))):
            items = tuple(rng.sample(range(20), rng.randint(0, 4)))
            lc = max((writers.get(item, 0) for item in items), default=0)
            rows.append(TableRow(history, max(0, lc - (rng.random() < 0.01)), sn, items))
            writers |= dict.fromkeys(items, sn)
    return rows


def write(folder, rows, cuts):
    """Write rows to two files, in row groups that end at ``cuts``."""
    edges = [0, *sorted(cuts), len(rows)]
    groups = [columns(rows[b:e]) for b, e in pairwise(edges) if e > b]
    middle = len(groups) // 2
    files = []
    for name, part in (("a", groups[:middle]), ("b", groups[middle:])):
        files.append(str(folder / f"{name}.parquet"))
        write_columns(folder / f"{name}.parquet", part)
    return files


def written_in(path, files):
    """Return the breaches of a file, their rows numbered over all files again."""
    first = {None: NO_ROW}
    rows = 0
    for file in files:
        first[file] = rows
        rows += pq.ParquetFile(file).metadata.num_rows
    return [
        TableBreach(
            first[row["file"]] + row["row"],
            KINDS.index(row["breach"]),
            row["item"] or 0,
            first[row["earlier_file"]] + (row["earlier_row"] or 0),
            row["history"], row["lc"], row["sn"], row["earlier_sn"] or 0,
        )
        for row in pq.read_table(path).to_pylist()
    ]  # fmt: skip


@pytest.mark.long(quick=3)
@pytest.mark.parametrize("seed", range(12))
def test_any_cut_into_row_groups_and_tasks_gives_the_counts_of_the_whole(tmp_path, seed):
    rng = random.Random(seed)
    rows = random_rows(seed)
    cuts = [rng.randint(0, len(rows)) for _ in range(rng.randint(0, 8))]
    files = write(tmp_path, rows, cuts)

    def shuffled(function, tasks):
        done = [function(task) for task in tasks]
        rng.shuffle(done)
        return done

    expected = summarise(rows).counts
    assert check_files(files, stretches=rng.randint(1, 5)) == expected
    assert check_files(files, shuffled, stretches=4) == expected
    out = tmp_path / "out" / "violations.parquet"
    assert write_breaches(files, str(out), shuffled, stretches=rng.randint(1, 5)) == len(
        breaches_of(rows)
    )
    assert list(out.parent.iterdir()) == [out]
    assert written_in(out, files) == breaches_of(rows)


@pytest.mark.parametrize("stretches", [1, 2, 7])
def test_long_history_of_one_file_is_checked_in_stretches(tmp_path, stretches):
    rows = [TableRow(0, max(0, sn - 3 - (sn == 200)), sn, (sn % 3,)) for sn in range(1, 400)]
    files = write(tmp_path, rows, range(50, 400, 50))
    assert len(plan_stretches(files, stretches)) > 1
    found = check_files(files, stretches=stretches)
    assert found == summarise(rows).counts
    assert found.unordered == 1


@pytest.mark.long
def test_spark_gives_the_counts_of_this_process(tmp_path, spark):
    rows = random_rows(3) + [TableRow(9, 0, sn, (1,)) for sn in range(1, 50)]
    files = write(tmp_path, rows, [len(rows) // 3, len(rows) // 2, len(rows) - 20])
    engine = OnSpark("local[2]", spark)
    found = check_files(files, engine.map, stretches=4)
    assert found == summarise(rows).counts
    assert found.verdict is Verdict.VIOLATED
    out = tmp_path / "violations.parquet"
    assert write_breaches(files, str(out), engine.map, stretches=4) == len(breaches_of(rows))
    assert written_in(out, files) == breaches_of(rows)


def test_stretches_hold_every_row_group_once(tmp_path):
    rows = random_rows(5)
    files = write(tmp_path, rows, range(0, len(rows), 7))
    planned = plan_stretches(files, 3)
    held = [(stretch.file, group) for stretch in planned for group in stretch.groups]
    expected = [(f, g) for f in files for g in range(pq.ParquetFile(f).num_row_groups)]
    assert held == expected


def test_other_columns_are_refused_with_what_is_needed(tmp_path):
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"history": np.arange(3), "lc": ["a", "b", "c"]}), path)
    with pytest.raises(ParaplyError, match=r"P730.*column lc"):
        check_files([str(path)])


def test_table_that_is_not_there_is_refused_as_missing(tmp_path):
    with pytest.raises(ParaplyError, match=r"P731.*No such file"):
        check_files([str(tmp_path / "none.parquet")])


def test_histories_out_of_order_are_refused(tmp_path):
    rows = [TableRow(2, 0, 1, ()), TableRow(1, 0, 1, ())]
    write_columns(tmp_path / "t.parquet", [columns(rows)])
    with pytest.raises(ParaplyError, match="not in order"):
        check_files([str(tmp_path / "t.parquet")])
