"""Explicit-state search: generated states per second, readable and compiled.

TLC reached 0.13 to 0.27 million per second and core on two-phase commit, Stateright 0.4 to 5
million on various models.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.models.explicit.search import Found, StateSpace
from paraply.models.language.concrete import Scope
from paraply.models.systems.applier import parallel_applier
from paraply.models.systems.two_phase_commit import two_phase_commit

GENERATED_WANTED = {"readable": 1_000_000.0, "compiled": 5_000_000.0}
_NEVER = 1 << 60
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
    """Search two-phase commit and the applier with both readings.

    The compiled one is what users get: it includes the readable beginning and the translation.
    """
    small, large = (f"applier, {number} transactions, 3 rows" for number in (6, 8))
    spaces = {"two-phase commit, 7 managers": _commit(), small: _applier(6), large: _applier(8)}
    report = Report(benchmark="states", input="; ".join(spaces))
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    found: dict[tuple[str, str], Found] = {}
    for _ in range(options.rounds):
        for name, space in spaces.items():
            for reading in GENERATED_WANTED:
                started = time.process_time()
                if reading == "readable":
                    found[name, reading] = space.search(readable_max=_NEVER)
                else:
                    found[name, reading] = space.search()
                seconds[name, reading].append(time.process_time() - started)
    for (name, reading), seen in found.items():
        contestant = f"{name}, {reading}"
        rate = seen.generated / statistics.median(seconds[name, reading])
        report.add(contestant, "distinct states", seen.distinct, "")
        report.add(contestant, "generated states", seen.generated, "")
        report.add(contestant, "generated", rate, "1/CPU s")
        # The small applier ends soon after its readable beginning; the large one fills caches.
        if (name, reading) not in ((small, "compiled"), (large, "readable")):
            wanted = GENERATED_WANTED[reading]
            report.goals.append(
                Goal(name=f"generated a CPU second, {contestant}", wanted=wanted, got=rate)
            )
    return report


def _commit() -> StateSpace:
    return StateSpace(two_phase_commit(), Scope(low=0, high=3, size=7))


def _applier(transactions: int) -> StateSpace:
    system = parallel_applier()
    n = next(function for function in system.functions if function.name == "n")
    return StateSpace(
        system,
        Scope(low=-1, high=transactions + 3, size=3),
        rigid={"ws": {(p, f"row{row}"): True for p, row in _WRITES if p < transactions}},
        start={"next_sn": {(): 2}, "lc_global": {(): 1}},
        bound=n() <= transactions,
        split=("n",),
        safety=_SAFETY,
    )
