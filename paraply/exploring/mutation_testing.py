"""Mutation testing: the named property must catch a fault, and no healthy run.

Nothing may catch an equivalent mutant.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from paraply.counterexamples.hunt import RUNS_MAX, hunt_subject, properties_of, system_of
from paraply.counterexamples.shrinking import Smallest, shrink_workload
from paraply.properties.campaign import run_campaign
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample, random_schedules, search
from paraply.reference_impl.mutants import Mutant
from paraply.registries import property_named, subject_named
from paraply.vocabulary.verdict import Verdict

RUNS_OF_AN_EQUIVALENT = 500
"""Runs that must not catch an equivalent mutant; others need fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """The result of one mutant.

    Attributes:
        caught_by_others: properties that catch an allegedly equivalent mutant.
        runs: until it was found, or in all.
        seconds: including shrinking.
    """

    mutant: Mutant
    smallest: Smallest | None
    runs: int
    seconds: float
    caught_by_others: tuple[str, ...] = ()

    @property
    def is_as_stated(self) -> bool:
        """Return whether it was caught, or not if equivalent."""
        if self.mutant.survives_because:
            return not self.caught_by_others
        return self.smallest is not None


def try_mutant(mutant: Mutant, *, seed: int = 0, runs_max: int = RUNS_MAX) -> MutantResult:
    """Search for a history in which the property catches the mutant.

    ``runs_max`` counts full workloads; smaller ones come before.
    """
    started = time.perf_counter()
    if mutant.survives_because:
        runs = min(runs_max, RUNS_OF_AN_EQUIVALENT)
        caught = safety_properties_broken_by(mutant, seed=seed, runs=runs)
        return MutantResult(
            mutant=mutant,
            smallest=None,
            runs=runs,
            seconds=time.perf_counter() - started,
            caught_by_others=caught,
        )
    prop = property_named(mutant.caught_by)
    quarry = hunt_subject(mutant.subject, mutant.workload, prop, seed=seed, runs_max=runs_max)
    smallest = None
    if quarry is not None:
        found = Smallest(workload=quarry.workload, counterexample=quarry.counterexample)
        smallest = shrink_workload(mutant.subject, found, prop)
    return MutantResult(
        mutant=mutant,
        smallest=smallest,
        runs=runs_max if quarry is None else quarry.runs,
        seconds=time.perf_counter() - started,
    )


def safety_properties_broken_by(mutant: Mutant, *, seed: int, runs: int) -> tuple[str, ...]:
    """Return broken safety properties that the subject is not known to break."""
    known = mutant.subject.known_breaches(mutant.workload)
    judged = [
        prop
        for prop in properties_of(mutant.subject)
        if prop.is_safety and prop.check is not None and prop.name not in known
    ]
    system = system_of(mutant.subject, mutant.workload)
    campaign = run_campaign(system, judged, random_schedules(seed, runs))
    return tuple(tally.prop.name for tally in campaign.tallies if tally.verdict is Verdict.VIOLATED)


def original_breaks(
    mutant: Mutant, prop: Property, *, seed: int = 0, runs: int
) -> Counterexample | None:
    """Return a breaking run of the subject without the fault, if any.

    A known breach of this dialect is no evidence against the property, so it is not sought.
    """
    original = subject_named(mutant.subject.name)
    workload = replace(mutant.workload, dialect=original.dialect_of(mutant.workload))
    if prop.name in original.known_breaches(workload):
        return None
    return search(system_of(original, workload), prop, random_schedules(seed, runs))
