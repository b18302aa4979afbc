"""Proofs: time per judge, and replays without a solver."""

from __future__ import annotations

import statistics
import time

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.proving import replayed
from paraply.models.judging.solver import Answer
from paraply.models.judging.traces import stored_runs
from paraply.models.language.system import System, obligations

SECONDS_MAX = 60.0
"""All theorems in Z3, two cores."""
KERNEL_SECONDS_MAX = 15.0
"""All certificates."""
OBLIGATION_SECONDS_MAX = 2.0


def all_systems() -> dict[str, System]:
    """Return every theorem's systems by name."""
    return {system.name: system for t in THEOREMS for system in (build() for build in t.systems)}


@benchmark("proofs")
def proofs(options: Options) -> Report:
    """Run every obligation by each judge."""
    wanted = [part for system in all_systems().values() for part in obligations(system)]
    report = Report(
        benchmark="proofs",
        input=f"{len(wanted):,} obligations of {len(all_systems())} systems, "
        f"{len(THEOREMS)} theorems, {len(COUNTEREXAMPLES)} stored runs",
    )
    totals: dict[str, list[float]] = {name: [] for name in JUDGES}
    slowest = dict.fromkeys(JUDGES, 0.0)
    unproved = dict.fromkeys(JUDGES, 0)
    for _ in range(options.rounds):
        for name, judge in JUDGES.items():
            judged = [judge(part, timeout_s=10.0, seed=options.seed) for part in wanted]
            totals[name].append(sum(judgment.seconds for judgment in judged))
            slowest[name] = max(slowest[name], *(judgment.seconds for judgment in judged))
            unproved[name] += sum(judgment.answer is not Answer.PROVED for judgment in judged)
    for name, seconds in totals.items():
        median = statistics.median(seconds)
        report.add(name, "all obligations", median, "s")
        report.add(name, "obligations per second", len(wanted) / median, "1/s")
        report.add(name, "slowest obligation", slowest[name], "s")
        report.remarks.append(f"{name} left {unproved[name]} obligations unproved")
    report.add("replay", "stored runs", _replays_per_second(), "1/s")
    z3 = statistics.median(totals["z3"])
    report.goals.append(Goal(name="z3, seconds", wanted=SECONDS_MAX, got=z3, at_most=True))
    kernel = statistics.median(totals["kernel"])
    report.goals.append(
        Goal(name="kernel, seconds", wanted=KERNEL_SECONDS_MAX, got=kernel, at_most=True)
    )
    report.goals.append(
        Goal(name="z3, slowest obligation", wanted=OBLIGATION_SECONDS_MAX, got=slowest["z3"],
             at_most=True)
    )  # fmt: skip
    return report


def _replays_per_second() -> float:
    runs = stored_runs()
    started = time.perf_counter()
    for entry in COUNTEREXAMPLES:
        replayed(entry, runs[entry.id])
    return len(COUNTEREXAMPLES) / (time.perf_counter() - started)
