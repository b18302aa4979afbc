"""Campaigns: kernels, Spark and minimising."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

from ci.bench.measure import Run, interleave, run_here
from ci.bench.registry import Goal, Options, Report, benchmark
from ci.kernels import WITHOUT_VIEWS
from paraply.campaigning.result import judge
from paraply.counterexamples.foreign_systems import smallest_of_system
from paraply.mining.campaign import StopWhen, read_campaign, run_campaign
from paraply.mining.clusters import Cluster, Minimal, MinimiseTask, clusters_of
from paraply.mining.compiled import columns as A
from paraply.mining.compiled.composed import columns as C
from paraply.mining.compiled.twins import twin_of
from paraply.mining.engines import InProcess, OnSpark
from paraply.mining.findings import findings_of_batches
from paraply.mining.plan import Plan
from paraply.mining.rounds import BatchTask
from paraply.mining.systems import System, systems_of
from paraply.properties.registry import property_named
from paraply.vocabulary.errors import ParaplyError
from paraply.vocabulary.schedule import SeededSchedule

LARGE = {"transactions": "12", "rows": "6", "workers": "4"}
COMPOSED = "composed:wl8440"
REFERENCE_RUNS = 400
KERNEL_RUNS = 50_000
SUBJECTS = (
    "applier:logical_clock",
    "certifier:wl8440",
    "group:wl8440",
    "mariadb_parallel:optimistic",
)
HISTORIES, BATCH = 800, 100
WITNESS_HISTORIES = 2_000
TIMES_FASTER_MIN = 60.0
OF_TWO_PROCESSES_MIN = 0.75
MINIMISING_MS_MAX = 10.0
"""Of the median."""
MUTANT_HISTORIES, MUTANT_BATCH = 20_000, 50
HARDEST_SHOWN = 5
MUTANTS_SECONDS_MAX = 600.0


@benchmark("fast_path")
def fast_path(options: Options) -> Report:
    """Judge histories of the applier by kernel and reference."""
    return _fast_path(
        options, "fast_path", systems_of([SUBJECTS[0]], [], LARGE)[0],
        "12 transactions, 6 rows, 4 workers, LOGICAL_CLOCK",
    )  # fmt: skip


@benchmark("composed_path")
def composed_path(options: Options) -> Report:
    """Judge histories of the composed system by kernel and reference."""
    return _fast_path(
        options, "composed_path", systems_of([COMPOSED], [], WITHOUT_VIEWS)[0],
        "4 transactions, 3 rows, 2 members; clients, certifier, appliers, semi-sync, readers",
    )  # fmt: skip


def _fast_path(options: Options, benchmark: str, system: System, described: str) -> Report:
    twin = twin_of(system)
    assert twin is not None
    settings, run_many = twin.settings, twin.run_many
    run_many(settings, 0, 1)  # Compiles, where that was not done before.
    judges = [property_named(name) for name in twin.judged]

    def reference() -> None:
        for seed in range(REFERENCE_RUNS):
            history = system.runner.run(SeededSchedule(seed), system.workload)
            for prop in judges:
                prop.violations(history)

    def two_threads() -> None:
        with ThreadPoolExecutor(2) as threads:
            list(threads.map(lambda half: run_many(settings, half, KERNEL_RUNS), (0, KERNEL_RUNS)))

    contestants = {
        "reference": (reference, REFERENCE_RUNS),
        "kernels, one thread": (lambda: run_many(settings, options.seed, KERNEL_RUNS), KERNEL_RUNS),
        "kernels, two threads": (two_threads, 2 * KERNEL_RUNS),
    }
    report = Report(benchmark=benchmark, input=described)
    runs = interleave(
        {name: _run_of(work) for name, (work, _) in contestants.items()}, options.rounds
    )
    rates = {}
    for name, (_, count) in contestants.items():
        rates[name] = count / runs[name].cpu_seconds
        report.add(name, "histories per CPU s", rates[name], "1/s")
        report.add(name, "histories per s", count / runs[name].seconds, "1/s")
    report.goals.append(
        Goal(
            name="kernels over reference, per CPU second",
            wanted=TIMES_FASTER_MIN,
            got=rates["kernels, one thread"] / rates["reference"],
        )
    )
    return report


@benchmark("campaign")
def campaign(options: Options) -> Report:
    """Measure one process, two, and Spark."""
    plan = Plan(
        systems=systems_of(SUBJECTS, [], {}),
        histories=HISTORIES,
        seed=options.seed,
        batch_histories=BATCH,
    )
    total = HISTORIES * len(plan.systems)
    report = Report(
        benchmark="campaign", input=f"{total:,} histories of {len(plan.systems)} subjects"
    )

    def in_process() -> None:
        with tempfile.TemporaryDirectory() as folder:
            run_campaign(plan, folder, InProcess())

    def two_processes() -> None:
        with tempfile.TemporaryDirectory() as folder:
            task = BatchTask(plan=plan, place=folder)
            batches = [[(number, None)] for number in range(plan.batches)]
            list(pool.map(partial(findings_of_batches, task), batches))

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(_nothing, range(2)))
        contestants: dict[str, Callable[[], None]] = {
            "one process": in_process,
            "two processes": two_processes,
        }
        engine = _spark(report)
        if engine is not None:

            def on_spark() -> None:
                with tempfile.TemporaryDirectory() as folder:
                    run_campaign(plan, folder, engine)

            on_spark()  # The workers import what they need.
            contestants["Spark, local[2]"] = on_spark
        runs = interleave(
            {name: _run_of(work) for name, work in contestants.items()}, options.rounds
        )
    for name in contestants:
        report.add(name, "histories per s", total / runs[name].seconds, "1/s")
    if engine is not None:
        engine.close()
        report.goals.append(
            Goal(
                name="Spark on two cores over two plain processes",
                wanted=OF_TWO_PROCESSES_MIN,
                got=runs["two processes"].seconds / runs["Spark, local[2]"].seconds,
            )
        )
    return report


def _spark(report: Report) -> OnSpark | None:
    started = time.perf_counter()
    try:
        engine = OnSpark("local[2]")
    except ParaplyError as error:
        report.remarks.append(f"without Spark: {error}")
        return None
    report.add("Spark, local[2]", "start", time.perf_counter() - started, "s")
    return engine


@benchmark("minimising")
def minimising(options: Options) -> Report:
    """Minimise breaches of the applier with both oracles, and of the composed system."""
    plan, clusters = _breaches(options, systems_of([], A.FAULTS[1:], {}), A.JUDGED)
    of_composed = _breaches(options, systems_of([], C.FAULTS[1:], WITHOUT_VIEWS), C.JUDGED)
    report = Report(
        benchmark="minimising",
        input=f"{len(clusters)} breaches by {len(plan.systems)} mutants of the applier, "
        f"{len(of_composed[1])} by {len(of_composed[0].systems)} of the composed system",
    )
    by_kernels, ms = _minimise(plan, clusters)
    by_reference, readable_ms = _minimise(replace(plan, is_fast=False), clusters)
    _, composed_ms = _minimise(*of_composed)
    for cluster, one, other in zip(clusters, by_kernels, by_reference, strict=True):
        if one != other:
            report.remarks.append(f"{cluster.prop}: kernels end at another run: {cluster.shape}")
    ways = {"kernels": ms, "readable": readable_ms, "kernels, composed system": composed_ms}
    for way, spent in ways.items():
        report.add(way, "median per witness", statistics.median(spent), "ms")
        report.add(way, "p95 per witness", sorted(spent)[int(0.95 * len(spent))], "ms")
    times = statistics.median(readable_ms) / statistics.median(ms)
    report.add("readable over kernels", "median CPU time", times, "x")
    report.goals += [
        Goal(
            name=f"minimising a witness, {way}, median CPU ms (and confirming it)",
            wanted=MINIMISING_MS_MAX,
            got=statistics.median(ways[way]),
            at_most=True,
        )
        for way in ("kernels", "kernels, composed system")
    ]
    return report


def _breaches(
    options: Options, systems: tuple[System, ...], judged: tuple[str, ...]
) -> tuple[Plan, list[Cluster]]:
    """Return what a campaign of kernels finds."""
    plan = Plan(
        systems=systems,
        histories=WITNESS_HISTORIES,
        seed=options.seed,
        batch_histories=WITNESS_HISTORIES,
        is_fast=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        run_campaign(plan, folder, InProcess())
        found = clusters_of(read_campaign(folder), goals_only=False)
    return plan, [cluster for cluster in found if cluster.prop in judged]


def _minimise(plan: Plan, clusters: list[Cluster]) -> tuple[list[Minimal], list[float]]:
    """Return the smallest counterexamples, and the CPU milliseconds that each took."""
    task = MinimiseTask(plan=plan, make_small=smallest_of_system)
    task(clusters[0])  # Compiles, where that was not done before.
    found, ms = [], []
    for cluster in clusters:
        started = time.process_time()
        small = task(cluster)
        ms.append(1000 * (time.process_time() - started))
        assert small is not None
        found.append(replace(small, seconds=0))
    return found, ms


@benchmark("mutants")
def mutants(options: Options) -> Report:
    """Search for every mutant, blind and guided."""
    systems = tuple(system for system in systems_of([], ["all"], {}) if system.goals)
    report = Report(
        benchmark="mutants",
        input=f"{len(systems)} mutants, seed {options.seed}, up to {MUTANT_HISTORIES:,} histories "
        f"of each in batches of {MUTANT_BATCH}, this process",
    )
    for way in ("blind", "guided"):
        plan = Plan(
            systems=systems,
            histories=MUTANT_HISTORIES,
            seed=options.seed,
            batch_histories=MUTANT_BATCH,
            is_guided=way == "guided",
        )
        with tempfile.TemporaryDirectory() as folder:
            progress = run_campaign(
                plan, folder, InProcess(),
                stop_when=StopWhen.FOUND, time_limit_s=options.seconds_max,
            )  # fmt: skip
        results = {result.system.name: result for result in judge(progress)}
        needed = {name: result.first_found for name, result in results.items()}
        found = {name: count for name, count in needed.items() if count is not None}
        spent = [result.seconds_to_find or 0.0 for result in results.values()]
        report.add(way, "found", len(found), "mutants")
        report.add(way, "all found after", progress.seconds, "s")
        report.add(way, "median to find", statistics.median(found.values()), "histories")
        report.add(way, "most to find", max(found.values()), "histories")
        report.add(way, "median to find", 1000 * statistics.median(spent), "ms")
        hardest = sorted(found, key=lambda name: -found[name])[:HARDEST_SHOWN]
        shown = ", ".join(f"{name} {found[name]:,}" for name in hardest)
        report.remarks.append(f"{way}, histories that the hardest need: {shown}")
        missed = sorted(name for name, count in needed.items() if count is None)
        if missed:
            report.remarks.append(f"{way}, not found: {', '.join(missed)}")
        report.goals += [
            Goal(name=f"mutants found, {way}", wanted=len(systems), got=len(found)),
            Goal(
                name=f"seconds until all are found, {way}",
                wanted=MUTANTS_SECONDS_MAX, got=progress.seconds, at_most=True,
            ),
        ]  # fmt: skip
    return report


def _nothing(number: int) -> int:
    return number


def _run_of(work: Callable[[], object]) -> Callable[[], Run]:
    return lambda: run_here(work)
