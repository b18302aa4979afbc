"""Explicit-state search: generated states per second.

TLC reached 0.13 to 0.27 million per second and core on two-phase commit, Stateright 0.4 to 5
million on various models. The compiled search includes its readable beginning and translation.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.models.explicit.search import Found, StateSpace
from paraply.models.language.concrete import Scope
from paraply.models.systems.applier import parallel_applier
from paraply.models.systems.two_phase_commit import two_phase_commit

WANTED = {"readable": 1_000_000.0, "compiled": 5_000_000.0}
_READABLE_MAX = {"readable": 1 << 60, "compiled": 100_000}
"""The latter, by which searches begin readably, is the default."""
_WRITES = ((0, 0), (1, 0), (1, 1), (2, 1), (3, 2), (4, 0), (5, 2), (6, 1), (7, 0))
_SAFETY = (
    "conflicting_rows_are_ordered",
    "without_write_set_is_alone",
    "view_change_is_a_barrier",
    "last_committed_is_below",
)
"""Without minimality, whose ghosts multiply the states."""


@benchmark("states")
def states(options: Options) -> Report:
    """Search two-phase commit and the applier, readably and as users do."""
    spaces: dict[str, Callable[[], StateSpace]] = {
        "two-phase commit, 7 managers": _commit,
        "applier, 8 transactions, 3 rows": _applier,
    }
    report = Report(benchmark="states", input="; ".join(spaces))
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    found: dict[tuple[str, str], Found] = {}
    for _ in range(options.rounds):
        for name, make in spaces.items():
            space = make()
            for reading, readable_max in _READABLE_MAX.items():
                started = time.process_time()
                found[name, reading] = space.search(readable_max=readable_max)
                seconds[name, reading].append(time.process_time() - started)
    for (name, reading), seen in found.items():
        contestant = f"{name}, {reading}"
        rate = seen.generated / statistics.median(seconds[name, reading])
        report.add(contestant, "distinct states", seen.distinct, "")
        report.add(contestant, "generated states", seen.generated, "")
        report.add(contestant, "generated", rate, "1/CPU s")
        report.goals.append(
            Goal(name=f"generated a CPU second, {contestant}", wanted=WANTED[reading], got=rate)
        )
    return report


def _commit() -> StateSpace:
    return StateSpace(two_phase_commit(), Scope(low=0, high=3, size=7))


def _applier() -> StateSpace:
    system = parallel_applier()
    n = next(function for function in system.functions if function.name == "n")
    return StateSpace(
        system,
        Scope(low=-1, high=11, size=3),
        rigid={"ws": {(place, f"row{row}"): True for place, row in _WRITES}},
        start={"next_sn": {(): 2}, "lc_global": {(): 1}},
        bound=n() <= 8,
        split=("n",),
        safety=_SAFETY,
    )
