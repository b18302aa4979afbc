"""Hunting a mutant: search for a breach of the property that must catch it, and make it small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from properties.registry import Property
from properties.search import Counterexample, random_schedules, search, shrink
from reference_impl.mutants import Mutant
from reference_impl.subject import Subject, Workload
from vocabulary.history import History
from vocabulary.schedule import Schedule

RUNS_MAX = 20_000
"""Random runs at the full size of the workload. The rarest of our mutants shows in one run of some
thousand, so that no seed is likely to miss any."""
RUNS_BELOW = 60
"""Random runs at each smaller number of transactions, for a smaller history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarry:
    """What a hunt brought back: the counterexample and the workload it belongs to."""

    workload: Workload
    counterexample: Counterexample
    runs: int
    """All runs that were made to find it, those at other sizes included."""


def hunt(mutant: Mutant, prop: Property, *, seed: int = 0) -> Quarry | None:
    """Return the smallest history found in which ``prop`` catches ``mutant``; None if none is.

    Sizes rise from one transaction to the mutant's whole workload; at each, runs are random from
    ``seed``.
    """
    return hunt_subject(mutant.subject, mutant.workload, prop, seed=seed)


def hunt_subject(
    subject: Subject,
    workload: Workload,
    prop: Property,
    *,
    seed: int = 0,
    runs_max: int = RUNS_MAX,
) -> Quarry | None:
    """Search a subject for a breach of ``prop``, fewer transactions first."""
    runs = 0
    for transactions in range(1, workload.transactions + 1):
        smaller = replace(workload, transactions=transactions)
        limit = runs_max if transactions == workload.transactions else RUNS_BELOW
        system = system_of(subject, smaller)
        found = search(system, prop, random_schedules(seed, limit))
        if found is not None:
            return Quarry(
                workload=smaller,
                counterexample=shrink(system, prop, found),
                runs=runs + found.runs,
            )
        runs += limit
    return None


def system_of(subject: Subject, workload: Workload) -> Callable[[Schedule], History]:
    """Return a subject at one size as the function that searches take."""
    return lambda schedule: subject.run(schedule, workload)
