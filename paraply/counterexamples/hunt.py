"""Search for a mutant's breach, and shrink it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from paraply.mining.judges import properties_about
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.properties.shrinking import BreakingRun, Oracle, ReadableOracle, shrink_run
from paraply.reference_impl.mutants import Mutant
from paraply.reference_impl.subject import Subject, Workload
from paraply.registries import property_named
from paraply.vocabulary.history import History
from paraply.vocabulary.schedule import Schedule

RUNS_MAX = 20_000
"""At full workload; the rarest mutant shows in one of some thousand."""
RUNS_BELOW = 60
"""At each smaller number of transactions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarry:
    """A counterexample and its workload."""

    workload: Workload
    counterexample: Counterexample
    runs: int
    """At all sizes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spotted:
    """A breaking run, its workload, and the runs made."""

    workload: Workload
    run: BreakingRun
    runs: int

    @classmethod
    def of(cls, workload: Workload, found: Counterexample) -> Spotted:
        """Return the run of a counterexample."""
        run = BreakingRun.of(found.choices, found.history)
        return cls(workload=workload, run=run, runs=found.runs)


OracleOf = Callable[[Workload], Oracle]
"""Judges a workload's runs."""
Faster = Callable[[Workload, Oracle], Oracle]
"""A faster oracle with equal answers."""


def hunt(mutant: Mutant, prop: Property, *, seed: int = 0) -> Quarry | None:
    """Return the smallest found history in which ``prop`` catches ``mutant``.

    Runs are random from ``seed``, from one transaction to the mutant's workload.
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
    ask = oracles_of(subject, prop)
    spotted = hunt_runs(ask, workload, seed=seed, runs_max=runs_max)
    if spotted is None:
        return None
    oracle = ask(spotted.workload)
    counterexample = oracle.counterexample(shrink_run(oracle, spotted.run), spotted.runs)
    return Quarry(workload=spotted.workload, counterexample=counterexample, runs=spotted.runs)


def hunt_runs(ask: OracleOf, workload: Workload, *, seed: int, runs_max: int) -> Spotted | None:
    """Return the first breaking random run, fewer transactions first."""
    runs = 0
    for transactions in range(1, workload.transactions + 1):
        smaller = replace(workload, transactions=transactions)
        limit = runs_max if transactions == workload.transactions else RUNS_BELOW
        made, run = ask(smaller).drawn(seed, limit)
        runs += made
        if run is not None:
            return Spotted(workload=smaller, run=run, runs=runs)
    return None


def oracles_of(subject: Subject, prop: Property, faster: Faster | None = None) -> OracleOf:
    """Return oracles by workload."""
    known: dict[str, Oracle] = {}

    def ask(workload: Workload) -> Oracle:
        described = repr(workload)
        if described not in known:
            readable = ReadableOracle(system_of(subject, workload), prop)
            known[described] = faster(workload, readable) if faster else readable
        return known[described]

    return ask


def system_of(subject: Subject, workload: Workload) -> Callable[[Schedule], History]:
    """Return a subject at one size for searches."""
    return lambda schedule: subject.run(schedule, workload)


def properties_of(subject: Subject, names: Iterable[str] = ()) -> list[Property]:
    """Return the named properties, or all; P520 for an unknown one."""
    if names:
        return [property_named(name) for name in dict.fromkeys(names)]
    return properties_about(subject)
