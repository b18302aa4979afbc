"""Abstraction of a group whose members come back with their own data.

As in ``paraply/models/recorded/unordered_groups.py``, but a joiner keeps what it has committed. The
model's joiner recovers outside the group, a server's after its view. So what it copies of what its
donor has committed by then is read before the join, in the recorded order. A member that goes away
before its recovery ends does not join, and its copies are read where they are. What crash recovery
commits from a binary log is read as committed before the crash, after which nobody sees the member.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from paraply.models.language.concrete import Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.group_member import MemberReading
from paraply.models.recorded.unordered_groups import AnyOrder
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

_CHANGES = (EventKind.ROW_APPLIED, EventKind.ENGINE_COMMITTED)


def returning_group(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/returning_group.py``."""
    return _Returning(history).recorded()


def gtids_apart(history: History) -> Recorded:
    """Read the same where a crash may take a GTID and leave its data: no record shows that."""
    return replace(returning_group(history), hidden=frozenset({"forget"}))


@dataclass(slots=True)
class _Life:
    """What a member commits from its start on, until its recovery ends.

    Attributes:
        logged: what it recovers from its own binary log: it changes rows, or commits.
        copied: what it copies from a donor, by the place of the event.
        is_whole: whether its recovery ends.
    """

    logged: list[TransactionId] = field(default_factory=list)
    copied: dict[int, TransactionId] = field(default_factory=dict)
    is_whole: bool = False


def _lives(history: History) -> dict[str, list[_Life]]:
    lives: dict[str, list[_Life]] = {member: [] for member in history.members}
    starting = ""
    for at, event in enumerate(history.events):
        if event.member != starting:
            starting = ""
        if event.kind is EventKind.STARTED:
            starting = event.member
            lives[starting].append(_Life())
        elif not lives[event.member] or lives[event.member][-1].is_whole:
            continue
        elif event.kind in (EventKind.RECOVERED, EventKind.VIEW_INSTALLED):
            # A founder has no recovery.
            lives[event.member][-1].is_whole = True
        elif event.kind in _CHANGES and event.transaction is not None:
            life = lives[event.member][-1]
            if not starting and event.kind is EventKind.ENGINE_COMMITTED:
                life.copied[at] = event.transaction
            elif starting and event.transaction not in life.logged:
                life.logged.append(event.transaction)
    return lives


class _Returning(AnyOrder):
    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.lives = _lives(history)
        broken = [life for lives in self.lives.values() for life in lives if not life.is_whole]
        self.apart = {at for life in broken for at in life.copied}
        self.early: set[int] = set()
        self.begun: Counter[str] = Counter()
        self.joined: Counter[str] = Counter()
        self.in_view: tuple[str, ...] = ()
        self.at = -1
        self.donors: dict[Value, MemberReading] = {}
        self.told: dict[Value, set[int]] = {}
        self.passed: dict[Value, set[int]] = {}

    def read(self, event: Event) -> None:
        """Take the steps of an event."""
        self.at += 1
        self.begun[event.member] += event.kind is EventKind.STARTED
        if event.kind in (EventKind.CRASHED, EventKind.STOPPED):
            self.recover_log(event.member)
        super().read(event)

    def recover_log(self, name: str) -> None:
        """Commit what a member recovers from its binary log when it starts again."""
        member, number = self.members[name], self.begun[name]
        for life in self.lives[name][number : number + 1] if member.is_current else ():
            for one in life.logged:
                self.finish(one, self.place_of(one), member)
                self.has[member.name].add(self.place_of(one))
                self.take("apply", m=member.name, q=self.place_of(one))

    def commit(self, one: TransactionId, member: MemberReading) -> None:
        """Take an engine commit, unless it was taken before."""
        if self.at in self.early:
            member.done.add(one)
        elif self.at in self.apart:
            member.done.add(one)
            self.copy(self.place_of(one), member)
        else:
            super().commit(one, member)

    def change_view(self, event: Event) -> None:
        """Let a view take place with the first member that installs it."""
        super().change_view(event)
        if self.view == event.view:
            self.in_view = event.members

    def leave(self, member: MemberReading) -> None:
        """Take the end of a member, and of its connections."""
        super().leave(member)
        self.donors = {one: donor for one, donor in self.donors.items() if donor is not member}

    def join(self, member: MemberReading) -> None:
        """Recover as a donor's log allows, and join if the recovery ends."""
        name = self.called(member)
        if name in self.in_view:
            return
        number = self.joined[name] + (name in self.founders)
        self.joined[name] += 1
        self.take("restart", m=member.name, left=0, begin=0)
        self.donors.pop(member.name, None)
        life, donor = self.lives[name][number], self.donor_with()
        if donor is None or not life.is_whole:
            return
        given = {
            at: place for at, one in life.copied.items()
            if (place := self.place_of(one)) in self.has[donor.name]
        }  # fmt: skip
        self.connect(member, donor, self.has[member.name] - {*given.values()})
        for place in given.values():
            self.copy(place, member)
        self.early |= given.keys()
        self.leave_out(member)
        self.take_in(member, donor)
        del self.donors[member.name]
        self.gifts[member.name] = {*given.values()}
        self.firsts[member.name] = len(self.order)

    def donor_with(self, place: int = -1) -> MemberReading | None:
        """Return a donor that has ``place``, if one does, and most."""
        inside = [one for one in self.members.values() if one.is_in]
        if not inside:
            self.ended = "a group begins again"
            return None
        return max(inside, key=lambda one: (place in self.has[one.name], len(self.has[one.name])))

    def connect(self, member: MemberReading, donor: MemberReading, told: set[int]) -> None:
        """Take a connection to a donor, with what the member names."""
        self.donors[member.name] = donor
        self.told[member.name], self.passed[member.name] = told, set()
        named: Table = {(place,): True for place in told}
        known: dict[str, Value] = {"m": member.name, "donor": donor.name}
        self.steps.append(
            RecordedStep(actions=("connect",), parameters=known, chosen={"named": named})
        )

    def copy(self, place: int, member: MemberReading) -> None:
        """Take a copy from the donor, and its commit."""
        donor = self.donors.get(member.name)
        if donor is None or place not in self.has[donor.name]:
            # No record shows the donor.
            donor = self.donor_with(place)
            if donor is None:
                return
            self.connect(member, donor, self.has[member.name] - {place})
        self.leave_out(member, place)
        self.take("fetch", m=member.name, p=place)
        self.take("recover", ("upto", (member.name, place), True), m=member.name)
        self.passed[member.name].add(place)
        self.has[member.name].add(place)

    def leave_out(self, member: MemberReading, before: int | None = None) -> None:
        """Take what the donor does not send, up to a position."""
        told, donor = self.told[member.name], self.donors[member.name]
        for place in sorted(told & self.has[donor.name] - self.passed[member.name]):
            if before is None or place < before:
                self.take("leave_out", m=member.name, p=place)
                self.passed[member.name].add(place)
