"""Theorems, and refuted statements of faulty systems.

A name shared with ``properties`` means the same statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from paraply.models.language.concrete import Scope, Table
from paraply.models.systems.variants import Build


class Place(StrEnum):
    """Where a theorem stands to the one model of a group (P49)."""

    OF_THE_GROUP = "of the group model"
    THERE_TOO = "there too"
    COROLLARY = "corollary there"
    SMALLER_ONLY = "smaller model only"
    ELSEWHERE = "something else"


@dataclass(frozen=True, slots=True)
class Standing:
    """A theorem's place beside the group model, with what supports it.

    Attributes:
        by: theorems of the group model, each with a statement that says the same, or follows.
        reason: what is only in the smaller model, why nothing is there, or another subject.
    """

    place: Place
    by: tuple[tuple[str, str], ...] = ()
    reason: str = ""


OF_THE_GROUP = Standing(Place.OF_THE_GROUP)
LOGGED_VIEWS = "logged view changes (up to MySQL 8.2)"
RECOVERY = "recovery of a source from its binary log"
WORKERS_AFTER_RESTART = "several workers after a restart"


def there_too(*by: str, but: str = "") -> Standing:
    """Return that statements of the group model (``P53.name``) say the same, but for some part."""
    named = tuple((theorem, name) for theorem, _, name in (one.partition(".") for one in by))
    return Standing(Place.THERE_TOO, named, but)


def corollary(by: str, but: str = "") -> Standing:
    """Return that the group model refines the smaller one, so ``by`` (``P58.name``) follows."""
    return replace(there_too(by, but=but), place=Place.COROLLARY)


def smaller_only(reason: str) -> Standing:
    """Return that no statement of the group model says the same, and why."""
    return Standing(Place.SMALLER_ONLY, reason=reason)


def about(subject: str) -> Standing:
    """Return that the theorem is about something else than a group."""
    return Standing(Place.ELSEWHERE, reason=subject)


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
    standing: Standing
    """Beside the one model of a group."""
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
