"""Rounds of garbage collection: a round ends when every member has reported its executed set.

Every member has executed a stable transaction, so every future snapshot includes it and its
versions are useless. All members collect at one place of the total order, so certification does not
change.

Source: WL#8440 and WL#6833 "Certification info garbage collection"; ``handle_certifier_data`` and
``stable_set_handle`` in certifier.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from operator import and_

from paraply.reference_impl.certification.gtids import GtidSet


class CollectionRound:
    """Executed sets that one member received in this round."""

    def __init__(self) -> None:
        self.reports: dict[str, GtidSet] = {}

    def on_executed_set(
        self, sender: str, executed: GtidSet, reporters: Collection[str]
    ) -> GtidSet | None:
        """Receive one broadcast; return the stable set at the round's end.

        The round waits for ``reporters``. It ignores other members and repeated reports.
        """
        if sender not in reporters or sender in self.reports:
            return None
        self.reports[sender] = executed
        if not self.is_complete(reporters):
            return None
        stable = self.compute_stable_set(self.reports.values())
        self.reports.clear()
        return stable

    def is_complete(self, reporters: Collection[str]) -> bool:
        """Return whether every reporter has reported."""
        return all(member in self.reports for member in reporters)

    def compute_stable_set(self, executed_sets: Iterable[GtidSet]) -> GtidSet:
        """Return the intersection of all executed sets."""
        return reduce(and_, executed_sets)

    def on_view_change(self) -> None:
        """Restart the round: a joiner lacks reported transactions."""
        self.reports.clear()
