"""Registers mutants of the certifier."""

from __future__ import annotations

from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.certification.subject import CertifierSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue

FAMILY = "timestamps"


def mutate(
    name: str, source: str, fault: str, caught_by: str, parts: Parts, **options: OptionValue
) -> None:
    """Register a certifier mutant."""
    register_mutant(
        written_mutant(
            name=name,
            family=FAMILY,
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=CertifierSubject(parts),
            workload=Workload(transactions=6, rows=3, options=options),
        )
    )
