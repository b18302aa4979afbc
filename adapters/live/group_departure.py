"""How a member of a replication group leaves under load, and how it comes back."""

from __future__ import annotations

import time

from adapters.live.group_target import CUT, FREEZE, KILL
from adapters.live.group_workload import Load
from adapters.live.observed import Tag
from adapters.servers.group_replication import GroupReplication, MemberView
from adapters.servers.network import Host, PrivateNetwork
from adapters.servers.server import Server

_FREEZE_S = 3.0
"""Shorter than the five seconds after which a member is suspected."""


class Departure:
    """One member leaves in order (``how`` is empty), or as a fault says."""

    def __init__(
        self,
        how: str,
        group: GroupReplication,
        member: Server,
        load: Load,
        network: PrivateNetwork | None,
    ) -> None:
        self.how = how
        self.confirmed_while_cut_off: frozenset[Tag] = frozenset()
        self.notes: tuple[str, ...] = ()
        self._group = group
        self._member = member
        self._others = [one for one in group.members if one is not member]
        self._load = load
        self._network = network
        self._known: dict[str, frozenset[Tag]] = {}
        """What members had confirmed before the cut; the one that is cut off, until it knew."""

    def leave(self) -> None:
        """Let the member leave; the others are a group of their own on return."""
        member, group = self._member, self._group
        if self.how == CUT:
            self._cut_off()
            return
        self._load.paused.add(member.name)
        if self.how == KILL:
            member.kill()
            group.wait_until_online(self._others[0], size=len(self._others))
            return
        if self.how == FREEZE:
            member.freeze()
            try:
                time.sleep(_FREEZE_S)
            finally:
                member.thaw()
        group.leave(member)

    def come_back(self) -> None:
        """Let the member join again, while the load goes slowly."""
        if self.how == CUT:
            self._mend()
        self._load.pause_s = 0.01
        if not self._member.is_running:
            self._member.start()
        self._group.join(self._member, size=len(self._group.members))
        self._load.pause_s = 0.0
        self._load.paused.discard(self._member.name)

    def _cut_off(self) -> None:
        """Cut it off while its writers write: they wait for a group that does not answer."""
        network, host = self._cuttable()
        network.cut(host)
        self._known = {one.name: self._load.confirmed_by(one.name) for one in self._group.members}
        self._group.wait_until_online(self._others[0], size=len(self._others))
        self._group.wait_until(self._member, _sees_nobody)
        self._known[self._member.name] = self._load.confirmed_by(self._member.name)

    def _mend(self) -> None:
        network, host = self._cuttable()
        fresh = {
            name: self._load.confirmed_by(name) - before for name, before in self._known.items()
        }
        self.confirmed_while_cut_off = fresh.pop(self._member.name)
        others = sum(map(len, fresh.values()))
        self.notes = (
            f"while {self._member.name} was cut off it confirmed"
            f" {len(self.confirmed_while_cut_off)} transactions; the others confirmed {others}",
        )
        self._load.paused.add(self._member.name)
        network.mend(host)
        # It learns that the others have expelled it, and gives up what it had under way.
        self._group.wait_until(self._member, lambda seen: "ERROR" in {one.state for one in seen})
        self._group.leave(self._member)

    def _cuttable(self) -> tuple[PrivateNetwork, Host]:
        if self._network is None or self._member.host is None:
            raise ValueError("the members are in no network that can be cut")
        return self._network, self._member.host


def _sees_nobody(seen: list[MemberView]) -> bool:
    """Return whether a member reaches none of the others."""
    return sum(one.state == "UNREACHABLE" for one in seen) == len(seen) - 1 > 0
