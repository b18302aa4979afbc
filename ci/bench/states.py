"""Explicit-state search: generated states per second.

TLC reached 0.13 to 0.27 million per second and core on two-phase commit, Stateright 0.4 to 5
million on various models.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.models.explicit.search import Found, StateSpace
from paraply.models.language.concrete import Scope
from paraply.models.systems.applier import parallel_applier
from paraply.models.systems.two_phase_commit import two_phase_commit

GENERATED_WANTED = 1_000_000.0
_WRITES = ((0, 0), (1, 0), (1, 1), (2, 1), (3, 2), (4, 0), (5, 2))
_SAFETY = (
    "conflicting_rows_are_ordered",
    "without_write_set_is_alone",
    "view_change_is_a_barrier",
    "last_committed_is_below",
)
"""Without minimality, whose ghosts multiply the states."""


@benchmark("states")
def states(options: Options) -> Report:
    """Search two-phase commit and the applier."""
    spaces: dict[str, Callable[[], StateSpace]] = {
        "two-phase commit, 7 managers": _commit,
        "applier, 6 transactions, 3 rows": _applier,
    }
    report = Report(benchmark="states", input="; ".join(spaces))
    seconds: dict[str, list[float]] = {name: [] for name in spaces}
    found: dict[str, Found] = {}
    for _ in range(options.rounds):
        for name, make in spaces.items():
            space = make()
            started = time.process_time()
            found[name] = space.search()
            seconds[name].append(time.process_time() - started)
    for name, seen in found.items():
        rate = seen.generated / statistics.median(seconds[name])
        report.add(name, "distinct states", seen.distinct, "")
        report.add(name, "generated states", seen.generated, "")
        report.add(name, "generated", rate, "1/CPU s")
        report.goals.append(
            Goal(name=f"generated a CPU second, {name}", wanted=GENERATED_WANTED, got=rate)
        )
    return report


def _commit() -> StateSpace:
    return StateSpace(two_phase_commit(), Scope(low=0, high=3, size=7))


def _applier() -> StateSpace:
    system = parallel_applier()
    n = next(function for function in system.functions if function.name == "n")
    return StateSpace(
        system,
        Scope(low=-1, high=9, size=3),
        rigid={"ws": {(place, f"row{row}"): True for place, row in _WRITES}},
        start={"next_sn": {(): 2}, "lc_global": {(): 1}},
        bound=n() <= 6,
        split=("n",),
        safety=_SAFETY,
    )
