"""What is claimed: theorems, and statements that a faulty system refutes.

A theorem is a claim about one or more systems; a counterexample is a statement that is false in a
faulty system, with the scope in which the shortest run that breaks it is found. Names of statements
are those of ``properties`` where both judge one thing.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.models.language.concrete import Scope
from paraply.models.systems.variants import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Theorem:
    """A claim, proved by induction for any number of transactions, rows and steps."""

    id: str
    claim: str
    systems: tuple[Build, ...]
    statements: tuple[str, ...]
    assumes: tuple[str, ...]
    delimited_by: tuple[str, ...]
    """Counterexamples that show what breaks without an assumption or a guard."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A statement that is false in a faulty system, with the length of the shortest run."""

    id: str
    title: str
    system: Build
    statement: str
    scope: Scope
    steps: int
    """Length of the shortest run: found at this depth, and at no smaller one."""
    source: str


SMALL = Scope(high=3, size=1)
"""Three positions and one row: enough for a pair that conflicts and one more."""

TWO = Scope(high=0, low=0, size=2)
"""Two elements of each sort, for systems without positions."""
