"""Waits for acknowledgements: replies, ends and abandonment."""

from __future__ import annotations

from dataclasses import dataclass

from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.groups import Group, Stage
from paraply.reference_impl.semi_sync.settings import Abandon, WaitPoint
from paraply.reference_impl.semi_sync.state import SOURCE, ClusterState
from paraply.vocabulary.events import EventKind

_WAITING_STAGE = {WaitPoint.AFTER_SYNC: Stage.ACK, WaitPoint.AFTER_COMMIT: Stage.AFTER}


@dataclass
class Waiting(ClusterState):
    """The source's semi-sync part."""

    # Replies.

    def may_hear(self, replica: ReplicaState) -> bool:
        """Return whether a reply is due: at receipt or connect.

        The source rejects replicas with foreign transactions.
        """
        is_up = replica.is_connected and not (self.is_lost or self.is_stopped)
        is_new = self.heard.reported.get(replica.name, 0) < replica.position
        return is_up and is_new and replica.follows(self.binlog.written)

    def on_heard(self, replica: ReplicaState) -> None:
        """Count a reply or start position."""
        known = self.heard.reported.get(replica.name, 0)
        for transaction in replica.received[known:]:
            self.recorder.record(
                EventKind.ACKNOWLEDGED, member=replica.name, transaction=transaction
            )
        self.note(replica.name, replica.position)

    def note(self, name: str, position: int) -> None:
        """Count a reply; the log end restores semi-sync."""
        self.heard.report(name, position)
        if not self.is_switched_off and self.is_acknowledged(len(self.binlog.written)):
            self.is_on = True

    def is_acknowledged(self, position: int) -> bool:
        """Return whether enough replicas replied."""
        return self.heard.released >= position

    # Waits.

    def wait_is_over(self, group: Group) -> bool:
        """Return whether its last transaction is acknowledged, or the wait abandoned."""
        return group.has_given_up or self.is_acknowledged(self.binlog.end_of(group.last))

    def is_waiting(self, group: Group) -> bool:
        """Return whether the group waits."""
        point = _WAITING_STAGE[self.settings.wait_point]
        return group.stage is point and not self.wait_is_over(group)

    def begin_wait(self, group: Group) -> None:
        """Wait, unless semi-sync is off or the source stops."""
        if not self.is_waiting(group):
            return
        if self.is_stopping and not self.settings.shutdown_waits:
            self.give_up(group, Abandon.SHUTDOWN)
        elif not self.is_on:
            self.give_up(group, Abandon.ASYNCHRONOUS)

    def give_up(self, group: Group, why: Abandon) -> None:
        """End a wait and its guarantee."""
        group.has_given_up = True
        group.has_lost_its_clients = why in (Abandon.KILL_CONNECTION, Abandon.SHUTDOWN)
        for transaction in group.transactions:
            if not self.is_acknowledged(self.binlog.end_of(transaction)):
                self.recorder.record(
                    EventKind.WAIT_ABANDONED, member=SOURCE, transaction=transaction,
                    group=group.number, note=why.value,
                )  # fmt: skip

    def give_up_all(self, why: Abandon) -> None:
        """End every wait."""
        for group in self.groups:
            if self.is_waiting(group):
                self.give_up(group, why)

    # Abandonment.

    def on_abandon(self, group: Group, why: Abandon) -> None:
        """Abandon a wait, or all by time-out and switch."""
        self.budget.abandons -= 1
        if why in (Abandon.TIME_OUT, Abandon.SWITCHED_OFF):
            self.is_on = False
            self.is_switched_off = why is Abandon.SWITCHED_OFF
            self.give_up_all(why)
        else:
            self.give_up(group, why)

    def may_leave(self) -> bool:
        """Return whether too few replicas remain."""
        left = sum(not replica.is_missed for replica in self.replicas)
        return not self.settings.waits_without_replicas and left < self.settings.acknowledgements
