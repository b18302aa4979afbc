"""Proofs: time per judge, and replays without a solver."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.models.claims.refuted import COUNTEREXAMPLES
from paraply.models.claims.theorems import THEOREMS
from paraply.models.judging.judges import JUDGES
from paraply.models.judging.proving import patiently, replayed
from paraply.models.judging.solver import Answer
from paraply.models.judging.traces import stored_runs
from paraply.models.language.system import System, obligations

THEOREM_SECONDS_MAX = 60.0
"""CPU seconds of one theorem by all judges."""
SHOWN = 5
"""The slowest theorems."""
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
    rounds: dict[str, list[dict[str, float]]] = {name: [] for name in JUDGES}
    slowest = dict.fromkeys(JUDGES, 0.0)
    unproved = dict.fromkeys(JUDGES, 0)
    for _ in range(options.rounds):
        for name, judge in JUDGES.items():
            spent: dict[str, float] = defaultdict(float)
            for part in wanted:
                judgment = patiently(
                    lambda limit, seed, judge=judge, part=part: judge(  # type: ignore[misc]
                        part, timeout_s=limit, seed=seed
                    ),
                    timeout_s=10.0, seed=options.seed,
                )  # fmt: skip
                spent[part.system] += judgment.seconds
                slowest[name] = max(slowest[name], judgment.seconds)
                unproved[name] += judgment.answer is not Answer.PROVED
            rounds[name].append(spent)
    for name, each in rounds.items():
        median = statistics.median(sum(spent.values()) for spent in each)
        report.add(name, "all obligations", median, "CPU s")
        report.add(name, "obligations per second", len(wanted) / median, "1/s")
        report.add(name, "slowest obligation", slowest[name], "CPU s")
        report.remarks.append(f"{name} left {unproved[name]} obligations unproved")
    report.add("replay", "stored runs", _replays_per_second(), "1/s")
    theorems = {
        theorem.id: sum(
            statistics.median(spent[build().name] for spent in each)
            for each in rounds.values() for build in theorem.systems
        )
        for theorem in THEOREMS
    }  # fmt: skip
    for one in sorted(theorems, key=theorems.__getitem__, reverse=True)[:SHOWN]:
        report.add(one, "three judges", theorems[one], "CPU s")
    report.goals.append(
        Goal(name="slowest theorem by three judges, CPU seconds", wanted=THEOREM_SECONDS_MAX,
             got=max(theorems.values()), at_most=True)
    )  # fmt: skip
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
