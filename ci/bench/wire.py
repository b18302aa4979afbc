"""Conformance over the wire: runs per second, equal traces, and runs until a fault is caught."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ci.bench.measure import cpu_seconds
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.conformance.adversaries import Adversary
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.adapters.wire.run import Fault
from paraply.adapters.wire.samples import threaded_applier
from paraply.commands.conform_wire import own_target
from paraply.conforming.wire.suite import WireConformance, WireOptions
from paraply.vocabulary.schedule import RecordedSchedule
from paraply.vocabulary.verdict import Verdict

APPLIER = [sys.executable, threaded_applier.__file__, "{source_dsn}", "{target_dsn}"]
CONFLICTS, ROWS = "B-prefix-02", "I-swap-04"
FAULTS = (
    ("ignore-conflicts", CONFLICTS, Adversary.STARVE_TRANSACTION, ()),
    ("torn", ROWS, Adversary.UNIFORM, ()),
    ("statement-retry", ROWS, Adversary.UNIFORM, (Fault.DEADLOCK,)),
    ("skip-after-deadlock", CONFLICTS, Adversary.UNIFORM, (Fault.DEADLOCK,)),
    ("lost-commit-is-done", CONFLICTS, Adversary.UNIFORM, (Fault.LOST_BEFORE,)),
    ("checkpoint-off-by-one", CONFLICTS, Adversary.UNIFORM, (Fault.KILL,)),
)
RUNS_MAX, SEEDS, BUSY_LOOPS = 12, 4, 2
EQUAL_SHARE_MIN = 0.9
_LOOP = [sys.executable, "-c", "while True: pass"]


@benchmark("wire")
def wire(options: Options) -> Report:
    """Run the threaded sample, right and with each fault, on MariaDB."""
    report = Report(
        benchmark="wire",
        input=f"threaded sample with four workers, MariaDB, case {CONFLICTS}; the CPU seconds are "
        "those of gate, judge and program, without the server",
    )
    (case,) = cases_named([CONFLICTS])
    with ServerRoom() as room:
        server = own_target(room, find_mariadb())

        def conformance(*words: str) -> WireConformance:
            folder = options.folder / f"wire{len(list(options.folder.iterdir()))}"
            folder.mkdir()
            return WireConformance(server, [*APPLIER, *words], folder, WireOptions())

        right = conformance()
        right.run_once(case, RecordedSchedule(()), 0, ())  # Records the log.
        runs = options.rounds * SEEDS
        began, used = time.perf_counter(), cpu_seconds()
        for seed in range(runs):
            right.run_once(case, right.schedule(case, seed, Adversary.UNIFORM, ()), seed, ())
        report.add("right sample", "runs", runs / (time.perf_counter() - began), "1/s")
        report.add("right sample", "runs a CPU second", runs / (cpu_seconds() - used), "1/s")
        _add_equal_traces(report, conformance(), options.rounds)
        for fault, name, adversary, injected in FAULTS:
            faulty = conformance("--fault", fault)
            (its_case,) = cases_named([name])
            began = time.perf_counter()
            for seed in range(RUNS_MAX):
                schedule = faulty.schedule(its_case, seed, adversary, injected)
                judged = faulty.run_once(its_case, schedule, seed, injected)
                if judged.verdict is Verdict.VIOLATED:
                    report.add(fault, "runs to catch", seed + 1, "")
                    report.add(fault, "time to catch", time.perf_counter() - began, "s")
                    break
            else:
                report.remarks.append(f"{fault} was not caught in {RUNS_MAX} runs")
    return report


def _add_equal_traces(report: Report, right: WireConformance, rounds: int) -> None:
    (case,) = cases_named([CONFLICTS])
    equal = pairs = forced = 0
    with _busy_loops():
        for faults in ((), (Fault.DEADLOCK,), (Fault.LOST_BEFORE,), (Fault.LOST_AFTER,)):
            same = 0
            for seed in range(rounds * SEEDS):
                schedule = right.schedule(case, seed, Adversary.UNIFORM, faults)
                first = right.run_once(case, schedule, seed, faults)
                again = RecordedSchedule(schedule.choices)
                second = right.run_once(case, again, seed, faults)
                same += first.run.trace == second.run.trace
                forced += first.run.forced + second.run.forced
            pairs += rounds * SEEDS
            equal += same
            name = faults[0].value if faults else "no fault"
            report.add(name, "equal traces", same, f"of {rounds * SEEDS} pairs")
    report.add("all", "forced rests", forced, f"in {2 * pairs} runs")
    report.goals.append(
        Goal(
            name=f"equal traces beside {BUSY_LOOPS} busy loops, share",
            wanted=EQUAL_SHARE_MIN,
            got=equal / pairs,
        )
    )


@contextmanager
def _busy_loops() -> Iterator[None]:
    loops = [subprocess.Popen(_LOOP) for _ in range(BUSY_LOOPS)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
