"""Abstraction of all members of a group whose sessions or workers commit in any order.

As in ``paraply/models/recorded/whole_groups.py``, but snapshots, reports and what a member has are
sets of positions. The model's joiner commits what its donor lacked in the order of the group, a
server's in that of the donor: where they differ, the reading ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from paraply.models.language.concrete import Value
from paraply.models.recorded.following import Recorded
from paraply.models.recorded.group_member import MemberReading
from paraply.models.recorded.whole_groups import GroupReading
from paraply.vocabulary.events import Event
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


def parallel_group(history: History) -> Recorded:
    """Read a run for ``parallel_group[any order]`` of ``paraply/models/systems/variants.py``."""
    return AnyOrder(history).recorded()


class AnyOrder(GroupReading):
    """The steps of such a history."""

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.has: dict[Value, set[int]] = {one.name: set() for one in self.members.values()}
        self.gifts: dict[Value, set[int]] = {one.name: set() for one in self.members.values()}
        self.firsts: dict[Value, int] = {}
        self.settled: set[int] = set()

    def positions(
        self, name: str, of: Value, done: Collection[TransactionId], member: MemberReading
    ) -> Iterable[tuple[str, tuple[Value, ...], Value]]:
        """Yield which positions ``name`` has; -1 stands for what was not delivered."""
        known = self.txn.keys() & set(done)
        yield from ((name, (of, p), one in known) for p, one in enumerate(self.order))
        yield name, (of, -1), not known <= self.places.keys()

    def was_given(self, place: int, member: MemberReading) -> bool:
        """Return whether a joiner has the position from its donor."""
        return place in self.gifts[member.name]

    def has_committed(self, place: int, member: MemberReading) -> bool:
        """Return whether the model's member has committed the position."""
        return place in self.has[member.name]

    def is_behind(self, member: MemberReading) -> bool:
        """Return whether a joiner has less than the model gave to it."""
        return any(self.order[p] not in member.done for p in self.gifts[member.name])

    def settle(self, stable: Collection[TransactionId]) -> bool:
        """Take the steps to a stable set; return whether the model has them."""
        places = {self.places[one] for one in stable if one in self.places} - self.settled
        if self.is_reported([self.order[p] for p in places]):
            for place in sorted(places):
                self.take("settle", q=place)
            self.settled |= places
        return not self.ended

    def commit(self, one: TransactionId, member: MemberReading) -> None:
        """Take an engine commit, unless the model has it from the donor."""
        place, is_again = self.place_of(one), one in member.done
        member.done.add(one)
        if not member.is_current or (self.was_given(place, member) and not is_again):
            return
        if self.recovers_early(place, member) or self.recovers_later(place, member):
            return
        self.finish(one, place, member)
        self.has[member.name].add(place)
        self.take("apply", ("upto", (member.name, place), True), m=member.name, q=place)

    def work(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        """Take an attempt's step, or end the reading."""
        if not self.recovers_early(self.place_of(one), member):
            super().work(one, member, event)

    def recovers_early(self, place: int, member: MemberReading) -> bool:
        """End the reading if a joiner lacks what precedes a position that it gets in recovery."""
        lacking = set(range(place)) - self.has[member.name]
        is_recovery = member.is_current and place < self.firsts.get(member.name, 0)
        is_early = is_recovery and any(self.order[p] not in self.refused for p in lacking)
        if is_early and not self.has_committed(place, member):
            self.ended = f"{self.called(member)} recovers in the order of its donor"
        return bool(self.ended)

    def pass_refused(self, member: MemberReading) -> None:
        """Nothing waits for a refused position."""

    def join(self, member: MemberReading) -> None:
        """Join with the state of the donor that has most, and catch up."""
        own = {self.places[one] for one in member.done if one in self.places}
        donors = [one for one in self.members.values() if one.is_in]
        if not donors:
            self.ended = "a group begins again"
            return
        donor = max(donors, key=lambda donor: len(self.has[donor.name]))
        self.take_in(member, donor)
        self.has[member.name] = set(self.has[donor.name])
        self.gifts[member.name] = set(self.has[donor.name])
        self.firsts[member.name] = len(self.order)
        for place in sorted(own - self.has[member.name]):
            self.commit(self.order[place], member)
