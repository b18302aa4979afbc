"""What Spark costs before and beside the work: start, empty tasks, kernels not yet compiled."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pyarrow as pa

from ci.bench.measure import ROOT, Run, interleave, run_measured
from ci.bench.registry import Goal, Options, Report, benchmark
from ci.scale import HERE, KERNELS, SPARK, Measurement, measure
from paraply.mining.engines import OnSpark
from paraply.vocabulary.errors import ParaplyError

FIRST_BATCH_S_MAX = 8.0
EMPTY_TASK_MS_MAX = 4.0
TASKS = 1_000
OF_IN_PROCESS_MIN = 0.9
CORES = 2
FEW_HISTORIES = 1_000
_CAMPAIGN = ("mine", "--subjects", "applier:logical_clock", "--histories", "2000", "--batch", "500")


@benchmark("spark_overhead")
def spark_overhead(options: Options) -> Report:
    """Measure the time to a first batch, the CPU of an empty task, and of cold kernels."""
    report = Report(benchmark="spark_overhead", input=f"applier:logical_clock, {TASKS:,} tasks")
    started = {
        name: lambda master=master: _first_batch(master, options.seconds_max)
        for name, master in (("one process", "none"), ("Spark, local[2]", "local[2]"))
    }
    runs = interleave(started, options.rounds)
    for name, each in runs.items():
        report.add(name, "start to first batch", each.seconds, "s")
        report.add(name, "start to first batch", each.cpu_seconds, "CPU s")
    report.goals.append(
        Goal(
            name="seconds from start to the first batch on Spark",
            wanted=FIRST_BATCH_S_MAX, got=runs["Spark, local[2]"].seconds, at_most=True,
        )
    )  # fmt: skip
    _empty_tasks(report)
    _cold_kernels(report, options)
    return report


@benchmark("kernels_on_spark")
def kernels_on_spark(options: Options) -> Report:
    """Run one campaign by kernels on two cores, in two processes and on Spark, starts included.

    Two busy cores share caches and clock rate, so a single process beside an idle core is faster.
    """
    size = options.histories
    report = Report(benchmark="kernels_on_spark", input=f"{size:,} histories, one run of each")
    rates = {}
    # Compiles kernels that are not stored.
    _measured_together(1, FEW_HISTORIES, HERE, options.folder)
    for engine, name in ((HERE, f"{CORES} processes"), (SPARK, f"Spark, {SPARK}")):
        processes = CORES if engine == HERE else 1
        found = _measured_together(processes, size // processes, engine, options.folder)
        rates[engine] = size / sum(one.cpu for one in found)
        report.add(name, "histories per CPU s", rates[engine], "1/s")
        report.add(name, "histories per s", size / max(one.seconds for one in found), "1/s")
        for role in found[0].cpu_seconds:
            report.add(name, role, sum(one.cpu_seconds[role] for one in found), "CPU s")
    report.goals.append(
        Goal(
            name=f"Spark over {CORES} processes, {size:,} histories by kernels, per CPU second",
            wanted=OF_IN_PROCESS_MIN, got=rates[SPARK] / rates[HERE],
        )
    )  # fmt: skip
    return report


def _measured_together(processes: int, size: int, engine: str, folder: Path) -> list[Measurement]:
    """Return the measurements of campaigns that run at the same time."""
    with ThreadPoolExecutor(processes) as threads:
        runs = [
            threads.submit(measure, KERNELS, size, engine, folder, logs_events=False)
            for _ in range(processes)
        ]
        return [run.result() for run in runs]


def _first_batch(master: str, seconds_max: float) -> Run:
    """Run a campaign until its first rows are committed; CPU is that of the whole process tree."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "campaign"
        command = [*_CAMPAIGN, "--master", master, "--out", str(place)]
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "paraply", *command], cwd=ROOT,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            while not any(place.glob("**/*.parquet")):
                if process.poll() is not None or time.perf_counter() > begun + seconds_max:
                    raise RuntimeError(f"a campaign on {master} wrote no batch")
                time.sleep(0.01)
            seconds = time.perf_counter() - begun
            cpu = _cpu_seconds(psutil.Process(process.pid))
            process.wait(timeout=seconds_max)
        finally:
            process.kill()
            process.wait()
    return Run(seconds=seconds, cpu_seconds=cpu, peak_bytes=0)


def _empty_tasks(report: Report) -> None:
    """Measure the Python workers of tasks that load what a campaign loads, and do nothing."""
    try:
        engine = OnSpark("local[2]")
    except ParaplyError as error:
        report.remarks.append(f"without Spark: {error}")
        return
    try:
        frame = engine._session.range(0, TASKS, 1, TASKS)
        # In this order: what a worker has once exempted from collection stays so.
        contestants = {"collected each time": _load, "heap kept": _load_and_keep}
        for name, task in contestants.items():
            frame.mapInArrow(task, "id long").collect()  # The workers import what they need.
            before = _workers_cpu()
            frame.mapInArrow(task, "id long").collect()
            spent = 1000 * (_workers_cpu() - before) / TASKS
            report.add(f"empty task, {name}", "CPU of workers", spent, "ms")
            if task is _load_and_keep:
                report.goals.append(
                    Goal(
                        name="CPU ms of a Python worker per empty task",
                        wanted=EMPTY_TASK_MS_MAX, got=spent, at_most=True,
                    )
                )  # fmt: skip
    finally:
        engine.close()


def _load(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import paraply.mining.findings  # noqa: F401

    yield from batches


def _load_and_keep(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import paraply.mining.findings  # noqa: F401
    from paraply.mining.shipping import keep_what_is_loaded

    yield from batches
    keep_what_is_loaded()


def _workers_cpu() -> float:
    """Return the CPU seconds of all Python descendants, ended ones included."""
    children = psutil.Process().children(recursive=True)
    return sum(_cpu_seconds(child) for child in children if "python" in child.name())


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        tree = [process, *process.children(recursive=True)]
        return sum(sum(each.cpu_times()[:2]) for each in tree)
    except psutil.NoSuchProcess:
        return 0.0


def _cold_kernels(report: Report, options: Options) -> None:
    """Measure a campaign by kernels on a machine that has not compiled them yet."""

    def run(cache: str) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            command = [
                "env", f"NUMBA_CACHE_DIR={cache or place / 'kernels'}",
                sys.executable, "-m", "paraply", *_CAMPAIGN, "--fast", "--master", "none",
                "--out", str(place / "campaign"),
            ]  # fmt: skip
            # Two thousand histories do not show every situation, so the verdict is unknown.
            return run_measured(
                command, exit_codes=frozenset({0, 2}), seconds_max=options.seconds_max
            )

    with tempfile.TemporaryDirectory() as warm:
        run(warm)
        runs = interleave({"cold": lambda: run(""), "warm": lambda: run(warm)}, options.rounds)
    for name, each in runs.items():
        report.add(f"kernels, {name}", "campaign", each.cpu_seconds, "CPU s")
    spent = runs["cold"].cpu_seconds - runs["warm"].cpu_seconds
    report.add("kernels", "compiled once", spent, "CPU s")
