"""Client events of a replication group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from paraply.adapters.live.group.confirmations import CUT_OFF, lost_transaction
from paraply.adapters.live.observed import Tag
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.group_trace import MemberUuid, TransactionDelivered
from paraply.vocabulary.timestamps import LogicalTime
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupClients:
    """Client confirmations of tagged transactions, and their outcome."""

    confirmed: Mapping[MemberUuid, Sequence[Tag]] = field(default_factory=dict)
    gtids: Mapping[Tag, str] = field(default_factory=dict)
    """From a member that never left."""
    journals: Mapping[MemberUuid, frozenset[Tag]] = field(default_factory=dict)
    executed: Mapping[MemberUuid, str] = field(default_factory=dict)
    cut_off: MemberUuid = ""
    """The member that was in the minority, or empty."""
    confirmed_while_cut_off: frozenset[Tag] = frozenset()


NO_CLIENTS = GroupClients()


class ClientStory:
    """Client events; ``count`` is the number of delivered transactions."""

    def __init__(self, clients: GroupClients, names: Mapping[MemberUuid, str], count: int) -> None:
        self._clients = clients
        self._names = names
        self._told_by = {
            tag: names[uuid] for uuid, tags in clients.confirmed.items() for tag in tags
        }
        self._tags = {gtid: tag for tag, gtid in clients.gtids.items()}
        lost = [tag for tag in self._told_by if tag not in clients.gtids]
        self._ids = {tag: TransactionId(number) for number, tag in enumerate(lost, count + 1)}
        self.lost = [lost_transaction(self._ids[tag], self._told_by[tag]) for tag in lost]
        self._untagged: list[TransactionId] = []

    def on_decided(self, step: TransactionDelivered, transaction: TransactionId) -> Iterator[Event]:
        """Yield the transaction's confirmation, if any."""
        gtids = {str(one.gtid) for one in step.decided.values()}
        tag = next((self._tags[gtid] for gtid in gtids if gtid in self._tags), None)
        if tag is not None:
            self._ids[tag] = transaction
            if tag in self._told_by and tag not in self._clients.confirmed_while_cut_off:
                yield self._confirmed(tag)
        elif gtids:
            self._untagged.append(transaction)

    def cut_off(self, view: int) -> Iterator[Event]:
        """Yield a member's isolation before the view."""
        yield self._event(
            EventKind.VIEW_INSTALLED,
            self._names[self._clients.cut_off],
            view=view,
            members=(self._names[self._clients.cut_off],),
            note=CUT_OFF,
        )
        yield from map(self._confirmed, sorted(self._clients.confirmed_while_cut_off))

    def ends(self) -> Iterator[Event]:
        """Yield the remaining events and final states."""
        told = {one.id for one in self.lost}
        for tag, one in self._ids.items():
            if one in told and tag not in self._clients.confirmed_while_cut_off:
                yield self._confirmed(tag)
        for uuid, journal in self._clients.journals.items():
            tagged = (one for tag, one in self._ids.items() if tag in journal)
            yield self._event(
                EventKind.STOPPED,
                self._names[uuid],
                transactions=tuple(sorted((*tagged, *self._untagged))),
                gtid_set=self._clients.executed.get(uuid, ""),
            )

    def _confirmed(self, tag: Tag) -> Event:
        return self._event(
            EventKind.CLIENT_ACKNOWLEDGED, self._told_by[tag], transaction=self._ids[tag]
        )

    def _event(self, kind: EventKind, member: str, **fields: Any) -> Event:
        return Event(kind=kind, time=LogicalTime(0), member=member, **fields)
