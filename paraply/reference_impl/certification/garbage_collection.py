"""Rounds of garbage collection: each ends when every member has reported its executed set.

Every future snapshot includes a stable transaction, so its versions are useless. All members
collect at one place of the total order, so certification does not change.

Source: WL#8440 and WL#6833 "Certification info garbage collection"; ``handle_certifier_data`` and
``stable_set_handle`` in certifier.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import and_

from paraply.reference_impl.certification.dialects import Dialect
from paraply.reference_impl.certification.gtids import GtidSet


class CollectionRound:
    """One member's received executed sets."""

    def __init__(self) -> None:
        self.reports: dict[str, GtidSet] = {}

    def on_executed_set(
        self, sender: str, executed: GtidSet, reporters: Collection[str]
    ) -> GtidSet | None:
        """Receive one broadcast; return a complete round's stable set.

        It ignores repeats and members outside ``reporters``.
        """
        if sender not in reporters or sender in self.reports:
            return None
        self.reports[sender] = executed
        if not all(member in self.reports for member in reporters):
            return None
        stable = self.compute_stable_set(self.reports.values())
        self.reports.clear()
        return stable

    def compute_stable_set(self, executed_sets: Iterable[GtidSet]) -> GtidSet:
        """Return the intersection of executed sets."""
        return reduce(and_, executed_sets)

    def on_view_change(self) -> None:
        """Restart the round for a joiner."""
        self.reports.clear()

    def stable_set_at_join(
        self, dialect: Dialect, executed_sets: Sequence[GtidSet]
    ) -> GtidSet | None:
        """Return what the earlier members purge when a server joins, or None.

        A joiner gets its donor's information after the collection.
        """
        if not executed_sets or not dialect.collects_on_join:
            return None
        return self.compute_stable_set(executed_sets)
