"""Mutants of stable sets."""

# Class docstrings describe the fault of the method.
# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from paraply.reference_impl.certification.certifier import Certifier
from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.garbage_collection import CollectionRound
from paraply.reference_impl.certification.gtids import NO_GTIDS, GtidSet
from paraply.reference_impl.certification.parts import Parts
from paraply.reference_impl.group.subject import GroupSubject
from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.history import OptionValue
from paraply.vocabulary.write_set import Item


def mutate(
    name: str,
    source: str,
    fault: str,
    caught_by: str,
    parts: Parts,
    *,
    dialect: str = "",
    **options: OptionValue,
) -> None:
    """Register a mutant in a group of three members."""
    register_mutant(
        written_mutant(
            name=name,
            family="stable sets",
            source=source,
            fault=fault,
            caught_by=caught_by,
            subject=GroupSubject(parts),
            workload=Workload(transactions=4, rows=3, members=3, dialect=dialect, options=options),
        )
    )


class ForgetsStable(Certifier):
    """Only newly stable transactions are kept."""

    def on_stable_set(self, stable_set: GtidSet) -> frozenset[Item] | None:
        before = self.stable_set
        purged = super().on_stable_set(stable_set)
        self.stable_set = (self.stable_set - before) or before
        return purged


mutate(
    "stable_set_replaces_the_last",
    "certifier.cc: stable_gtid_set->add_gtid_set",
    "The stable set has only what became stable in the last collection.",
    "stable_sets_only_grow",
    Parts(certifier=ForgetsStable),
)


class KeepsStable(Certifier):
    """Preemptive collections leave the stable set."""

    def on_preemptive_collection(self) -> frozenset[Item] | None:
        stable = self.stable_set
        purged = super().on_preemptive_collection()
        self.stable_set = stable
        return purged


mutate(
    "preemptive_collection_keeps_the_stable_set",
    "MySQL 8.4: group_replication_preemptive_garbage_collection",
    "Purged transactions count as not yet stable.",
    "preemptive_collections_count_all_as_stable",
    Parts(certifier=KeepsStable),
    single_primary=True,
    preemptive_rows_threshold=2,
)


def _always_collecting(dialect: Dialect) -> Dialect:
    return replace(dialect, collects_only_if_stable_grew=False)


mutate(
    "unchanged_stable_set_collects",
    "MySQL 8.4, Certifier::stable_set_handle",
    "Every round of reports makes later transactions wait, though nothing became stable.",
    "collections_follow_a_grown_stable_set",
    Parts(amend=_always_collecting),
    dialect="mysql_8_4",
)


class OneRoundLate(CollectionRound):
    """A round's stable set counts in the next round."""

    last: GtidSet = NO_GTIDS

    def compute_stable_set(self, executed_sets: Iterable[GtidSet]) -> GtidSet:
        last, self.last = self.last, super().compute_stable_set(executed_sets)
        return last


mutate(
    "stable_set_is_one_round_late",
    "Certifier::handle_certifier_data: the round's intersection is the stable set",
    "Stable transactions stay in the certification info for one round more.",
    "stable_sets_are_what_reports_have_in_common",
    Parts(collection=OneRoundLate),
)
