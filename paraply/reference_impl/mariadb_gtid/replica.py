"""A replica with reads, restarts, failures and crashes.

Engine commits, prepared transactions and the synced log survive crashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from paraply.reference_impl.mariadb_gtid.applying import ApplyingReplica
from paraply.reference_impl.mariadb_gtid.event_groups import groups_after
from paraply.reference_impl.mariadb_gtid.workers import MEMBER, Stage, Worker
from paraply.reference_impl.recorder import FROM_OUTSIDE
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind, Observation
from paraply.vocabulary.schedule import Schedule


class PositionReplica(ApplyingReplica):
    """The replica; ``run`` makes one history."""

    # The run.

    def run(self, schedule: Schedule) -> None:
        """Apply the log and stop cleanly."""
        self.on_start()
        while progress := list(self.progress_steps()):
            if not self.recorder.has_steps_left:
                return
            step = schedule.choose([*progress, *self.other_steps()], "step")
            self.recorder.next_step()
            if step.label == "crash":
                self.on_crash(schedule)
            else:
                step.act()
        self.recorder.next_step()
        if not self.workers and not self.is_stopped:
            self.on_stopped()

    def progress_steps(self) -> Iterator[Step]:
        """Yield progress."""
        if self.is_stopped:
            if groups_after(self.log, self.store.load(self.binlog)):
                yield Step("start", self.on_start)
            return
        if self.is_stopping and not self.workers:
            yield Step("stopped", self.on_stopped)
            return
        if self.may_dispatch:
            yield Step("dispatch", self.on_dispatch)
        for worker in self.workers:
            act = self.step_of(worker)
            if act is not None:
                yield Step(f"w{worker.number}", act)
        yield from self.group_steps()

    def other_steps(self) -> Iterator[Step]:
        """Yield faults and reads."""
        if self.is_stopped:
            return
        if self.budget.crashes and (self.workers or self.data):
            yield Step("crash", lambda: None, MEMBER)
        if self.budget.stops and not self.is_stopping and (self.workers or self.data):
            yield Step("stop", self.on_stop, MEMBER)
        if self.budget.reads:
            yield Step("show", self.on_show)
        if self.budget.cleanups and self.store.old_rows():
            yield Step("delete old rows", self.on_cleanup)
        if self.store.may_sync:
            yield Step("file synced", self.store.on_synced)
        for worker in self.workers:
            if worker.stage in (Stage.EXECUTED, Stage.RECORDED) and worker.group.is_transactional:
                if self.budget.retries:
                    yield Step("temporary error", partial(self.on_temporary_error, worker), MEMBER)
            elif worker.stage is Stage.BEGUN and self.budget.failures and not self.is_stopping:
                yield Step("failure", partial(self.on_failure, worker), MEMBER)

    # Reads, faults and administration.

    def on_show(self) -> None:
        """Read ``@@gtid_slave_pos``, then the data."""
        self.budget.reads -= 1
        seen = tuple(Observation(f"row{one}", one) for one in sorted(set(self.data)))
        self.recorder.record(
            EventKind.READ,
            member=MEMBER,
            session="dba",
            observed=seen,
            gtid_set=str(self.position),
            note="gtid_slave_pos",
        )

    def on_cleanup(self) -> None:
        """Delete old position rows."""
        self.budget.cleanups -= 1
        self.store.delete_old()

    def on_failure(self, worker: Worker) -> None:
        """Fail a transaction and block its domain."""
        self.budget.failures -= 1
        self.recorder.record(
            EventKind.FAILED,
            member=MEMBER,
            worker=worker.number,
            attempt=worker.attempt,
            transaction=worker.group.transaction,
            note=FROM_OUTSIDE,
        )
        for other in list(self.workers):
            is_after = other.sub_id >= worker.sub_id
            if is_after and other.group.domain == worker.group.domain:
                self.roll_back(other)
                self.workers.remove(other)
        self.is_stopping = True

    def on_stop(self) -> None:
        """STOP SLAVE: finish open transactions only."""
        self.budget.stops -= 1
        self.is_stopping = True

    def on_stopped(self) -> None:
        """Record a clean stop."""
        self.is_stopped, self.is_stopping = True, False
        while self.store.may_sync:
            self.store.on_synced()
        self.report(EventKind.STOPPED)

    def on_start(self) -> None:
        """START SLAVE: read from the position."""
        self.is_stopped = False
        self.position = self.store.load(self.binlog)
        self.rest = groups_after(self.log, self.position)
        self.recorder.record(EventKind.STARTED, member=MEMBER, gtid_set=str(self.position))

    # Crash and recovery.

    def on_crash(self, schedule: Schedule) -> None:
        """Lose volatile state, decide prepared transactions, start from the position."""
        self.budget.crashes -= 1
        self.recorder.record(EventKind.CRASHED, member=MEMBER)
        unsynced = len(self.binlog) - self.synced
        kept = schedule.choose(range(unsynced + 1), "unsynced groups that survive")
        del self.binlog[self.synced + kept :]
        self.synced = len(self.binlog)
        self.store.on_crash()
        for worker in sorted(self.workers, key=lambda one: one.sub_id):
            if worker.stage in (Stage.PREPARED, Stage.IN_GROUP) and self.is_decided(worker):
                self.data.append(worker.group.transaction)
                self.store.on_engine_commit(worker.group, worker.row)
                self.record(EventKind.ENGINE_COMMITTED, worker, note="recovery")
        self.workers.clear()
        self.queue.clear()
        self.has_unrecorded, self.is_stopping = None, False
        self.sub_id = self.store.highest_sub_id
        self.report(EventKind.RECOVERED)
        self.on_start()

    def is_decided(self, worker: Worker) -> bool:
        """Return whether the log has the XID."""
        return self.logs_updates and worker.group in self.binlog[-len(self.workers) :]
