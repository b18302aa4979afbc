"""Minimising: counterexample size and time, against Hypothesis' shrinking.

The minimiser searches small workloads, then cuts; Hypothesis shrinks a program.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.counterexamples.hunt import hunt_subject, system_of
from paraply.counterexamples.shrinking import Smallest, shrink_workload
from paraply.properties.registry import Property
from paraply.reference_impl.mutants import Mutant
from paraply.registries import mutant_named, property_named
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import RecordedSchedule

MUTANTS = (
    "first_item_decides",
    "low_water_mark_is_highest_done",
    "done_before_engine_commit",
    "last_committed_is_one_parent",
    "looks_past_the_blocked",
)
CHOICES_MAX = 120
CHOICE_MAX = 15


@benchmark("minimal")
def minimal(options: Options) -> Report:
    """Minimise a few mutants' counterexamples, both ways."""
    report = Report(
        benchmark="minimal",
        input=f"{len(MUTANTS)} mutants, from their whole workload, seed {options.seed}",
    )
    ways: dict[str, Callable[[Mutant, Property, int], tuple[int, int] | None]] = {
        "paraply": _ours,
        "Hypothesis find": _theirs,
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    sizes: dict[str, list[int]] = {name: [] for name in ways}
    for number in range(options.rounds):
        for name in MUTANTS:
            mutant = mutant_named(name)
            prop = property_named(mutant.caught_by)
            for way, run in ways.items():
                started = time.perf_counter()
                size = run(mutant, prop, options.seed + number)
                seconds[way].append(time.perf_counter() - started)
                if size is None:
                    report.remarks.append(f"{way} found no breach by {name}")
                else:
                    sizes[way].append(sum(size))
    for way in ways:
        report.add(way, "seconds each, search included", statistics.median(seconds[way]), "s")
        if sizes[way]:
            report.add(way, "transactions and events left", statistics.median(sizes[way]), "")
    if sizes["Hypothesis find"]:
        ratio = statistics.median(sizes["paraply"]) / statistics.median(sizes["Hypothesis find"])
        report.goals.append(
            Goal(name="size beside Hypothesis' result", wanted=1.0, got=ratio, at_most=True)
        )
    return report


def _size(history: History) -> tuple[int, int]:
    return len(history.transactions), len(history.events)


def _ours(mutant: Mutant, prop: Property, seed: int) -> tuple[int, int] | None:
    quarry = hunt_subject(mutant.subject, mutant.workload, prop, seed=seed)
    if quarry is None:
        return None
    found = Smallest(workload=quarry.workload, counterexample=quarry.counterexample)
    smallest = shrink_workload(mutant.subject, found, prop)
    return _size(smallest.counterexample.history)


def _theirs(mutant: Mutant, prop: Property, seed: int) -> tuple[int, int] | None:
    system = system_of(mutant.subject, mutant.workload)
    programs = st.lists(st.integers(0, CHOICE_MAX), max_size=CHOICES_MAX)

    def breaks(program: list[int]) -> bool:
        return bool(prop.violations(system(RecordedSchedule(program))))

    try:
        program = find(
            programs,
            breaks,
            settings=settings(
                max_examples=3_000,
                deadline=None,
                database=None,
                derandomize=True,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=list(HealthCheck),
            ),
        )
    except NoSuchExample:
        return None
    del seed  # derandomised: the same search every time
    return _size(system(RecordedSchedule(program)))
