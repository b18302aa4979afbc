"""Mutants of certification after rollback."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.gtids import Gtid, GtidSet
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.certification.retries import CertifierRetriesSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload


class RefusesWhatItCertified(Certifier):
    """Certification rejects unexecuted specified GTIDs."""

    def is_taken(self, gtid: Gtid, gtid_executed: GtidSet) -> bool:
        return gtid in self.taken_gtids()


class NeverAsksTheServer(Certifier):
    """Certification accepts executed specified GTIDs."""

    def is_taken(self, gtid: Gtid, gtid_executed: GtidSet) -> bool:
        return False


def mutate(name: str, fault: str, caught_by: str, certifier: type[Certifier]) -> None:
    """Register a mutant for specified GTIDs."""
    register_mutant(
        written_mutant(
            name=name,
            family="certification",
            source="MySQL bug 34157846",
            fault=fault,
            caught_by=caught_by,
            subject=CertifierRetriesSubject(Parts(certifier=certifier)),
            workload=Workload(transactions=3, rows=2, dialect="mysql_8_4"),
        )
    )


mutate(
    "retry_is_refused",
    "A transaction that was rolled back after certification is refused when it comes again.",
    "retries_are_certified_again",
    RefusesWhatItCertified,
)
mutate(
    "executed_gtid_is_certified",
    "The certifier does not ask which GTIDs the server has executed.",
    "executed_gtids_are_refused",
    NeverAsksTheServer,
)
