"""Mutants: subjects with one small change in one place, each of which a property must catch.

A check that has caught no mutant has shown nothing. The change is a subclass that overrides
one method, or one rule replaced in a dialect, so that the reference itself stays free of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.reference_impl.subject import Subject, Workload
from paraply.vocabulary.errors import ParaplyError, register

UNKNOWN_MUTANT = register(
    "P408",
    "there is no mutant '{name}'",
    "`paraply list mutants` has their names",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One fault and the property that must find it.

    Attributes:
        name: what it gets wrong (``collect_ignores_pending``).
        family: the part it is in (``timestamps``, ``certification``, ``commit order``).
        source: where the fault comes from: a bug number, or a section of a document.
        fault: what it does, in one sentence.
        caught_by: name of the property that must be violated.
        subject: the system with the fault in it; its ``name`` stays that of the original.
        workload: the scope in which the fault shows.
        survives_because: why no safety property can catch it, for the few that are equivalent
            to the original in all that matters; ``caught_by`` is empty then. That none catches
            it is tested too.
    """

    name: str
    family: str
    source: str
    fault: str
    caught_by: str
    subject: Subject
    workload: Workload
    survives_because: str = ""


_MUTANTS: dict[str, Mutant] = {}


def register_mutant(mutant: Mutant) -> Mutant:
    """Make a mutant known by its name; a name that is taken raises ``ValueError``."""
    if mutant.name in _MUTANTS:
        raise ValueError(f"mutant {mutant.name} is registered twice")
    _MUTANTS[mutant.name] = mutant
    return mutant


def registered_mutants() -> tuple[Mutant, ...]:
    """Return the mutants registered so far, by family and name."""
    return tuple(sorted(_MUTANTS.values(), key=lambda mutant: (mutant.family, mutant.name)))


def mutant_named(name: str) -> Mutant:
    """Return a mutant by name; ``ParaplyError`` P408 if there is none."""
    if name not in _MUTANTS:
        raise ParaplyError(UNKNOWN_MUTANT, name=name)
    return _MUTANTS[name]
