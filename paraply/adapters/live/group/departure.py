"""A group member leaves under load and returns."""

from __future__ import annotations

import time

from paraply.adapters.live.group.target import CUT, FREEZE, KILL
from paraply.adapters.live.group.workload import Load
from paraply.adapters.live.observed import Tag
from paraply.adapters.servers.group_replication import GroupReplication, MemberView
from paraply.adapters.servers.network import Host, PrivateNetwork
from paraply.adapters.servers.server import Server

_FREEZE_S = 3.0
"""Below the five seconds before suspicion."""


class Departure:
    """A departure in order (``how`` is empty) or by a fault."""

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
        self.member = member
        self._others = [one for one in group.members if one is not member]
        self._load = load
        self._network = network
        self._writes_alone = False
        self._known: dict[str, frozenset[Tag]] = {}

    def leave(self) -> None:
        """Remove the member, and wait for the others' group."""
        member, group = self.member, self._group
        if self.how == CUT:
            self._cut_off()
            return
        self._load.paused.add(member.name)
        if self.how == KILL:
            member.kill()
            group.wait_until_online(self._others[0], size=len(self._others))
            self.let_primaries_write()
            return
        if self.how == FREEZE:
            member.freeze()
            try:
                time.sleep(_FREEZE_S)
            finally:
                member.thaw()
        group.leave(member)
        self.let_primaries_write()

    def let_primaries_write(self) -> None:
        """Enable writers on the majority's primaries and the isolated member."""
        primaries = {one.uuid for one in self._group.wait_for_primaries(self._others[0])}
        if self._writes_alone:
            primaries.add(self.member.server_uuid)
        self._load.paused = {
            one.name for one in self._group.members if one.server_uuid not in primaries
        }

    def come_back(self) -> None:
        """Rejoin the member under a slow load."""
        if self.how == CUT:
            self._mend()
        self._load.pause_s = 0.01
        if not self.member.is_running:
            self.member.start()
        self._group.join(self.member, size=len(self._group.members))
        self._load.pause_s = 0.0
        self.let_primaries_write()

    def _cut_off(self) -> None:
        network, host = self._cuttable()
        self._writes_alone = self.member.name not in self._load.paused
        network.cut(host)
        self._known = {one.name: self._load.confirmed_by(one.name) for one in self._group.members}
        self._group.wait_until_online(self._others[0], size=len(self._others))
        self._group.wait_until(self.member, _sees_nobody)
        self._known[self.member.name] = self._load.confirmed_by(self.member.name)
        self.let_primaries_write()

    def _mend(self) -> None:
        network, host = self._cuttable()
        fresh = {
            name: self._load.confirmed_by(name) - before for name, before in self._known.items()
        }
        self.confirmed_while_cut_off = fresh.pop(self.member.name)
        others = sum(map(len, fresh.values()))
        self.notes = (
            f"while {self.member.name} was cut off it confirmed"
            f" {len(self.confirmed_while_cut_off)} transactions; the others confirmed {others}",
        )
        self._load.paused.add(self.member.name)
        self._writes_alone = False
        network.mend(host)
        # It detects its expulsion and rolls back its open transactions.
        self._group.wait_until(self.member, lambda seen: "ERROR" in {one.state for one in seen})
        self._group.leave(self.member)

    def _cuttable(self) -> tuple[PrivateNetwork, Host]:
        if self._network is None or self.member.host is None:
            raise ValueError("the members are in no network that can be cut")
        return self._network, self.member.host


def _sees_nobody(seen: list[MemberView]) -> bool:
    return sum(one.state == "UNREACHABLE" for one in seen) == len(seen) - 1 > 0
