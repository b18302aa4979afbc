"""Benchmark ``history_scale``: order of conflicting transactions in Parquet tables.

Contestants are the kernel locally and on Spark, Spark SQL, DuckDB and Polars (if installed), the
readable check, and networkx on a small part. All must find the same faults. ``--transactions`` is
the total (10^8 needs 3 GB of disk), in histories of 1,000.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet as pq

from ci.bench.measure import Run, interleave, run_here, run_sampled
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.mining.engines import FEW_ROWS, OnSpark
from paraply.mining.history_tables import CODEC, check_files, read_columns, write_columns
from paraply.mining.table_breaches import write_breaches
from paraply.properties.tables.compiled.timestamps import (
    Columns,
    TableChecker,
    check_in_chunks,
    check_whole,
)
from paraply.properties.tables.timestamps import TableCounts, TableRow, summarise
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.timestamps import waits_for

SQL_TRANSACTIONS_MAX = 1_000_000
"""SQL time and memory grow proportionally or faster."""
HISTORY_ROWS, ITEMS_EACH, GROUP_ROWS = 1_000, 4, 200_000
FAULTS_PER_GROUP = 3
SMALL_HISTORIES = 5
LONG_ROWS_MAX, LONG_ITEMS = 10_000_000, 100_000
SQL = """SELECT count(*) AS unordered FROM (
    SELECT lc, lag(sn) OVER (PARTITION BY item, history ORDER BY sn) AS before FROM (
        SELECT history, lc, sn, {explode}(items) AS item FROM {table}) AS touched
    ) AS followed WHERE before > lc"""

GOALS = {
    "Spark SQL, window functions": 30.0,
    "DuckDB, window functions": 10.0,
    "Polars, over()": 10.0,
    "networkx, all pairs": 500.0,
}
OF_ONE_PROCESS_MIN, OF_WHOLE_TABLE_MIN = 0.85, 0.8
NAMING_TIMES_MAX = 3.0
RATE_MIN_MILLIONS, MEMORY_MAX_MB, EXPONENT_MAX = 25.0, 1_500.0, 1.05


def _timestamps(history: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = len(history)
    sn = np.arange(rows, dtype=np.int64) - np.searchsorted(history, history) + 1
    row = np.repeat(np.arange(rows), items.shape[1])
    key = items.ravel()
    order = np.lexsort((row, key, history[row]))
    sorted_row, sorted_key = row[order], key[order]
    same = (sorted_key[1:] == sorted_key[:-1]) & (
        history[sorted_row[1:]] == history[sorted_row[:-1]]
    )
    lc = np.zeros(rows, np.int64)
    np.maximum.at(lc, sorted_row[1:][same], sn[sorted_row[:-1][same]])
    return lc, sn


def _chosen_items(rng: np.random.Generator, rows: int, pool: int) -> np.ndarray:
    part = pool // ITEMS_EACH
    drawn = (rng.random((rows, ITEMS_EACH)) ** 2 * part).astype(np.int64)
    return drawn + np.arange(ITEMS_EACH) * part


def _groups(transactions: int, seed: int) -> Iterator[Columns]:
    rng = np.random.default_rng(seed)
    rows = min(GROUP_ROWS, transactions)
    history = np.arange(rows, dtype=np.int64) // HISTORY_ROWS
    items = _chosen_items(rng, rows, HISTORY_ROWS)
    lc, sn = _timestamps(history, items)
    faulty = np.flatnonzero(lc > 1)[:: max(1, rows // FAULTS_PER_GROUP)][:FAULTS_PER_GROUP]
    lc[faulty] -= 1
    offsets = np.arange(rows + 1, dtype=np.int32) * ITEMS_EACH
    for group in range(transactions // rows):
        names = history + group * (rows // HISTORY_ROWS)
        salt = np.int64(rng.integers(1 << 62))
        yield Columns(names, lc, sn, offsets, (items + names[:, None] * 8191).ravel() ^ salt)


def table_of(folder: Path, transactions: int, seed: int) -> Path:
    """Return a generated table, written into the folder if it is not there."""
    path = folder / f"histories-{transactions}-seed{seed}-{CODEC}.parquet"
    if not path.exists():
        made = path.with_suffix(".part")
        write_columns(made, _groups(transactions, seed))
        made.rename(path)
    return path


def _sql_contestants(path: Path, spark: Any) -> dict[str, Callable[[], int]]:
    found: dict[str, Callable[[], int]] = {}
    if spark is not None:
        for name in FEW_ROWS:  # Spark's own way for its own queries.
            spark.conf.unset(name)

        def by_spark_sql() -> int:
            spark.read.parquet(str(path)).createOrReplaceTempView("histories")
            query = SQL.format(explode="explode", table="histories")
            return int(spark.sql(query).collect()[0]["unordered"])

        found["Spark SQL, window functions"] = by_spark_sql
    if importlib.util.find_spec("duckdb"):
        import duckdb

        def by_duckdb() -> int:
            query = SQL.format(explode="unnest", table=f"read_parquet('{path}')")
            with duckdb.connect(config={"threads": 2}) as connection:
                return int(connection.execute(query).fetchall()[0][0])

        found["DuckDB, window functions"] = by_duckdb
    if importlib.util.find_spec("polars"):
        import polars as pl

        def by_polars() -> int:
            before = pl.col("sn").shift(1).over(["history", "items"])
            touched = pl.scan_parquet(path).explode("items").with_columns(before.alias("before"))
            return int(
                touched.filter(pl.col("before") > pl.col("lc")).select(pl.len()).collect().item()
            )

        found["Polars, over()"] = by_polars
    return found


def _rows(columns: Columns) -> list[TableRow]:
    return [
        TableRow(history, lc, sn, tuple(columns.items[begin:end].tolist()))
        for history, lc, sn, begin, end in zip(
            columns.history.tolist(), columns.lc.tolist(), columns.sn.tolist(),
            columns.offsets[:-1].tolist(), columns.offsets[1:].tolist(), strict=True,
        )
    ]  # fmt: skip


def _all_pairs(rows: list[TableRow]) -> int:
    graph = nx.DiGraph()
    of_history: dict[int, list[TableRow]] = {}
    for row in rows:
        of_history.setdefault(row.history, []).append(row)
    for history in of_history.values():
        for earlier, later in combinations(history, 2):
            if not set(earlier.items).isdisjoint(later.items):
                graph.add_edge(earlier, later, ordered=waits_for(later.lc, earlier.sn))
    return sum(not ordered for _, _, ordered in graph.edges.data("ordered"))


def _expected(path: Path, contestant: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise RuntimeError(f"{contestant} finds {found} faults in {path}, the kernel {wanted}")


@benchmark("history_scale")
def history_scale(options: Options) -> Report:
    """Check tables by every engine."""
    transactions = max(GROUP_ROWS, options.transactions // GROUP_ROWS * GROUP_ROWS)
    sizes = sorted({max(GROUP_ROWS, transactions // 100), transactions})
    paths = {size: table_of(options.folder, size, options.seed) for size in sizes}
    path = paths[transactions]
    report = Report(
        benchmark="history_scale",
        input=f"{transactions:,} transactions of {ITEMS_EACH} items, {path.stat().st_size:,} bytes "
        f"of Parquet ({CODEC}); load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
    )
    spark = engine = None
    try:
        engine = OnSpark("local[2]")
        spark = engine._session
    except ParaplyError as fault:
        report.remarks.append(f"no Spark: {fault}")
    wanted = check_files([str(paths[sizes[0]])]).unordered  # Compiles, and warms the cache.
    if engine is not None:
        _expected(path, "Spark", check_files([str(paths[sizes[0]])], engine.map).unordered, wanted)
    wanted = check_files([str(path)]).unordered
    contestants: dict[str, Callable[[], Run]] = {}
    for size in sizes:
        name = str(paths[size])
        contestants[f"kernel, one process, {size:,}"] = partial(
            run_sampled, partial(check_files, [name]), children=False
        )
        if engine is not None:
            contestants[f"kernel on Spark local[2], {size:,}"] = partial(
                run_sampled, partial(check_files, [name], engine.map, stretches=8)
            )
    # First and alone, so that memory of the others does not count.
    runs = interleave(contestants, options.rounds)
    sql_size = min(SQL_TRANSACTIONS_MAX, transactions)
    sql_path = table_of(options.folder, sql_size, options.seed)
    sql_wanted = check_files([str(sql_path)]).unordered
    write_breaches([str(sql_path)], str(options.folder / "breaches.parquet"))  # Compiles.
    others = _sql_contestants(sql_path, spark)
    for name, work in others.items():
        _expected(sql_path, name, work(), sql_wanted)
    beside_name = f"kernel, one process, {sql_size:,}, beside the others"
    named, breaches = str(options.folder / "breaches.parquet"), "kernel, breaches named"
    compared: dict[str, Callable[[], Run]] = {
        beside_name: partial(run_sampled, partial(check_files, [str(sql_path)]), children=False),
        breaches: partial(
            run_sampled, partial(write_breaches, [str(sql_path)], named), children=False
        ),
        **{name: partial(run_sampled, work) for name, work in others.items()},
    }
    beside = interleave(compared, options.rounds)
    for name, taken in {**runs, **beside}.items():
        size = sql_size if name in beside else sizes[0]
        size = size if name in beside or name.endswith(f" {sizes[0]:,}") else transactions
        report.add(name, "rate", size / 1e6 / taken.seconds, "M/s")
        report.add(name, "rate per CPU second", size / 1e6 / taken.cpu_seconds, "M/s")
        if name in runs:
            report.add(name, "peak memory, with children", taken.peak_bytes / 1e6, "MB")
    best = f"kernel on Spark local[2], {transactions:,}" if engine is not None else ""
    report.goals.append(
        Goal(
            name="naming breaches over counting them, CPU time",
            wanted=NAMING_TIMES_MAX,
            got=beside[breaches].cpu_seconds / beside[beside_name].cpu_seconds,
            at_most=True,
        )
    )
    for name in others:
        times = beside[name].cpu_seconds / beside[beside_name].cpu_seconds
        report.goals.append(
            Goal(
                name=f"speed per CPU second / {name}, both on {sql_size:,}",
                wanted=GOALS[name],
                got=times,
            )
        )
    _compare_small(report, path, options.rounds)
    if best:
        alone, spread = runs[f"kernel, one process, {transactions:,}"], runs[best]
        report.goals += [
            Goal(
                name="Spark, million transactions/s of wall time",
                wanted=RATE_MIN_MILLIONS,
                got=transactions / 1e6 / spread.seconds,
            ),
            Goal(
                name="Spark / one process, per CPU second",
                wanted=OF_ONE_PROCESS_MIN,
                got=alone.cpu_seconds / spread.cpu_seconds,
            ),
            Goal(
                name="peak memory of driver, JVM and workers in MB",
                wanted=MEMORY_MAX_MB,
                got=spread.peak_bytes / 1e6,
                at_most=True,
            ),
        ]
    if len(sizes) > 1:
        _add_exponents(report, runs, sizes, best)
    _compare_long(report, options, min(LONG_ROWS_MAX, transactions), engine)
    if engine is not None:
        engine.close()
    report.remarks.append(
        "the goals are for 10^8 transactions on two idle cores (--transactions 100000000); below "
        "some 10^7 what Spark costs however small the table is outweighs the checking"
    )
    return report


def _compare_small(report: Report, path: Path, rounds: int) -> None:
    group = read_columns(pq.ParquetFile(path), 0, str(path)).slice(
        0, SMALL_HISTORIES * HISTORY_ROWS
    )
    rows = _rows(group)
    kernel = TableChecker(joins_left=False)
    repeats = 20

    def check_repeatedly() -> None:
        for _ in range(repeats):
            kernel.add(group)

    check_repeatedly()
    assert bool(_all_pairs(rows[:HISTORY_ROWS])) == bool(
        summarise(rows[:HISTORY_ROWS]).counts.unordered
    )
    contestants: dict[str, tuple[Callable[[], object], int]] = {
        "networkx, all pairs": (lambda: _all_pairs(rows), 1),
        "readable check": (lambda: summarise(rows), 1),
        "kernel, in memory": (check_repeatedly, repeats),
    }
    runs = interleave(
        {name: partial(run_here, work) for name, (work, _) in contestants.items()}, rounds
    )
    for name, (_, times) in contestants.items():
        report.add(name, "rate", times * len(rows) / 1e6 / runs[name].seconds, "M/s")
    name, ours = "networkx, all pairs", runs["kernel, in memory"].cpu_seconds / repeats
    report.goals.append(
        Goal(
            name=f"speed per CPU second / {name}, both on {len(rows):,} in memory",
            wanted=GOALS[name],
            got=runs[name].cpu_seconds / ours,
        )
    )


def _add_exponents(report: Report, runs: dict[str, Any], sizes: list[int], best: str) -> None:
    small, large = sizes[0], sizes[-1]
    for prefix in ("kernel, one process", "kernel on Spark local[2]") if best else (
        "kernel, one process",
    ):  # fmt: skip
        pair = [runs[f"{prefix}, {size:,}"] for size in (small, large)]
        for quantity, values in (
            ("CPU time", [run.cpu_seconds for run in pair]),
            ("memory", [run.peak_bytes for run in pair]),
        ):
            exponent = math.log(values[1] / values[0]) / math.log(large / small)
            report.goals.append(
                Goal(
                    name=f"exponent of {quantity}, {prefix}, {small:,} to {large:,}",
                    wanted=EXPONENT_MAX,
                    got=exponent,
                    at_most=True,
                )
            )


def _compare_long(report: Report, options: Options, rows: int, engine: OnSpark | None) -> None:
    rng = np.random.default_rng(options.seed)
    items = _chosen_items(rng, rows, LONG_ITEMS)
    history = np.zeros(rows, np.int64)
    lc, sn = _timestamps(history, items)
    offsets = np.arange(rows + 1, dtype=np.int32) * ITEMS_EACH
    columns = Columns(history, lc, sn, offsets, np.ascontiguousarray(items.ravel() * 2654435761))
    path = options.folder / f"one-history-{rows}-seed{options.seed}.parquet"
    write_columns(path, (columns.slice(at, at + GROUP_ROWS) for at in range(0, rows, GROUP_ROWS)))
    whole_name, merged_name = "one history, whole table", "one history, merged chunks"
    with ThreadPoolExecutor(2) as threads:
        contestants: dict[str, Callable[[], TableCounts]] = {
            whole_name: lambda: check_whole(columns),
            merged_name: lambda: check_in_chunks(columns),
            f"{merged_name}, two threads": lambda: check_in_chunks(columns, map_chunks=threads.map),
            "one history, from Parquet in one stretch": lambda: check_files(
                [str(path)], stretches=1
            ),
        }
        if engine is not None:
            contestants["one history, from Parquet on Spark local[2]"] = lambda: check_files(
                [str(path)], engine.map
            )
        wanted = check_whole(columns)
        for name, work in contestants.items():
            if work() != wanted:
                raise RuntimeError(f"{name} differs from the whole table")
        measured = {name: partial(run_sampled, work) for name, work in contestants.items()}
        runs = interleave(measured, options.rounds)
    for name, taken in runs.items():
        report.add(name, "rate", rows / 1e6 / taken.seconds, "M/s")
        report.add(name, "rate per CPU second", rows / 1e6 / taken.cpu_seconds, "M/s")
    report.goals.append(
        Goal(
            name=f"one history of {rows:,}: merged chunks / whole table, per CPU second",
            wanted=OF_WHOLE_TABLE_MIN,
            got=runs[whole_name].cpu_seconds / runs[merged_name].cpu_seconds,
        )
    )
