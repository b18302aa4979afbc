"""Abstraction of a group whose sessions wait until other members have their transactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from paraply.models.recorded.following import Recorded
from paraply.models.recorded.group_member import MemberReading
from paraply.models.recorded.whole_groups import GroupReading
from paraply.models.systems.quorum import ACKERS
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId


def acknowledged_group(history: History, *, waits_for_few: bool = True) -> Recorded:
    """Read a run for ``paraply/models/systems/acknowledged_group.py``.

    Acknowledging sets are all sets of the required size. That a whole set was heard of shows in the
    engine commit or the answer. If fewer members remain, the reading ends, unless
    ``waits_for_few`` is off.
    """
    reading = _Waiting(history, waits_for_few=waits_for_few)
    read = reading.recorded()
    start = {**read.start, "acks": {}, "one_of": {}, "after_sync": {}}
    for number, ackers in enumerate(read.scope.values(ACKERS)):
        members = reading.sets[number % len(reading.sets)]
        start["acks"] |= {(member.name, ackers): True for member in members}
        start["one_of"] |= {(ackers,): members[0].name}
    for member in reading.members.values():
        start["after_sync"] |= {(member.name,): not reading.after_commit}
    return replace(read, start=start, ghosts=frozenset({"by_set"}))


def lacking(history: History) -> Iterator[str]:
    """Yield what forbids to read acknowledgements."""
    required = int(history.header.options.get("acknowledgements", 0))
    if not required:
        yield "commits wait for no other member"
    elif required >= len(history.members):
        yield f"{required} acknowledgements of {len(history.members)} members"


class _Waiting(GroupReading):
    """Reads sessions that wait for acknowledgements, too."""

    def __init__(self, history: History, *, waits_for_few: bool) -> None:
        super().__init__(history)
        self.waits_for_few = waits_for_few
        options = history.header.options
        self.after_commit = bool(options.get("after_commit"))
        self.required = int(options.get("acknowledgements", 1))
        self.sets = list(combinations(self.members.values(), self.required))
        self.scope = replace(self.scope, size=max(self.scope.size, len(self.sets)))
        self.acknowledged: dict[TransactionId, set[str]] = {}

    def read_of(self, one: TransactionId, member: MemberReading, event: Event) -> None:
        if event.kind is EventKind.ACKNOWLEDGED:
            self.acknowledged.setdefault(one, set()).add(event.member)
        is_own_commit = event.kind is EventKind.ENGINE_COMMITTED and self.is_own(one, member)
        is_answer = event.kind is EventKind.CLIENT_ACKNOWLEDGED
        if is_answer if self.after_commit else is_own_commit and member.is_current:
            self.hear(one)
        if self.ended:
            return
        if is_answer:
            self.take("answer", p=self.place_of(one))
        super().read_of(one, member, event)

    def hear(self, one: TransactionId) -> None:
        """Hear of a set, or end the reading where the theorem does not say who counts."""
        place, origin = self.place_of(one), self.of[one].origin
        others = {
            name: member
            for name, member in self.members.items()
            if member.is_in and member.first <= place and name != origin
        }
        has_it = {name for name, member in others.items() if member.received > place}
        heard = has_it & self.acknowledged.get(one, set())
        if any(member.is_in and not member.is_running for member in self.members.values()):
            self.ended = "a member has crashed, and no view says so"
        elif self.waits_for_few and len(others) < self.required:
            self.ended = f"fewer members remain than acknowledge T{one}"
        elif len(heard) < self.required <= len(has_it):
            self.ended = f"not all acknowledgements of T{one} are recorded"
        else:
            self.take("hear", p=place)
