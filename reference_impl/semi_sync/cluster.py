"""A source, its commit groups and its replicas, one atomic step at a time.

A group passes FLUSH, SYNC, ACK and COMMIT under three mutexes, LOCK_log, LOCK_enhanced_semisync and
LOCK_commit_ordered. It waits once, for its last position. Parts that a mutant replaces are methods.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from reference_impl.recorder import Recorder
from reference_impl.semi_sync.binlog import BinaryLog, ReplicaState
from reference_impl.semi_sync.groups import Budget, Group, Stage, Step
from reference_impl.semi_sync.settings import Recovery, Settings, Staging, WaitPoint
from vocabulary.events import EventKind, Observation
from vocabulary.schedule import Schedule
from vocabulary.transactions import TransactionId

SOURCE = "source"


@dataclass
class Cluster:
    """The state of everything; ``run`` makes one history."""

    settings: Settings
    recorder: Recorder
    waiting: list[TransactionId]
    """Clients that have not asked to commit yet."""
    binlog: BinaryLog = field(default_factory=BinaryLog)
    replicas: list[ReplicaState] = field(default_factory=list)
    queue: list[TransactionId] = field(default_factory=list)
    """Prepared transactions that wait for a leader."""
    groups: list[Group] = field(default_factory=list)
    visible: list[TransactionId] = field(default_factory=list)
    """What the source's engine has committed, in that order."""
    held_back: list[TransactionId] = field(default_factory=list)
    """Recovered transactions that no replica has yet (Recovery.WAITS)."""
    is_open: bool = True
    is_lost: bool = False
    is_rotating: bool = False
    groups_made: int = 0

    def __post_init__(self) -> None:
        s = self.settings
        self.budget = Budget(s.reads, s.source_crashes, s.replica_crashes, s.rotations, s.abandons)

    # The run.

    def run(self, schedule: Schedule) -> None:
        """Let things happen until nothing can; a stalled run ends without STOPPED."""
        self.recorder.record(EventKind.STARTED, member=SOURCE)
        while True:
            progress = list(self.progress_steps())
            if not progress:
                break
            step = schedule.choose([*progress, *self.other_steps()], "step")
            self.recorder.next_step()
            step.act()
        self.recorder.next_step()
        if self.is_lost:
            self.on_promoted(schedule)
        elif self.is_at_rest:
            self.recorder.record(EventKind.STOPPED, member=SOURCE, note="at rest")

    @property
    def is_at_rest(self) -> bool:
        """Return whether every client has its answer."""
        return not (self.waiting or self.queue or self.groups or self.held_back)

    def progress_steps(self) -> Iterator[Step]:
        """Yield what brings a client nearer to its answer."""
        if not self.is_lost:
            if self.waiting and self.is_open and not self.held_back:
                yield Step("prepare", self.on_prepare)
            if self.queue and self.may_flush():
                yield Step("flush", self.on_flush)
            for group in list(self.groups):
                if self.is_waiting(group) and self.may_leave(group):
                    yield Step(f"group {group.number}: leaves", partial(self.on_nobody_left, group))
                act = self.step_of(group)
                if act is not None:
                    yield Step(f"group {group.number}: {group.stage.value}", act)
            yield from self.source_steps()
        yield from self.replica_steps()

    def source_steps(self) -> Iterator[Step]:
        """Yield what the source does by itself: finish a rotation, or its recovery."""
        if self.is_rotating and not (self.settings.rotation_waits and self.groups):
            yield Step("rotated", self.on_rotated)
        if self.held_back and self.is_acknowledged(self.binlog.end_of([self.held_back[0]])):
            yield Step("release recovered", self.on_released)
        if not self.is_open and self.is_acknowledged(len(self.binlog.written)):
            yield Step("open", self.on_opened)

    def replica_steps(self) -> Iterator[Step]:
        """Yield what the replicas do."""
        for replica in self.replicas:
            if replica.is_connected and self.may_receive(replica):
                yield Step(f"{replica.name} receives", partial(self.on_received, replica))
            if replica.applied < replica.position:
                yield Step(f"{replica.name} applies", partial(self.on_applied, replica))
            if not replica.is_connected:
                yield Step(f"{replica.name} restarts", partial(self.on_restarted, replica))

    def other_steps(self) -> Iterator[Step]:
        """Yield what may happen beside: readers, crashes, rotation, giving up."""
        if self.is_lost:
            return
        if self.budget.reads and self.is_open and self.visible:
            yield Step("read", self.on_read)
        if self.budget.rotations and not self.is_rotating and self.lock_log_is_free():
            yield Step("rotate", self.on_rotate)
        if self.budget.abandons:
            for group in self.groups:
                if self.is_waiting(group) and not group.has_given_up:
                    yield Step(f"give up group {group.number}", partial(self.on_abandon, group))
        if self.budget.source_crashes and self.binlog.written:
            yield Step("source crashes", self.on_source_crash)
        for replica in self.replicas:
            if self.budget.replica_crashes and replica.is_connected and self.binlog.written:
                yield Step(f"{replica.name} crashes", partial(self.on_replica_crash, replica))
        if self.settings.loses_source and self.visible:
            yield Step("source is lost", self.on_source_lost)

    # The stages.

    def lock_log_is_free(self) -> bool:
        """Return whether nobody writes the binary log or rotates it."""
        return not self.is_rotating and self.holder(Stage.FLUSH, Stage.SYNC) is None

    def holder(self, *stages: Stage) -> Group | None:
        """Return the group that holds the mutex of the stages."""
        return next((group for group in self.groups if group.stage in stages), None)

    def may_flush(self) -> bool:
        """Return whether the next group may take LOCK_log."""
        if self.settings.staging is Staging.GLOBAL_MUTEX:
            return not self.groups and not self.is_rotating
        return self.lock_log_is_free()

    def on_prepare(self) -> None:
        """The engine prepares a client's transaction, which joins the queue."""
        transaction = self.waiting.pop(0)
        self.queue.append(transaction)
        self.recorder.record(EventKind.PREPARED, member=SOURCE, transaction=transaction)

    def on_flush(self) -> None:
        """FLUSH: the leader takes LOCK_log and writes the whole queue as one group."""
        self.groups_made += 1
        size = 1 if self.settings.staging is Staging.GLOBAL_MUTEX else len(self.queue)
        group = Group(self.groups_made, self.queue[:size])
        del self.queue[:size]
        self.groups.append(group)
        self.binlog.write(group.transactions)
        self.record_group(EventKind.FLUSHED, group)

    def step_of(self, group: Group) -> Callable[[], None] | None:
        """Return what the group does next; None while it must wait."""
        if group.stage is Stage.FLUSH:
            return lambda: self.on_sync(group)
        if group.stage is Stage.SYNC:
            return (lambda: self.on_enter_ack(group)) if self.may_enter_ack(group) else None
        if group.stage is Stage.ACK:
            return (lambda: self.on_enter_commit(group)) if self.may_enter_commit(group) else None
        if group.stage is Stage.COMMIT:
            return lambda: self.on_engine_commit(group)
        return (lambda: self.on_answered(group)) if self.may_answer(group) else None

    def on_sync(self, group: Group) -> None:
        """SYNC: the binary log is durable up to the group's end."""
        self.binlog.sync(self.binlog.end_of(group.transactions))
        group.stage = Stage.SYNC
        self.record_group(EventKind.SYNCED, group)

    def may_enter_ack(self, group: Group) -> bool:
        """Return whether LOCK_enhanced_semisync is free; LOCK_log is held until it is taken."""
        del group
        return self.holder(Stage.ACK) is None

    def on_enter_ack(self, group: Group) -> None:
        """ACK: take LOCK_enhanced_semisync, then release LOCK_log."""
        group.stage = Stage.ACK

    def may_enter_commit(self, group: Group) -> bool:
        """Return whether the wait is over and LOCK_commit_ordered is free."""
        waits = self.settings.wait_point is WaitPoint.AFTER_SYNC
        return self.holder(Stage.COMMIT) is None and (not waits or self.wait_is_over(group))

    def on_enter_commit(self, group: Group) -> None:
        """COMMIT: take LOCK_commit_ordered, then release LOCK_enhanced_semisync."""
        group.stage = Stage.COMMIT

    def on_engine_commit(self, group: Group) -> None:
        """Commit the group's next transaction in the engine; it becomes visible."""
        transaction = group.transactions[group.committed]
        group.committed += 1
        self.show(transaction, group.number)
        if group.committed == len(group.transactions):
            group.stage = Stage.AFTER

    def may_answer(self, group: Group) -> bool:
        """Return whether the clients of the group may be told."""
        waits = self.settings.wait_point is WaitPoint.AFTER_COMMIT
        return not waits or self.wait_is_over(group)

    def on_answered(self, group: Group) -> None:
        """Tell the clients of the group."""
        self.groups.remove(group)
        self.record_group(EventKind.CLIENT_ACKNOWLEDGED, group)

    def show(self, transaction: TransactionId, group: int | None = None) -> None:
        """Commit in the engine; from here on readers see it."""
        self.visible.append(transaction)
        self.recorder.record(
            EventKind.ENGINE_COMMITTED, member=SOURCE, transaction=transaction, group=group
        )

    # Acknowledgements.

    def wait_is_over(self, group: Group) -> bool:
        """Return whether enough replicas have the group's last position, or the wait was left."""
        end = self.binlog.end_of(group.transactions)
        return group.has_given_up or self.is_acknowledged(end)

    def is_waiting(self, group: Group) -> bool:
        """Return whether the group stands at its wait point without an acknowledgement."""
        point = {WaitPoint.AFTER_SYNC: Stage.ACK, WaitPoint.AFTER_COMMIT: Stage.AFTER}
        return group.stage is point[self.settings.wait_point] and not self.wait_is_over(group)

    def may_leave(self, group: Group) -> bool:
        """Return whether the group may go on because there is nobody to wait for."""
        del group
        is_alone = not any(replica.is_connected for replica in self.replicas)
        return is_alone and not self.settings.waits_without_replicas

    def is_acknowledged(self, position: int) -> bool:
        """Return whether enough replicas have received everything before ``position``."""
        having = sum(replica.position >= position for replica in self.replicas)
        return having >= self.settings.acknowledgements

    def on_abandon(self, group: Group) -> None:
        """Give up a wait: time-out, KILL of the waiter, semi-sync switched off."""
        self.budget.abandons -= 1
        self.give_up(group, "time-out")

    def on_nobody_left(self, group: Group) -> None:
        """Give up a wait because no replica is connected (rpl_semi_sync_master_wait_no_slave=0)."""
        self.give_up(group, "no replica")

    def give_up(self, group: Group, why: str) -> None:
        """Let a group go on without its acknowledgement, and say so."""
        group.has_given_up = True
        self.record_group(EventKind.WAIT_ABANDONED, group, note=why)

    # Replicas.

    def may_receive(self, replica: ReplicaState) -> bool:
        """Return whether the dump thread has something to send and can read it."""
        behind = not self.is_lost and replica.position < self.binlog.sendable()
        # The dump thread reads the end of the active log under LOCK_log.
        return behind and not (self.is_rotating and self.settings.rotation_waits)

    def on_received(self, replica: ReplicaState) -> None:
        """A replica writes the next transaction to its relay log and acknowledges it."""
        transaction = self.binlog.written[replica.position]
        replica.received.append(transaction)
        self.recorder.record(EventKind.ACKNOWLEDGED, member=replica.name, transaction=transaction)

    def on_applied(self, replica: ReplicaState) -> None:
        """A replica applies the next transaction of its relay log."""
        transaction = replica.received[replica.applied]
        replica.applied += 1
        self.recorder.record(
            EventKind.ENGINE_COMMITTED, member=replica.name, transaction=transaction
        )

    def on_replica_crash(self, replica: ReplicaState) -> None:
        """A replica goes away."""
        self.budget.replica_crashes -= 1
        replica.is_connected = False
        self.recorder.record(EventKind.CRASHED, member=replica.name)

    def on_restarted(self, replica: ReplicaState) -> None:
        """A replica comes back."""
        replica.restart(keeps_relay_log=self.settings.keeps_relay_log)
        self.recorder.record(
            EventKind.RECOVERED, member=replica.name, transactions=tuple(replica.received)
        )

    # Rotation, crash, loss.

    def on_rotate(self) -> None:
        """Begin a rotation: LOCK_log is taken."""
        self.budget.rotations -= 1
        self.is_rotating = True

    def on_rotated(self) -> None:
        """End the rotation; with MDEV-181 it waited for nobody."""
        self.is_rotating = False
        self.recorder.record(EventKind.RELAY_ROTATED, member=SOURCE)

    def on_read(self) -> None:
        """A client reads what the source's engine has committed."""
        self.budget.reads -= 1
        seen = tuple(Observation(f"r{one}", one) for one in self.visible)
        self.recorder.record(EventKind.READ, member=SOURCE, session="reader", observed=seen)

    def on_source_crash(self) -> None:
        """Lose what was not synced; recovery decides the prepared by the binary log."""
        self.budget.source_crashes -= 1
        self.recorder.record(EventKind.CRASHED, member=SOURCE)
        self.binlog.crash()
        self.queue.clear()
        self.groups.clear()
        self.is_rotating = False
        undecided = [one for one in self.binlog.written if one not in self.visible]
        self.recover(undecided)
        survived = [one for one in self.binlog.written if one not in self.held_back]
        self.recorder.record(
            EventKind.RECOVERED, member=SOURCE, transactions=tuple(survived),
            note=self.settings.recovery.value,
        )  # fmt: skip

    def recover(self, undecided: list[TransactionId]) -> None:
        """Decide the transactions that are prepared, and in the binary log."""
        recovery = self.settings.recovery
        if recovery is Recovery.WAITS:
            self.held_back = undecided
            return
        for transaction in undecided:
            self.show(transaction)
        self.is_open = recovery is not Recovery.BARRED

    def on_released(self) -> None:
        """A recovered transaction commits, since a replica has it."""
        self.show(self.held_back.pop(0))

    def on_opened(self) -> None:
        """Clients are let in again."""
        self.is_open = True

    def on_source_lost(self) -> None:
        """The source is gone for good."""
        self.is_lost = True
        self.waiting.clear()
        self.queue.clear()
        self.groups.clear()
        self.recorder.record(EventKind.CRASHED, member=SOURCE, note="lost for good")

    def on_promoted(self, schedule: Schedule) -> None:
        """The most advanced replica becomes the source; its relay log is applied by now."""
        del schedule
        chosen = self.choose_successor()
        seen = tuple(Observation(f"r{one}", one) for one in chosen.received[: chosen.applied])
        self.recorder.record(EventKind.READ, member=chosen.name, session="promoted", observed=seen)
        self.recorder.record(EventKind.STOPPED, member=chosen.name, note="promoted")

    def choose_successor(self) -> ReplicaState:
        """Return the replica with the highest position."""
        return max(self.replicas, key=lambda replica: (replica.position, replica.name))

    def record_group(self, kind: EventKind, group: Group, note: str = "") -> None:
        """Record an event for each transaction of a group."""
        for transaction in group.transactions:
            self.recorder.record(
                kind, member=SOURCE, transaction=transaction, group=group.number, note=note
            )
