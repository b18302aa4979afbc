"""Clusters: counterexamples of one sort, the smallest of each, made smaller and confirmed.

Batches cluster what they find by shape as they go (``paraply.mining.batch_runs``), so the driver
merges a few specimens and never the histories. The smallest of each cluster is minimised wherever
the engine likes; what comes out is clustered again by its full signature, for two shapes often turn
out to be one once what does not matter is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from paraply.mining.batch_runs import Specimen
from paraply.mining.campaign import Progress
from paraply.mining.engines import Engine
from paraply.mining.plan import Plan
from paraply.mining.signatures import Signature, canonical_digest, full_signature
from paraply.mining.systems import System
from paraply.properties.registry import Property, property_named
from paraply.properties.search import Counterexample
from paraply.properties.shrinking import Oracle
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import decode_program, encode_program
from paraply.vocabulary.schedule import RecordedSchedule


class Small(Protocol):
    """What a minimiser returns."""

    @property
    def system(self) -> System:
        """Return the system, with the workload that it is a run of."""

    @property
    def counterexample(self) -> Counterexample:
        """Return the run."""

    @property
    def minimality(self) -> object | None:
        """Return how far it is known that nothing smaller breaks the property; ``str`` says it."""


class Minimiser(Protocol):
    """A function that makes a counterexample small (``paraply.mining_minimal.make_small``)."""

    def __call__(
        self, system: System, prop: Property, found: Counterexample, *,
        run: int, seed: int, faster: Callable[[Workload, Oracle], Oracle] | None,
    ) -> Small:  # fmt: skip
        """Return a smaller run that breaks the property too, or the one found.

        ``run`` is the number that the one found has; ``faster`` may put another oracle before the
        readable one of a workload.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Counterexamples of one system that break one property by one shape."""

    system: int
    prop: str
    shape: str
    specimen: Specimen

    @property
    def order(self) -> tuple[object, ...]:
        """Return what sorts clusters: by system and property, the most frequent first."""
        return (self.system, self.prop, -self.specimen.count, self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimal:
    """The smallest counterexample of a cluster, after minimising.

    Attributes:
        cluster: what it stands for; clusters that came out alike are counted together.
        system: what it is a run of.
        choices: the program that replays it.
        history: what it does.
        signature: its sort.
        digest: equal for histories that differ in names only.
        minimality: what is known of anything smaller, in words; empty if nothing is.
        is_confirmed: the reference replays it to the same history, and the property is broken.
        seconds: how long minimising took.
    """

    cluster: Cluster
    system: System
    choices: tuple[int, ...]
    history: History
    signature: Signature
    digest: str
    minimality: str
    is_confirmed: bool
    seconds: float

    @property
    def size(self) -> tuple[int, int, int]:
        """Return transactions, events and choices."""
        return len(self.history.transactions), len(self.history.events), len(self.choices)


def clusters_of(
    progress: Progress, *, goals_only: bool = True, most: int | None = None
) -> list[Cluster]:
    """Return the clusters of a campaign, sorted.

    Args:
        progress: the campaign.
        goals_only: of a mutant, keep only breaches of the property that must catch it; the others
            are its side effects. Breaches of subjects are always kept.
        most: of one system and property keep only so many, the most frequent, or fewer where the
            system says so.
    """
    found = []
    for number, (system, counts) in enumerate(
        zip(progress.plan.systems, progress.per_system, strict=True)
    ):
        for text, specimen in counts.clusters.items():
            prop, _, shape = text.partition(" | ")
            if goals_only and system.mutant and system.goals and prop not in system.goals:
                continue
            found.append(Cluster(system=number, prop=prop, shape=shape, specimen=specimen))
    found.sort(key=lambda cluster: cluster.order)
    kept: dict[tuple[int, str], int] = {}
    chosen = []
    for cluster in found:
        key = (cluster.system, cluster.prop)
        kept[key] = kept.get(key, 0) + 1
        limits = (most, progress.plan.systems[cluster.system].clusters_max)
        if all(limit is None or kept[key] <= limit for limit in limits):
            chosen.append(cluster)
    return chosen


def minimise_all(
    plan: Plan, clusters: Sequence[Cluster], engine: Engine, make_small: Minimiser
) -> Iterator[Minimal | None]:
    """Yield the smallest counterexample of each cluster, in the order they are finished.

    None stands for one that its own program did not make again: what was run (an applier in a
    process of its own) does not do the same twice.
    """
    return engine.map(MinimiseTask(plan=plan, make_small=make_small), clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimiseTask:
    """What a worker does with a cluster: replay its specimen, make it small, confirm it."""

    plan: Plan
    make_small: Minimiser

    def __call__(self, cluster: Cluster) -> Minimal | None:
        """Return the smallest counterexample that was found; None if it is not met again."""
        started = time.perf_counter()
        system = self.plan.systems[cluster.system]
        prop = property_named(cluster.prop)
        run = cluster.specimen.run
        found = replayed(system, prop, cluster.specimen.program, run)
        if not found.violations:
            return None
        small = self.make_small(
            system, prop, found,
            run=run, seed=self.plan.seed, faster=self._faster(system, prop),
        )  # fmt: skip
        history = small.counterexample.history
        violations = small.counterexample.violations
        return Minimal(
            cluster=cluster,
            system=small.system,
            choices=small.counterexample.choices,
            history=history,
            signature=full_signature(prop.name, violations, history),
            digest=canonical_digest(history),
            minimality=str(small.minimality or ""),
            is_confirmed=is_confirmed(small.system, prop, small.counterexample, run),
            seconds=time.perf_counter() - started,
        )

    def _faster(
        self, system: System, prop: Property
    ) -> Callable[[Workload, Oracle], Oracle] | None:
        if not self.plan.is_fast:
            return None
        from paraply.mining.compiled.oracle import CompiledOracles

        return CompiledOracles(system, prop.name)


def replayed(system: System, prop: Property, program: bytes, run: int) -> Counterexample:
    """Return the run that a program makes; ``run`` is its number in the system."""
    choices = decode_program(program)
    with system.opened() as make_history:
        history = make_history(RecordedSchedule(choices, strict=system.is_ours), run)
    return Counterexample(
        choices=choices, history=history, violations=prop.violations(history), runs=1
    )


def is_confirmed(system: System, prop: Property, found: Counterexample, run: int) -> bool:
    """Return whether a replay by the readable reference has the same events and breaks it again.

    The program is written and read back, as a reader of the file will do.
    """
    again = replayed(system, prop, encode_program(found.choices), run)
    is_same = (again.history.transactions, again.history.events) == (
        found.history.transactions,
        found.history.events,
    )
    return is_same and bool(again.violations)


def distinct(minimals: Iterable[Minimal]) -> list[Minimal]:
    """Return one counterexample per full signature, the smallest, counting those alike together.

    They are sorted by system and property, and within them the smallest first.
    """
    best: dict[tuple[int, str], Minimal] = {}
    counts: dict[tuple[int, str], int] = {}
    for one in sorted(minimals, key=lambda one: (one.size, one.cluster.order)):
        key = (one.cluster.system, one.signature.text)
        best.setdefault(key, one)
        counts[key] = counts.get(key, 0) + one.cluster.specimen.count
    return sorted(
        (
            replace(
                one,
                cluster=replace(
                    one.cluster, specimen=replace(one.cluster.specimen, count=counts[key])
                ),
            )
            for key, one in best.items()
        ),
        key=lambda one: (one.cluster.system, one.cluster.prop, one.size, one.signature.text),
    )
