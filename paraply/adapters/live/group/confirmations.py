"""Add client confirmations and isolation to a member's story."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from paraply.adapters.live.observed import Member
from paraply.adapters.live.source_log import Keys, SourceLog
from paraply.adapters.live.translation import MemberStory
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.transactions import Transaction, TransactionId, TransactionKind

CUT_OFF = "cut off"
"""Note on the view of a minority member."""
NOBODY_CUT_OFF = {"members_cut_off_confirm_nothing": "nobody is cut off under this fault"}


def add_lost(log: SourceLog, members: Sequence[Member]) -> None:
    """Add confirmed transactions that the log lacks."""
    lost: list[Transaction] = []
    for member in members:
        for tag in member.confirmed:
            if tag not in log.tags:
                identity = TransactionId(len(log.transactions) + len(lost) + 1)
                log.tags[tag] = identity
                log.tag_of[identity] = tag
                lost.append(lost_transaction(identity, member.name))
    log.transactions += tuple(lost)


def lost_transaction(identity: TransactionId, told_by: str) -> Transaction:
    """Return a confirmed, unlogged transaction."""
    return Transaction(
        id=identity,
        kind=TransactionKind.NO_WRITE_SET,
        origin=told_by,
        statement=f"confirmed by {told_by}, and not in the log",
    )


class ConfirmedStory(MemberStory):
    """A member's log events with its views and confirmations.

    A confirmation follows its commit in the log. An unlogged one ends the story, unless it came in
    isolation.
    """

    def __init__(self, log: SourceLog, member: Member, keys: Keys, group: Sequence[str]) -> None:
        super().__init__(log, member, keys)
        self._group = tuple(group)
        cut_off = member.cut_off
        self._while_cut_off = frozenset() if cut_off is None else cut_off.confirmed
        tags = [tag for tag in member.confirmed if tag not in self._while_cut_off]
        self._to_confirm = dict.fromkeys(log.tags[tag] for tag in tags)

    def _view(self, number: int, members: Sequence[str], note: str = "") -> Event:
        return self._event(EventKind.VIEW_INSTALLED, view=number, members=tuple(members), note=note)

    def _confirmed(self, transaction: TransactionId) -> Event:
        return self._event(EventKind.CLIENT_ACKNOWLEDGED, transaction=transaction)

    def _by_place(self) -> dict[int, list[Event]]:
        places = super()._by_place()
        cut_off = self.member.cut_off
        if cut_off is not None:
            place = self.place_of(cut_off.file, cut_off.offset)
            confirmed = sorted(self.log.tags[tag] for tag in self._while_cut_off)
            places.setdefault(place, []).extend(
                [
                    self._view(2, (self.member.name,), CUT_OFF),
                    *map(self._confirmed, confirmed),
                    self._view(3, self._group),
                ]
            )
        places[0] = [self._view(1, self._group), *places.get(0, ())]
        return places

    def _engine_commit(self, place: int, attempts: Mapping[TransactionId, int]) -> Iterator[Event]:
        yield from super()._engine_commit(place, attempts)
        one = self.order[place]
        if one in self._to_confirm:
            del self._to_confirm[one]
            yield self._confirmed(one)

    def _ending(self) -> Iterator[Event]:
        yield from map(self._confirmed, self._to_confirm)
        yield from super()._ending()
