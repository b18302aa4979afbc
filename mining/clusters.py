"""Clusters: counterexamples of one sort, the smallest of each, made smaller and confirmed.

Batches cluster what they find by shape as they go (``mining.batch_runs``), so the driver merges a
few specimens and never the histories. The smallest of each cluster is minimised wherever the
engine likes; what comes out is clustered again by its full signature, for two shapes often turn
out to be one once what does not matter is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from mining.batch_runs import Specimen
from mining.campaign import Progress
from mining.engines import Engine
from mining.plan import Plan
from mining.signatures import Signature, canonical_digest, full_signature
from mining.systems import System
from properties.registry import Property, property_named
from properties.search import Counterexample
from properties.shrinking import Oracle
from reference_impl.subject import Subject, Workload
from vocabulary.history import History
from vocabulary.programs import decode_program, encode_program
from vocabulary.schedule import RecordedSchedule


class Small(Protocol):
    """What a minimiser returns."""

    @property
    def workload(self) -> Workload:
        """Return the workload it is a run of."""

    @property
    def counterexample(self) -> Counterexample:
        """Return the run."""

    @property
    def minimality(self) -> object | None:
        """Return how far it is known that nothing smaller breaks the property; ``str`` says it."""


class Minimiser(Protocol):
    """A function that makes a counterexample small (``paraply.shrinking.make_small``)."""

    def __call__(
        self, subject: Subject, workload: Workload, prop: Property, found: Counterexample, *,
        seed: int, faster: Callable[[Workload, Oracle], Oracle] | None,
    ) -> Small:  # fmt: skip
        """Return a smaller run that breaks the property too, or the one found.

        ``faster`` may put another oracle before the readable one of a workload.
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
        workload: what it is a run of.
        choices: the program that replays it.
        history: what it does.
        signature: its sort.
        digest: equal for histories that differ in names only.
        minimality: what is known of anything smaller, in words; empty if nothing is.
        is_confirmed: the reference replays it to the same history, and the property is broken.
        seconds: how long minimising took.
    """

    cluster: Cluster
    workload: Workload
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
        most: of one system and property keep only so many, the most frequent.
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
        if most is None or kept[key] <= most:
            chosen.append(cluster)
    return chosen


def minimise_all(
    plan: Plan, clusters: Sequence[Cluster], engine: Engine, make_small: Minimiser
) -> Iterator[Minimal]:
    """Yield the smallest counterexample of each cluster, in the order they are finished."""
    return engine.map(MinimiseTask(plan=plan, make_small=make_small), clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimiseTask:
    """What a worker does with a cluster: replay its specimen, make it small, confirm it."""

    plan: Plan
    make_small: Minimiser

    def __call__(self, cluster: Cluster) -> Minimal:
        """Return the smallest counterexample that was found."""
        started = time.perf_counter()
        system = self.plan.systems[cluster.system]
        prop = property_named(cluster.prop)
        found = replayed(system, prop, cluster.specimen)
        small = self.make_small(
            system.runner, system.workload, prop, found,
            seed=self.plan.seed, faster=self._faster(system, prop),
        )  # fmt: skip
        history = small.counterexample.history
        violations = small.counterexample.violations
        return Minimal(
            cluster=cluster,
            workload=small.workload,
            choices=small.counterexample.choices,
            history=history,
            signature=full_signature(prop.name, violations, history),
            digest=canonical_digest(history),
            minimality=str(small.minimality or ""),
            is_confirmed=is_confirmed(
                replace(system, workload=small.workload), prop, small.counterexample
            ),
            seconds=time.perf_counter() - started,
        )

    def _faster(
        self, system: System, prop: Property
    ) -> Callable[[Workload, Oracle], Oracle] | None:
        if not self.plan.is_fast:
            return None
        from mining.compiled.oracle import CompiledOracles

        return CompiledOracles(system, prop.name)


def replayed(system: System, prop: Property, specimen: Specimen) -> Counterexample:
    """Return the run that a specimen's program makes."""
    choices = decode_program(specimen.program)
    history = system.runner.run(RecordedSchedule(choices, strict=True), system.workload)
    return Counterexample(
        choices=choices, history=history, violations=prop.violations(history), runs=1
    )


def is_confirmed(system: System, prop: Property, found: Counterexample) -> bool:
    """Return whether the readable reference replays it to the same events and breaks it again.

    The program is written and read back, as a reader of the file will do.
    """
    choices = decode_program(encode_program(found.choices))
    history = system.runner.run(RecordedSchedule(choices, strict=True), system.workload)
    is_same = (history.transactions, history.events) == (
        found.history.transactions,
        found.history.events,
    )
    return is_same and bool(prop.violations(history))


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
