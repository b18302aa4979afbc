"""Conformance: cases and schedules per second, and runs until a fault is caught."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.bench.measure import cpu_seconds
from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.adapters.conformance.cases import cases_named
from paraply.adapters.conformance.host import host_command
from paraply.adapters.conformance.inline import InlineLauncher
from paraply.adapters.conformance.launching import CommandLauncher
from paraply.adapters.conformance.rules.faulty import FAULTS
from paraply.conforming.suite import SCHEDULES as SUITE_SCHEDULES
from paraply.conforming.suite import Conformance

SAMPLES = Path(__file__).parents[2] / "paraply" / "adapters" / "conformance" / "samples"
SCHEDULES = 5
START_SECONDS_MAX = 1.0
SUITE_CPU_SECONDS_MAX = 40.0


@benchmark("conform")
def conform(options: Options) -> Report:
    """Run every crash-free case against each applier."""
    cases = tuple(case for case in cases_named([]) if not case.crashes)
    commands = _commands(options.folder)
    report = Report(
        benchmark="conform",
        input=f"{len(cases)} cases without a crash, {SCHEDULES} schedules each",
    )
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    runs: dict[str, int] = {}
    for _ in range(options.rounds):
        for name, command in commands.items():
            used = cpu_seconds()
            with CommandLauncher(command) as launcher:
                conformance = Conformance(launcher, schedules=SCHEDULES, seed=options.seed)
                conformance.meet()
                started = time.perf_counter()
                results = conformance.run_all(cases)
                seconds[name].append(time.perf_counter() - started)
                runs[name] = sum(result.runs for result in results)
            cpu[name].append(cpu_seconds() - used)
    for name in commands:
        median, used = statistics.median(seconds[name]), statistics.median(cpu[name])
        report.add(name, "cases", len(cases) / median, "1/s")
        report.add(name, "schedules", runs[name] / median, "1/s")
        report.add(name, "cases a CPU second", len(cases) / used, "1/s")
        report.add(name, "schedules a CPU second", runs[name] / used, "1/s")
    _add_whole_suite(report, commands["rule class"], options.seed)
    _add_time_to_catch(report, options.seed)
    start = statistics.median(_start_seconds() for _ in range(max(3, options.rounds)))
    report.add("paraply conform", "start to the first verdict", start, "s")
    report.goals.append(
        Goal(name="start-up, seconds", wanted=START_SECONDS_MAX, got=start, at_most=True)
    )
    missing = [name for name in ("go", "node") if name not in commands]
    report.remarks += [f"the {name} sample was skipped: no {name} here" for name in missing]
    return report


def _add_whole_suite(report: Report, command: Sequence[str], seed: int) -> None:
    used = cpu_seconds()
    with CommandLauncher(command) as launcher:
        conformance = Conformance(launcher, schedules=SUITE_SCHEDULES, seed=seed)
        conformance.meet()
        conformance.run_all(cases_named([]))
    report.goals.append(
        Goal(
            name="whole suite, CPU seconds with the child",
            wanted=SUITE_CPU_SECONDS_MAX,
            got=cpu_seconds() - used,
            at_most=True,
        )
    )


def _add_time_to_catch(report: Report, seed: int) -> None:
    runs, used = [], []
    for fault in FAULTS:
        conformance = Conformance(InlineLauncher(fault.rule), seed=seed, shrink_runs_max=0)
        conformance.meet()
        began = time.process_time()
        (case,) = cases_named([fault.case])
        runs.append(conformance.run_case(case).runs)
        used.append(time.process_time() - began)
    for quantity, values, unit in (("runs to catch", runs, ""), ("CPU to catch", used, "s")):
        report.add(
            f"{len(FAULTS)} faulty rules", f"{quantity}, median", statistics.median(values), unit
        )
        report.add(f"{len(FAULTS)} faulty rules", f"{quantity}, most", max(values), unit)


def _commands(folder: Path) -> Mapping[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {
        "rule class": host_command("paraply.adapters.conformance.rules.correct:LogicalClock"),
        "python": [sys.executable, "-I", "-S", str(SAMPLES / "python" / "lc_sn_threads.py")],
    }
    node, go = shutil.which("node"), shutil.which("go")
    if node is not None:
        found["node"] = [node, str(SAMPLES / "node" / "write_set.mjs")]
    if go is not None:
        folder.mkdir(parents=True, exist_ok=True)
        binary = folder / "lc_sn_go"
        source = SAMPLES / "go" / "main.go"
        subprocess.run([go, "build", "-o", str(binary), str(source)], check=True, timeout=300)
        found["go"] = [str(binary)]
    return found


def _start_seconds() -> float:
    rule = "paraply.adapters.conformance.rules.correct:LogicalClock"
    words = ["conform", "--case", "B-prefix-01", "--schedules", "1", "--applier", rule]
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "paraply", *words], check=False, capture_output=True, timeout=60
    )
    return time.perf_counter() - started
