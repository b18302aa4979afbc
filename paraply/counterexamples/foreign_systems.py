"""Campaign systems from outside."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from paraply.counterexamples.hunt import Spotted, oracles_of
from paraply.counterexamples.shrinking import make_small
from paraply.mining.clusters import replayed
from paraply.mining.systems import System
from paraply.properties.registry import Property
from paraply.properties.search import Counterexample
from paraply.properties.shrinking import UNCHANGED, Oracle, without_trailing_zeros
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import History
from paraply.vocabulary.programs import decode_program


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallOfSystem:
    """A small counterexample with system and workload."""

    system: System
    counterexample: Counterexample
    minimality: object | None = None


class ForeignSystem(System):
    """A system from outside, without known breaches."""

    is_ours: ClassVar[bool] = False

    @property
    def known_breaches(self) -> frozenset[str]:
        """Return none."""
        return frozenset()

    def explains(self, prop: Property, history: History) -> bool:
        """Return False."""
        return False

    @abstractmethod
    def minimised(self, prop: Property, found: Counterexample, run: int) -> SmallOfSystem:
        """Return a smaller breaking run, if possible."""

    @abstractmethod
    def replay_command(self, prop: Property, choices: tuple[int, ...], run: int, file: str) -> str:
        """Return the command that shows ``file``."""

    @abstractmethod
    def whose_fault(self) -> str:
        """Return a breach's origin."""


def smallest_of_system(
    system: System,
    prop: Property,
    program: bytes,
    *,
    run: int,
    seed: int,
    faster: Callable[[Workload, Oracle], Oracle] | None,
) -> SmallOfSystem | None:
    """Return a small breaking run (``clusters.Minimiser``).

    Subjects and mutants shrink by workload and choices.
    """
    if isinstance(system, ForeignSystem):
        found = replayed(system, prop, program, run)
        return system.minimised(prop, found, run) if found.violations else None
    workload, choices = system.workload_at(run), decode_program(program)
    oracle = oracles_of(system.runner, prop, faster)(workload)
    _, again = oracle.edited(choices, (UNCHANGED,))
    if again is None or again.choices != without_trailing_zeros(choices):
        return None
    spotted = Spotted(workload=workload, run=again, runs=1)
    smallest = make_small(system.runner, prop, spotted, seed=seed, faster=faster)
    return SmallOfSystem(
        system=replace(system, workload=smallest.workload, draws=None),
        counterexample=smallest.counterexample,
        minimality=smallest.minimality,
    )
