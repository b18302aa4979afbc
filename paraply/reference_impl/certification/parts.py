"""The parts of a member's certification; a mutant replaces one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paraply.reference_impl.certification.certifier import Certifier, PreemptiveCollection
from paraply.reference_impl.certification.dialects import Dialect, dialect_named
from paraply.reference_impl.certification.garbage_collection import CollectionRound
from paraply.reference_impl.certification.gtid_generator import GtidGenerator
from paraply.reference_impl.certification.lc_sn import ParallelizationIndexes


def as_it_is(dialect: Dialect) -> Dialect:
    """Return the dialect unchanged."""
    return dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One class per part."""

    certifier: type[Certifier] = Certifier
    indexes: type[ParallelizationIndexes] = ParallelizationIndexes
    generator: type[GtidGenerator] = GtidGenerator
    collection: type[CollectionRound] = CollectionRound
    amend: Callable[[Dialect], Dialect] = as_it_is

    def dialect(self, name: str) -> Dialect:
        """Return a dialect's rules."""
        return self.amend(dialect_named(name))

    def build(
        self,
        dialect: Dialect,
        *,
        block_size: int = 1,
        detects_conflicts: bool = True,
        preemptive: PreemptiveCollection | None = None,
    ) -> Certifier:
        """Return a starting member's certifier."""
        return self.certifier(
            dialect=dialect,
            indexes=self.indexes(dialect),
            generator=self.generator(block_size),
            preemptive=preemptive or PreemptiveCollection(),
            detects_conflicts=detects_conflicts,
        )


STANDARD_PARTS = Parts()
