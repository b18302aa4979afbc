"""Mutation testing: every seeded fault must be caught by the property it names, and no other run.

For each mutant two questions are asked. Does a search find a history in which the named property
is broken? And does the subject without the fault keep the property in as many runs? Both, or the
property has shown nothing. A mutant that is said to be equivalent must not be caught at all.
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
"""Runs in which a mutant that is said to be equivalent must not be caught; others need fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantResult:
    """What became of one mutant.

    Attributes:
        mutant: the fault.
        smallest: the smallest history found in which its property catches it; None if none was.
        caught_by_others: for a mutant that is said to be equivalent, properties that catch it.
        runs: how many runs were made until it was found, or in all.
        seconds: how long that took, with making the history small.
    """

    mutant: Mutant
    smallest: Smallest | None
    runs: int
    seconds: float
    caught_by_others: tuple[str, ...] = ()

    @property
    def is_as_stated(self) -> bool:
        """Return whether it was caught, or, if it is said to be equivalent, was not."""
        if self.mutant.survives_because:
            return not self.caught_by_others
        return self.smallest is not None


def try_mutant(mutant: Mutant, *, seed: int = 0, runs_max: int = RUNS_MAX) -> MutantResult:
    """Search for a history in which the property that the mutant names catches it.

    ``runs_max`` counts runs of the mutant's whole workload; smaller ones are tried before.
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
    """Return the safety properties that the mutant breaks and its subject is not known to."""
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
    """Return a run in which the subject without the fault breaks the property too; None if none.

    The runs are those of the mutant's own workload. A breach that the subject is known for in this
    dialect is no evidence against the mutant's property, so none is looked for then.
    """
    original = subject_named(mutant.subject.name)
    workload = replace(mutant.workload, dialect=original.dialect_of(mutant.workload))
    if prop.name in original.known_breaches(workload):
        return None
    return search(system_of(original, workload), prop, random_schedules(seed, runs))
