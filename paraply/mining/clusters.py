"""Clusters counterexamples; minimises and confirms the smallest.

Batches cluster by shape, so the driver merges specimens only. Minimised specimens cluster again,
because irrelevant parts hide equal shapes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from paraply.mining.batch_runs import UNEXPLAINED, Specimen
from paraply.mining.campaign import Progress
from paraply.mining.engines import Engine
from paraply.mining.judges import unexplained
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
    """The result of a minimiser."""

    @property
    def system(self) -> System:
        """Return the system with the minimised workload."""

    @property
    def counterexample(self) -> Counterexample:
        """Return the run."""

    @property
    def minimality(self) -> object | None:
        """Return the proven minimality; ``str`` describes it."""


class Minimiser(Protocol):
    """Makes counterexamples small (``paraply.mining_minimal.make_small``)."""

    def __call__(
        self, system: System, prop: Property, program: bytes, *,
        run: int, seed: int, faster: Callable[[Workload, Oracle], Oracle] | None,
    ) -> Small | None:  # fmt: skip
        """Return a smaller breaching run, or the program's; None if it breaks nothing.

        ``faster`` may wrap the readable oracle.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Breaches of one property, system and shape."""

    system: int
    prop: str
    shape: str
    specimen: Specimen

    @property
    def order(self) -> tuple[object, ...]:
        """Return the sort key."""
        return (
            self.system, self.prop, not self.is_unexplained, -self.specimen.count, self.shape
        )  # fmt: skip

    @property
    def is_unexplained(self) -> bool:
        """Return whether the dialect is known for the breach, but not by this cause."""
        return self.shape.endswith(UNEXPLAINED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimal:
    """A cluster's smallest counterexample.

    Attributes:
        choices: program for replay.
        digest: equal for histories that differ in names only.
        minimality: known bounds in words.
        is_confirmed: the reference repeats history and breach.
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
    """Return sorted clusters.

    Args:
        goals_only: keep a mutant's sought breach only.
        most: maximum per system and property, most frequent first.
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
    """Yield smallest counterexamples as they finish.

    None marks a breach that its program does not repeat.
    """
    return engine.map(MinimiseTask(plan=plan, make_small=make_small), clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimiseTask:
    """A worker's task: replay, minimise, confirm."""

    plan: Plan
    make_small: Minimiser

    def __call__(self, cluster: Cluster) -> Minimal | None:
        """Return the smallest counterexample; None if unrepeatable."""
        started = time.perf_counter()
        system = self.plan.systems[cluster.system]
        prop = property_named(cluster.prop)
        if cluster.is_unexplained:
            prop = unexplained(system.runner, prop)
        run = cluster.specimen.run
        small = self.make_small(
            system, prop, cluster.specimen.program,
            run=run, seed=self.plan.seed,
            # Kernels do not know which breaches are expected.
            faster=None if cluster.is_unexplained else self._faster(system, prop),
        )  # fmt: skip
        if small is None:
            return None
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
    """Return the run of a program."""
    choices = decode_program(program)
    with system.opened() as make_history:
        history = make_history(RecordedSchedule(choices, strict=system.is_ours), run)
    return Counterexample(
        choices=choices, history=history, violations=prop.violations(history), runs=1
    )


def is_confirmed(system: System, prop: Property, found: Counterexample, run: int) -> bool:
    """Return whether the reference repeats events and breach.

    Encodes and decodes the program, as file readers do.
    """
    again = replayed(system, prop, encode_program(found.choices), run)
    is_same = (again.history.transactions, again.history.events) == (
        found.history.transactions,
        found.history.events,
    )
    return is_same and bool(again.violations)


def distinct(minimals: Iterable[Minimal]) -> list[Minimal]:
    """Return the smallest per full signature, sorted, adding counts."""
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
