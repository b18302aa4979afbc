"""Benchmark ``scope``: every history of six transactions on three rows, in one core.

It covers all schedules up to renamed rows, in every order of four workers. Pinned counts detect a
change of the scope.
"""

from __future__ import annotations

import statistics
import time

from ci.bench.registry import Goal, Options, Report, benchmark
from paraply.mining.small_scope import FAULTS, ScopeResult, explore_scope, find_smallest, words

TRANSACTIONS = 6
SCHEDULES = 6_184_256
"""By Burnside's lemma, and by enumeration."""
STATES = 126_672_192
SECONDS_MAX = 10.0


@benchmark("scope")
def scope(options: Options) -> Report:
    """Explore the scope; find each fault."""
    explore_scope(1)  # Compiles, where that was not done before.
    report = Report(benchmark="scope", input=f"{TRANSACTIONS} transactions, 3 rows, 4 workers")
    taken = []
    found: ScopeResult | None = None
    for _ in range(options.rounds):
        started = time.process_time()
        found = explore_scope(TRANSACTIONS)
        taken.append(time.process_time() - started)
    assert found is not None
    report.add("whole scope", "canonical schedules", found.schedules, "")
    report.add("whole scope", "states of the applier", found.states, "")
    report.add("whole scope", "schedules with overlaps", found.overlapping, "")
    report.add("whole scope", "violating schedules", found.violating, "")
    report.add("whole scope", "CPU time", statistics.median(taken), "s")
    report.goals += [
        Goal(name="CPU seconds", wanted=SECONDS_MAX, got=statistics.median(taken), at_most=True),
        Goal(
            name="schedules and states as pinned",
            wanted=1,
            got=float((found.schedules, found.states) == (SCHEDULES, STATES)),
        ),
    ]
    for fault in filter(None, FAULTS):
        started = time.process_time()
        smallest = find_smallest(fault)
        report.add(fault, "CPU time until found", 1000 * (time.process_time() - started), "ms")
        report.remarks.append(f"{fault}: {words(smallest.witness)}")
    return report
