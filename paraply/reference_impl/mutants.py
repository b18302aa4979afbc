"""Mutants: subjects with one small fault that a property must catch.

A fault overrides one method or one dialect rule, so the reference stays clean.
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
        name: the fault (``collect_ignores_pending``).
        family: its part (``timestamps``, ``certification``, ``commit order``).
        source: a bug number or a document's section.
        fault: its effect, in one sentence.
        caught_by: the violated property.
        subject: the faulty system, with the original's ``name``.
        workload: the scope that shows it.
        survives_because: why no safety property catches it; then ``caught_by`` is empty.
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
    """Register a mutant; ``ValueError`` for a duplicate."""
    if mutant.name in _MUTANTS:
        raise ValueError(f"mutant {mutant.name} is registered twice")
    _MUTANTS[mutant.name] = mutant
    return mutant


def registered_mutants() -> tuple[Mutant, ...]:
    """Return mutants by family and name."""
    return tuple(sorted(_MUTANTS.values(), key=lambda mutant: (mutant.family, mutant.name)))


def mutant_named(name: str) -> Mutant:
    """Return a mutant, or raise ``ParaplyError`` P408."""
    if name not in _MUTANTS:
        raise ParaplyError(UNKNOWN_MUTANT, name=name)
    return _MUTANTS[name]
