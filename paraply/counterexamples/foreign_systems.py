"""Systems of a campaign that are no subject of ours: what makes their breaches small, and blame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from paraply.counterexamples.shrinking import make_small
from paraply.mining.systems import System
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.properties.shrinking import Oracle
from paraply.reference_impl.subject import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallOfSystem:
    """A small counterexample, and the system with the workload that it is a run of."""

    system: System
    counterexample: Counterexample
    minimality: object | None = None


class ForeignSystem(System):
    """A system whose histories come from outside: nobody knows what it is known to break."""

    is_ours: ClassVar[bool] = False

    @property
    def known_breaches(self) -> frozenset[str]:
        """Return none: a breach is news."""
        return frozenset()

    @abstractmethod
    def minimised(self, prop: Property, found: Counterexample, run: int) -> SmallOfSystem:
        """Return a smaller run that breaks the property too, or the one found."""

    @abstractmethod
    def replay_command(self, prop: Property, choices: tuple[int, ...], run: int, file: str) -> str:
        """Return the command that shows a counterexample again; ``file`` holds its history."""

    @abstractmethod
    def whose_fault(self) -> str:
        """Return where a breach comes from, in a sentence."""


def smallest_of_system(
    system: System,
    prop: Property,
    found: Counterexample,
    *,
    run: int,
    seed: int,
    faster: Callable[[Workload, Oracle], Oracle] | None,
) -> SmallOfSystem:
    """Return a small run of a campaign's system that breaks the property (``clusters.Minimiser``).

    Subjects and mutants are made small by their workload and choices, others as they know how.
    """
    if isinstance(system, ForeignSystem):
        return system.minimised(prop, found, run)
    smallest = make_small(system.runner, system.workload, prop, found, seed=seed, faster=faster)
    return SmallOfSystem(
        system=replace(system, workload=smallest.workload),
        counterexample=smallest.counterexample,
        minimality=smallest.minimality,
    )
