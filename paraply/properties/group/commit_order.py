"""The commit order of group members.

Remote transactions commit in certification order. A member's own may commit earlier or later.
Recovery follows the donor's order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from paraply.properties.group.stream import Certified, MemberStream, member_streams
from paraply.properties.registry import Violation, always, sometimes
from paraply.properties.vocabularies import certification
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId
from paraply.vocabulary.write_set import Item, format_item, sorted_items

_GOES = (EventKind.STOPPED, EventKind.CRASHED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCommitsInverted(Violation):
    """Remote transactions commit out of order."""

    member: str
    earlier: TransactionId
    later: TransactionId

    def __str__(self) -> str:
        return (
            f"{self.member} certified T{self.earlier} before T{self.later}, both of other members, "
            f"and committed T{self.later} first"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCommitOvertook(Violation):
    """An own transaction overtakes a required remote one."""

    member: str
    own: TransactionId
    remote: TransactionId
    item: Item

    def __str__(self) -> str:
        return (
            f"{self.member} committed T{self.own} of its own before T{self.remote}, which was "
            f"certified earlier and wrote {format_item(self.item)} too"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stay:
    member: str
    certified: list[Certified]
    committed_at: dict[TransactionId, int]
    """Event indexes of the stay's commits."""

    def remote_by_commit(self) -> list[Certified]:
        return sorted(
            (
                one
                for one in self.certified
                if one.timestamp is not None and one.transaction.id in self.committed_at
            ),
            key=lambda one: self.committed_at[one.transaction.id],
        )


def _stays(stream: MemberStream) -> Iterator[_Stay]:
    certified = {one.event_index: one for one in stream.certified if one.is_positive}
    stay: _Stay | None = None
    for index, event in stream.events:
        is_online = event.kind is EventKind.ONLINE and stream.member in event.members
        if event.kind in _GOES or (event.kind is EventKind.ONLINE and not is_online):
            if stay is not None:
                yield stay
            stay = None
        elif is_online and stay is None:
            stay = _Stay(member=stream.member, certified=[], committed_at={})
        elif stay is not None and index in certified:
            stay.certified.append(certified[index])
        elif stay is not None and event.kind is EventKind.ENGINE_COMMITTED:
            assert event.transaction is not None
            stay.committed_at.setdefault(event.transaction, index)
    if stay is not None:
        yield stay


def _neighbours(history: History) -> Iterator[tuple[_Stay, Certified, Certified]]:
    for stream in member_streams(history):
        for stay in _stays(stream):
            for first, second in pairwise(stay.remote_by_commit()):
                yield stay, first, second


@sometimes(
    of=certification, source="MySQL manual, Group Replication, Consistency Guarantees: EVENTUAL"
)
def members_commit_in_different_orders(history: History) -> bool:
    """Two members commit two transactions in different orders, as each may with its own."""
    orders = [
        [one for one, _ in sorted(stream.committed_at.items(), key=lambda each: each[1])]
        for stream in member_streams(history)
    ]
    for order, other in pairwise(orders):
        common = set(order) & set(other)
        if [one for one in order if one in common] != [one for one in other if one in common]:
            return True
    return False


@always(
    of=certification,
    source="replica_preserve_commit_order=ON on group_replication_applier; WL#7165",
    witness=lambda history: next(_neighbours(history), None) is not None,
)
def remote_transactions_commit_as_certified(
    history: History,
) -> tuple[RemoteCommitsInverted, ...]:
    """A member that is online commits the transactions of others in the order of certification."""
    return tuple(
        RemoteCommitsInverted(
            member=stay.member, earlier=second.transaction.id, later=first.transaction.id
        )
        for stay, first, second in _neighbours(history)
        if second.place < first.place
    )


def _own_after_remote(
    history: History,
) -> Iterator[tuple[MemberStream, Certified, TransactionId, Item]]:
    for stream in member_streams(history):
        writers: dict[Item, TransactionId] = {}
        for one in stream.certified:
            mine = one.transaction
            if not one.is_positive or one.is_source:
                continue
            if one.timestamp is not None:
                writers.update(dict.fromkeys(mine.write_set, mine.id))
            elif mine.id in stream.committed_at:
                for item in sorted_items(mine.write_set):
                    remote = writers.get(item)
                    if remote is not None and remote in stream.committed_at:
                        yield stream, one, remote, item


@always(
    of=certification,
    source="WL#6833: a transaction is refused unless its snapshot has every earlier writer",
    witness=lambda history: next(_own_after_remote(history), None) is not None,
)
def own_transactions_commit_after_what_they_saw(
    history: History,
) -> tuple[OwnCommitOvertook, ...]:
    """A member commits its own transaction after every remote one that wrote one of its rows.

    Otherwise certification rejects it.
    """
    return tuple(
        OwnCommitOvertook(member=stream.member, own=own.transaction.id, remote=remote, item=item)
        for stream, own, remote, item in _own_after_remote(history)
        if stream.committed_at[own.transaction.id] < stream.committed_at[remote]
    )
