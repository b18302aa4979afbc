"""Theorems, and refuted statements of faulty systems.

A name shared with ``properties`` means the same statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from paraply.models.language.concrete import Scope, Table
from paraply.models.systems.variants import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A claim with a proof by induction."""

    id: str
    claim: str
    systems: tuple[Build, ...]
    statements: tuple[str, ...]
    assumes: tuple[str, ...]
    delimited_by: tuple[str, ...]
    """Counterexamples without an assumption or guard."""
    source: str
    kind: str = "safety"
    """``safety``, or ``progress`` for responses under weak fairness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A false statement about a faulty system."""

    id: str
    title: str
    system: Build
    statement: str
    scope: Scope
    steps: int
    """Length of the shortest run, a lasso's loop included."""
    source: str
    kind: str = "safety"
    """``progress`` for a response; its run is a lasso."""
    loop: int = 0
    """Length of a lasso's loop."""
    elsewhere: str = ""
    """What else shows it, where no run of the reference implementation does."""
    workloads: Callable[[int, Scope], Iterable[Mapping[str, Table]]] | None = None
    """Initial states of a lasso, by number of transactions."""


SMALL = Scope(high=3, size=1)
"""One row; a conflicting pair of positions and one more."""

TWO = Scope(high=0, low=0, size=2)
"""For systems without positions."""
