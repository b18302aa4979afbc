"""A MariaDB replica with parallel workers, on a schedule of choices.

Every step is atomic: deal, event, deadlock kill, commit group write, engine commit, snapshot, STOP
SLAVE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from paraply.reference_impl.applier.replica import AUDITOR, READER
from paraply.reference_impl.applier.row_store import item_of
from paraply.reference_impl.mariadb.committing import PRIOR_COMMIT_FAILED
from paraply.reference_impl.mariadb.driver import MEMBER
from paraply.reference_impl.mariadb.groups import EventGroup, Speculation, Stage
from paraply.reference_impl.mariadb.locking import LockingDriver
from paraply.reference_impl.recorder import FROM_OUTSIDE, LOCK_WAIT_TIMEOUT
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.schedule import Schedule

_SILENT = (Stage.QUEUED, Stage.ADMITTED, Stage.RETRYING)
_WRONG = (Outcome.MISSING_BEFORE_IMAGE, Outcome.DUPLICATE_KEY)


class ParallelReplica(LockingDriver):
    """One replica, from START SLAVE on."""

    # Run.

    def run(self, schedule: Schedule) -> None:
        """Apply the log; a stuck run lacks STOPPED and FAILED."""
        self.on_start()
        while self.recorder.has_steps_left and (progress := self.next_steps()):
            step = schedule.choose([*progress, *self.other_steps()], "step")
            self.recorder.next_step()
            step.act()
        self.recorder.next_step()
        self.on_end()

    def next_steps(self) -> list[Step]:
        """Return the possible steps."""
        if self.settings.is_eager:
            self.take_silent_steps()
        return list(self.progress_steps()) or list(self.overdue_steps())

    def take_silent_steps(self) -> None:
        """Deal, begin and queue groups without choices.

        These steps disable no other. Far fewer runs keep all other orders; STOP SLAVE loses some.
        """
        while True:
            acts = [step.act for step in self.driver_steps()]
            for queue in self.queues.values():
                group = queue[0] if queue else None
                if group is not None and (group.stage in _SILENT or self.is_ready(group)):
                    act = self.step_of(group)
                    acts += [] if act is None else [act]
            if not acts:
                return
            acts[0]()

    def on_start(self) -> None:
        """START SLAVE from each domain's position."""
        self.resume()
        self.recorder.record(EventKind.STARTED, member=MEMBER, gtid_set=str(self.position))

    def on_end(self) -> None:
        """Read everything and stop, if complete."""
        is_over = self.is_idle and not self.rest and not self.has_failed
        if is_over and self.recorder.has_steps_left:
            self.read(AUDITOR)
            self.on_stopped()

    def progress_steps(self) -> Iterator[Step]:
        """Yield required steps."""
        if self.is_stopping and self.is_idle:
            if not self.has_failed:
                yield Step("stopped and started again", self.on_stopped_and_started)
            return
        yield from self.driver_steps()
        for number, queue in self.queues.items():
            act = self.step_of(queue[0]) if queue else None
            if act is not None:
                yield Step(f"worker {number} {queue[0].stage.value}", act)
        yield from self.kill_steps()
        yield from self.commit_steps()

    def overdue_steps(self) -> Iterator[Step]:
        """Yield the time-out of the longest wait for another domain's group, if nothing else moves.

        Rows and commit orders of several domains can form a circle, which no kill ends if the
        holder is trusted. One that speculates is killed (MDEV-33798).
        """
        for waiter in self.waiters:
            holder = self.holder_for(waiter)
            if holder is None or holder.entry is waiter.entry:
                continue
            if holder.speculation is not Speculation.OPTIMISTIC:
                yield Step("timeout", partial(self.on_overdue, waiter))
                return

    def other_steps(self) -> Iterator[Step]:
        """Yield optional steps."""
        if self.reads_left and self.executed:
            yield Step("read", self.on_read)
        if self.stops_left and not self.is_stopping and not self.is_idle:
            yield Step("stop", self.on_stop_command, MEMBER)
        for queue in self.queues.values():
            if queue and queue[0].stage is Stage.APPLYING and not queue[0].is_statement:
                if self.timeouts_left and queue[0].is_transactional:
                    yield Step("timeout", partial(self.on_timeout, queue[0]), MEMBER)
                if self.failures_left and not self.is_stopping:
                    yield Step("failure", partial(self.on_failure, queue[0]), MEMBER)

    # Workers.

    def step_of(self, group: EventGroup) -> Callable[[], None] | None:
        """Return a worker's next step."""
        act = None
        match group.stage:
            case Stage.QUEUED if self.may_enter_batch(group):
                act = self.on_gtid_event
            case Stage.ADMITTED if not self.must_wait(group) or self.prior_is_done(group):
                act = self.on_begin
            case Stage.APPLYING if group.killed_by is not None:
                act = self.on_killed
            case Stage.APPLYING if group.waits_for_row is None:
                act = self.on_row
            case Stage.ENDED:
                act = self.on_xid if group.killed_by is None else self.on_killed
            case Stage.COMMITTING if group.killed_by is not None:
                act = self.on_killed
            case Stage.COMMITTING if self.prior_has_failed(group):
                act = self.on_prior_failed
            case Stage.COMMITTING if self.may_queue(group):
                act = self.on_commit_queued
            case Stage.UNDOING:
                act = self.on_rollback
            case Stage.RETRYING if self.may_retry(group):
                act = self.on_retry
            case Stage.FAILING if self.prior_is_done(group):
                act = self.on_failing
            case _:
                pass
        return None if act is None else partial(act, group)

    def must_wait(self, group: EventGroup) -> bool:
        """Return whether earlier commits come first."""
        return group.speculation is Speculation.WAIT or group.is_statement

    def on_gtid_event(self, group: EventGroup) -> None:
        """Skip the group after a stop or error, or protect it from STOP SLAVE."""
        entry = group.entry
        if group.sub_id > min(entry.stop_after, entry.stop_on_error):
            group.is_skipped = True
            group.has_failed = group.sub_id > entry.stop_on_error
            group.stage = Stage.FAILING
        else:
            entry.largest_started = max(entry.largest_started, group.sub_id)
            group.stage = Stage.ADMITTED

    def on_begin(self, group: EventGroup) -> None:
        """Begin, unless an awaited group failed."""
        if self.must_wait(group) and self.prior_has_failed(group):
            self.on_prior_failed(group)
            return
        group.stage = Stage.APPLYING
        self.record(EventKind.BEGUN, group)

    def on_row(self, group: EventGroup) -> None:
        """Execute a lock, row or statement."""
        if group.is_statement:
            self.on_statement(group)
            return
        if not self.lock_beside(group):
            return
        row = group.row
        assert row is not None
        if not self.lock(group, item_of(row)):
            return
        outcome = self.store.apply(group.id, row).outcome
        self.record_row(group, row, outcome)
        if outcome in _WRONG:
            self.on_row_error(group)
            return
        group.next_row += 1
        if group.row is None:
            group.stage = Stage.ENDED
            if not group.is_transactional:
                # A non-transactional change is visible and final at once.
                self.engine_commit(group, note="non-transactional")

    def on_statement(self, group: EventGroup) -> None:
        """Execute, log and commit a DDL."""
        self.groups_made += 1
        for kind in (EventKind.FLUSHED, EventKind.SYNCED):
            self.record(kind, group, group=self.groups_made)
        self.engine_commit(group, group=self.groups_made)
        self.advance(group.transaction)
        self.finish(group, has_failed=False)

    # Errors.

    def on_row_error(self, group: EventGroup, note: str = "row error") -> None:
        """Retry a speculative attempt, or give up."""
        if group.speculation is Speculation.OPTIMISTIC:
            self.on_temporary_error(group, note)
        else:
            self.on_error(group, note)

    def on_error(self, group: EventGroup, note: str) -> None:
        """Roll back and stop the replica."""
        is_from_outside = note == FROM_OUTSIDE or group.has_timed_out
        self.has_failed = self.has_failed or not is_from_outside
        self.revoke_commit_start(group)
        self.roll_back(group)
        self.record(EventKind.FAILED, group, note=note)
        group.has_failed, group.stage = True, Stage.FAILING
        self.is_stopping = True
        for entry in self.entries.values():
            if entry is not group.entry:
                entry.stop_after = self.stop_point(entry)

    def on_prior_failed(self, group: EventGroup) -> None:
        """Roll back after a failed predecessor."""
        self.revoke_commit_start(group)
        if group.stage is not Stage.ADMITTED and group.is_transactional:
            self.record(EventKind.ROLLED_BACK, group, note=PRIOR_COMMIT_FAILED)
            self.roll_back(group)
        group.has_failed, group.stage = True, Stage.FAILING

    def on_failing(self, group: EventGroup) -> None:
        """End a group; spread its predecessor's failure."""
        self.finish(group, has_failed=group.has_failed or self.prior_has_failed(group))

    # Optional steps.

    def on_read(self) -> None:
        """Take a reader's snapshot."""
        self.reads_left -= 1
        self.read(READER)

    def read(self, session: str) -> None:
        """Record a session's snapshot."""
        self.recorder.record(
            EventKind.READ, member=MEMBER, session=session, observed=self.store.snapshot()
        )

    def on_stop_command(self) -> None:
        """Execute STOP SLAVE."""
        self.stops_left -= 1
        self.on_stop()

    def on_timeout(self, group: EventGroup) -> None:
        """Simulate a lock wait timeout."""
        self.timeouts_left -= 1
        self.on_overdue(group)

    def on_overdue(self, group: EventGroup) -> None:
        """Roll back a group that waited for a row too long."""
        group.has_timed_out = True
        self.on_temporary_error(group, LOCK_WAIT_TIMEOUT)

    def on_failure(self, group: EventGroup) -> None:
        """Simulate an outside failure."""
        self.failures_left -= 1
        self.on_row_error(group, FROM_OUTSIDE)

    def on_stopped_and_started(self) -> None:
        """Stop, then START SLAVE."""
        self.on_stopped()
        self.on_start()
