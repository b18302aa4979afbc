"""Replicas: receipt, applying, crash and restart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.staging import Staging
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind

UNNOTICED = "without a word"
"""Note of a crash: the connection stays open."""


@dataclass
class Replication(Staging):
    """Dump threads and replicas."""

    def replica_steps(self) -> Iterator[Step]:
        """Yield the replicas' own steps."""
        for replica in self.replicas:
            name = replica.name
            if self.may_receive(replica):
                yield Step(f"{name} receives", partial(self.on_received, replica))
            if self.may_hear(replica):
                yield Step(f"{name} is heard", partial(self.on_heard, replica))
            if replica.is_connected and replica.applied < replica.position:
                yield Step(f"{name} applies", partial(self.on_applied, replica))
            # After the loss of the source, survivors are up at the election.
            if not replica.is_connected and (self.settings.replicas_return or self.is_lost):
                yield Step(f"{name} restarts", partial(self.on_restarted, replica))

    def sendable(self) -> int:
        """Return binlog_end_pos, the sending limit."""
        return self.binlog.synced if self.settings.sync_binlog else len(self.binlog.written)

    def may_receive(self, replica: ReplicaState) -> bool:
        """Return whether sending is possible."""
        is_up = replica.is_connected and not (self.is_lost or self.is_stopped)
        is_behind = replica.position < self.sendable()
        if not (is_up and is_behind and replica.follows(self.binlog.written)):
            return False
        return not self.settings.dump_takes_lock_log or self.lock_log_is_free()

    def on_received(self, replica: ReplicaState) -> None:
        """Receive a transaction and reply."""
        transaction = self.binlog.written[replica.position]
        replica.received.append(transaction)
        self.recorder.record(EventKind.DELIVERED, member=replica.name, transaction=transaction)

    def on_applied(self, replica: ReplicaState) -> None:
        """Apply the next relayed transaction."""
        transaction = replica.received[replica.applied]
        replica.applied += 1
        self.recorder.record(
            EventKind.ENGINE_COMMITTED, member=replica.name, transaction=transaction
        )

    def on_replica_crash(self, replica: ReplicaState, *, is_noticed: bool = True) -> None:
        """Crash, detected or not."""
        self.budget.replica_crashes -= 1
        replica.is_connected, replica.is_missed = False, is_noticed
        note = "" if is_noticed else UNNOTICED
        self.recorder.record(EventKind.CRASHED, member=replica.name, note=note)

    def on_restarted(self, replica: ReplicaState) -> None:
        """Restart; the position counts as reply."""
        replica.restart(keeps_relay_log=self.settings.keeps_relay_log)
        known = self.heard.reported.get(replica.name, 0)
        if known > replica.position:
            # Forget the report of lost transactions.
            self.heard.reported[replica.name] = replica.position
        self.recorder.record(
            EventKind.RECOVERED, member=replica.name, transactions=tuple(replica.received)
        )
