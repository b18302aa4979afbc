"""Stages of group commit: chained mutexes, one mutex, or MySQL's queues."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from paraply.reference_impl.semi_sync.groups import Group, Stage
from paraply.reference_impl.semi_sync.settings import Staging as Design
from paraply.reference_impl.semi_sync.settings import WaitPoint
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.semi_sync.waiting import Waiting
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import TransactionId


@dataclass
class Staging(Waiting):
    """Moves groups to the engine."""

    def on_prepare(self) -> None:
        """Prepare and queue a transaction."""
        transaction = self.waiting.pop(0)
        self.queue.append(transaction)
        self.recorder.record(EventKind.PREPARED, member=SOURCE, transaction=transaction)

    def may_flush(self) -> bool:
        """Return whether LOCK_log is available."""
        if self.settings.staging is Design.GLOBAL_MUTEX:
            return not self.groups and not self.is_rotating
        return self.lock_log_is_free()

    def on_flush(self) -> None:
        """Take LOCK_log; write the queue with the next GTIDs."""
        self.groups_made += 1
        size = 1 if self.settings.staging is Design.GLOBAL_MUTEX else len(self.queue)
        group = Group(self.groups_made, self.queue[:size])
        del self.queue[:size]
        self.groups.append(group)
        for transaction in group.transactions:
            self.binlog.written.append(transaction)
            self.recorder.record(
                EventKind.FLUSHED, member=SOURCE, transaction=transaction, group=group.number,
                gtid=f"source:{len(self.binlog.written)}",
            )  # fmt: skip

    def steps_of(self, group: Group) -> Iterator[Step]:
        """Yield the group's next steps."""
        name = f"group {group.number}"
        if group.stage is Stage.COMMIT:
            for transaction in self.committable(group):
                act = partial(self.on_engine_commit, group, transaction)
                yield Step(f"{name}: engine commits T{transaction}", act)
        elif group.stage is Stage.AFTER:
            if self.may_answer(group):
                yield Step(f"{name}: answers", partial(self.on_answered, group))
        elif group.stage is Stage.ACK:
            if self.may_enter_commit(group):
                yield Step(f"{name}: enters COMMIT", partial(self.on_enter_commit, group))
        elif self.settings.staging.is_mysql:
            yield from self.queue_steps(group, name)
        elif group.stage is Stage.FLUSH:
            yield Step(f"{name}: syncs", partial(self.on_sync, group))
        elif group.stage is Stage.SYNC and self.holder(Stage.ACK) is None:
            yield Step(f"{name}: enters ACK", partial(self.on_enter_ack, group))

    # Chained mutexes.

    def on_sync(self, group: Group) -> None:
        """Sync, if configured."""
        group.stage = Stage.SYNC
        if self.settings.sync_binlog:
            self.binlog.sync(self.binlog.end_of(group.last))
            self.record_group(EventKind.SYNCED, group)

    def on_enter_ack(self, group: Group) -> None:
        """Take LOCK_enhanced_semisync, then release LOCK_log."""
        group.stage = Stage.ACK
        self.begin_wait(group)

    # MySQL's queues.

    def queue_steps(self, group: Group, name: str) -> Iterator[Step]:
        """Yield queue steps."""
        if group.stage is Stage.FLUSH:
            yield Step(f"{name}: queues for SYNC", partial(self.on_queued, group, Stage.SYNC_QUEUE))
        elif group.stage is Stage.SYNC_QUEUE:
            if self.leads(group) and self.holder(Stage.SYNC) is None:
                yield Step(f"{name}: syncs", partial(self.on_queue_synced, group))
        elif group.stage is Stage.SYNC and self.settings.staging is Design.MYSQL_UNORDERED:
            yield Step(f"{name}: waits alone", partial(self.on_enter_ack, group))
        elif group.stage is Stage.SYNC:
            what = partial(self.on_queued, group, Stage.COMMIT_QUEUE)
            yield Step(f"{name}: queues for COMMIT", what)
        elif self.leads(group) and self.holder(Stage.ACK, Stage.COMMIT) is None:
            yield Step(f"{name}: leads COMMIT", partial(self.on_queue_leads, group))

    def leads(self, group: Group) -> bool:
        """Return whether it leads."""
        return self.holder(group.stage) is group

    def on_queued(self, group: Group, stage: Stage) -> None:
        """Enter a queue; release the mutex."""
        group.stage = stage

    def become_one(self, leader: Group) -> None:
        """Merge its queue."""
        for follower in self.followers_of(leader):
            leader.transactions += follower.transactions
            self.groups.remove(follower)

    def followers_of(self, leader: Group) -> list[Group]:
        """Return the queue's other groups."""
        return [one for one in self.groups if one.stage is leader.stage and one is not leader]

    def on_queue_synced(self, group: Group) -> None:
        """Take LOCK_sync; sync the queue."""
        self.become_one(group)
        self.on_sync(group)

    def on_queue_leads(self, group: Group) -> None:
        """Take LOCK_commit; wait for the queue."""
        self.become_one(group)
        self.on_enter_ack(group)

    # The engine commit, and the answer.

    def may_enter_commit(self, group: Group) -> bool:
        """Return whether the wait is over and LOCK_commit_ordered free."""
        waits = self.settings.wait_point is WaitPoint.AFTER_SYNC
        is_alone = self.settings.staging is Design.MYSQL_UNORDERED
        is_free = is_alone or self.holder(Stage.COMMIT) is None
        return is_free and (not waits or self.wait_is_over(group))

    def on_enter_commit(self, group: Group) -> None:
        """Take LOCK_commit_ordered, then release LOCK_enhanced_semisync."""
        group.stage = Stage.COMMIT

    def committable(self, group: Group) -> list[TransactionId]:
        """Return the first, or all, uncommitted transactions."""
        left = [one for one in group.transactions if one not in group.committed]
        return left if self.settings.staging is Design.MYSQL_UNORDERED else left[:1]

    def on_engine_commit(self, group: Group, transaction: TransactionId) -> None:
        """Commit in the engine."""
        group.committed.append(transaction)
        self.show(transaction, group.number)
        if len(group.committed) == len(group.transactions):
            group.stage = Stage.AFTER
            if self.settings.wait_point is WaitPoint.AFTER_COMMIT:
                self.begin_wait(group)

    def may_answer(self, group: Group) -> bool:
        """Return whether clients may continue."""
        waits = self.settings.wait_point is WaitPoint.AFTER_COMMIT
        return not waits or self.wait_is_over(group)

    def on_answered(self, group: Group) -> None:
        """Answer the connected clients."""
        self.groups.remove(group)
        if not group.has_lost_its_clients:
            self.record_group(EventKind.CLIENT_ACKNOWLEDGED, group)
