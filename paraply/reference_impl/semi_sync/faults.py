"""Faults of a source: rotation, crash, shutdown, loss and return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.replication import Replication
from paraply.reference_impl.semi_sync.settings import Abandon, Recovery
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind, Observation
from paraply.vocabulary.transactions import TransactionId


@dataclass
class Faults(Replication):
    """Fault and administration steps."""

    def source_steps(self) -> Iterator[Step]:
        """Yield ends of rotation, recovery and shutdown."""
        if self.is_stopped:
            yield Step("source starts", self.on_started)
            return
        if self.is_rotating and not (self.settings.rotation_waits and self.groups):
            yield Step("rotated", self.on_rotated)
        if self.held_back and self.is_acknowledged(self.binlog.end_of(self.held_back[0])):
            yield Step("release recovered", self.on_released)
        if not self.is_open and self.is_acknowledged(len(self.binlog.written)):
            yield Step("open", self.on_opened)
        if self.is_stopping and self.may_stop():
            yield Step("source stops", self.on_stopped)

    # Rotation.

    def on_rotate(self) -> None:
        """Take LOCK_log for a rotation."""
        self.budget.rotations -= 1
        self.is_rotating = True

    def on_rotated(self) -> None:
        """End the rotation (MDEV-181: without waits)."""
        self.is_rotating = False
        self.recorder.record(EventKind.RELAY_ROTATED, member=SOURCE)

    # Crash and recovery.

    def on_source_crash(self, kept: int) -> None:
        """Crash and restart; ``kept`` unsynced transactions survive."""
        self.budget.source_crashes -= 1
        self.recorder.record(EventKind.CRASHED, member=SOURCE)
        self.forget(kept)
        self.record_recovery(self.settings.recovery.value)
        self.recover([one for one in self.binlog.written if one not in self.visible])

    def forget(self, kept: int) -> None:
        """Lose volatile state and log tail."""
        self.binlog.crash(kept)
        self.queue.clear()
        self.groups.clear()
        self.held_back.clear()
        self.is_rotating = self.is_stopping = False
        self.restart_semi_sync()

    def restart_semi_sync(self) -> None:
        """Switch on without known replicas."""
        self.heard = self.new_acknowledgements()
        self.is_on, self.is_switched_off = True, False
        for replica in self.replicas:
            replica.is_missed = not replica.is_connected

    def record_recovery(self, note: str) -> None:
        """Record the surviving log."""
        log = tuple(self.binlog.written)
        self.recorder.record(EventKind.RECOVERED, member=SOURCE, transactions=log, note=note)

    def recover(self, undecided: list[TransactionId]) -> None:
        """Decide prepared, logged transactions."""
        recovery = self.settings.recovery
        if recovery is Recovery.WAITS:
            self.held_back = undecided
            return
        for transaction in undecided:
            self.show(transaction)
        self.is_open = recovery is not Recovery.BARRED

    def on_released(self) -> None:
        """Commit an acknowledged recovered transaction."""
        self.show(self.held_back.pop(0))

    def on_opened(self) -> None:
        """Admit clients again."""
        self.is_open = True

    # Shutdown.

    def on_shutdown(self) -> None:
        """SHUTDOWN: stop admission and, by default, waits."""
        self.budget.shutdowns -= 1
        self.is_stopping = True
        self.queue.clear()
        if not self.settings.shutdown_waits:
            self.give_up_all(Abandon.SHUTDOWN)

    def may_stop(self) -> bool:
        """Return whether commits and awaited replicas are done."""
        following = [one for one in self.replicas if one.is_connected]
        all_sent = all(one.position >= self.sendable() for one in following)
        return not self.groups and (all_sent or not self.settings.shutdown_waits)

    def on_stopped(self) -> None:
        """Record a clean stop."""
        self.is_stopping, self.is_stopped = False, True
        self.recorder.record(EventKind.STOPPED, member=SOURCE, note="shutdown")

    def on_started(self) -> None:
        """Restart the source."""
        self.is_stopped = False
        self.restart_semi_sync()
        self.recorder.record(EventKind.STARTED, member=SOURCE, note="after a shutdown")

    # Loss, fail-over and return.

    def loss_steps(self) -> Iterator[Step]:
        """Yield losses of the source and replicas."""
        together = self.settings.loses_replicas
        if together < len(self.replicas):
            for lost in combinations(self.replicas, together):
                names = ", ".join([SOURCE, *(replica.name for replica in lost)])
                yield Step(f"lost: {names}", partial(self.on_source_lost, lost), SOURCE)

    def on_source_lost(self, lost: tuple[ReplicaState, ...]) -> None:
        """Lose the source for good."""
        self.is_lost = True
        for names in (self.waiting, self.queue, self.groups, self.held_back):
            names.clear()
        self.is_stopping = self.is_stopped = self.is_rotating = False
        self.recorder.record(EventKind.CRASHED, member=SOURCE, note="lost")
        for replica in lost:
            self.replicas.remove(replica)
            self.recorder.record(EventKind.CRASHED, member=replica.name, note="lost")

    def may_promote(self) -> bool:
        """Return whether survivors are up and drained."""
        return all(one.is_connected and one.applied == one.position for one in self.replicas)

    def on_promoted(self) -> None:
        """Promote the most advanced replica."""
        self.promoted = max(self.replicas, key=lambda replica: (replica.position, replica.name))
        has = self.promoted.received[: self.promoted.applied]
        seen = tuple(Observation(f"r{one}", one) for one in has)
        self.recorder.record(
            EventKind.READ, member=self.promoted.name, session="promoted", observed=seen
        )

    def on_returned(self, kept: int) -> None:
        """Recover the old source; connect it if the successor has its whole log."""
        assert self.promoted is not None
        self.has_returned = True
        self.binlog.crash(kept)
        if self.settings.truncates:
            self.truncate()
        if self.binlog.written == self.promoted.received[: len(self.binlog.written)]:
            self.record_recovery("rejoins")
        else:
            self.recorder.record(EventKind.STOPPED, member=SOURCE, note="refused")

    def truncate(self) -> None:
        """Cut after the last engine commit."""
        log = self.binlog
        while log.written and log.written[-1] not in self.visible:
            del log.written[-1]
        log.synced = len(log.written)
