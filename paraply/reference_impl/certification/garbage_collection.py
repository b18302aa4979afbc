"""Rounds of garbage collection: when every member has told what it executed, agree on the rest.

A stable transaction is executed on every member: no transaction still to be sent can have a
snapshot without it, so its versions decide nothing any more. Each member collects at the same
place of the total order, which is what makes collecting invisible to certification.

Source: WL#8440 and WL#6833 "Certification info garbage collection"; ``handle_certifier_data``
and ``stable_set_handle`` in certifier.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import reduce
from operator import and_

from paraply.reference_impl.certification.gtids import GtidSet


class CollectionRound:
    """The executed sets that one member has received since the last round was complete."""

    def __init__(self) -> None:
        self.reports: dict[str, GtidSet] = {}

    def on_executed_set(
        self, sender: str, executed: GtidSet, reporters: Collection[str]
    ) -> GtidSet | None:
        """Take one broadcast; return the stable set when it completes the round.

        ``reporters`` are the members the round waits for. Only the first report of a member
        counts in a round; one of a member that is not waited for is ignored.
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
        """Return whether every member that is waited for has reported."""
        return all(member in self.reports for member in reporters)

    def compute_stable_set(self, executed_sets: Iterable[GtidSet]) -> GtidSet:
        """Return what all executed sets contain; an empty one makes the result empty."""
        return reduce(and_, executed_sets)

    def on_view_change(self) -> None:
        """Begin the round again: a joiner has not executed what the reports say."""
        self.reports.clear()
