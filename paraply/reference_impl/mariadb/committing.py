"""Commit start, wait_for_prior_commit, group commit and a group's end.

A commit group includes its members' waiting successors, so waiting costs no extra sync. Binary log
and engine keep the domain's order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from paraply.reference_impl.mariadb.driver import MEMBER, SOURCE, Driver
from paraply.reference_impl.mariadb.groups import Entry, EventGroup, Stage
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind

PRIOR_COMMIT_FAILED = "prior commit failed"


class CommittingDriver(Driver):
    """Driver from the XID event on."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.binlog_queue: list[EventGroup] = []
        self.flushed: deque[tuple[int, EventGroup]] = deque()
        """Logged groups before their engine commits, with group numbers."""
        self.groups_made = 0

    # Commit start.

    def mark_commit_start(self, group: EventGroup) -> None:
        """Count the group as committing."""
        if not group.has_started_commit:
            group.has_started_commit = True
            group.entry.committing_count += 1

    def revoke_commit_start(self, group: EventGroup) -> None:
        """Uncount the group."""
        if group.has_started_commit:
            group.has_started_commit = False
            group.entry.committing_count -= 1

    def may_enter_batch(self, group: EventGroup) -> bool:
        """Return whether the batch barrier is open."""
        return group.entry.committing_count >= group.batch.wait_count

    def on_xid(self, group: EventGroup) -> None:
        """Open the barrier, then commit."""
        self.mark_commit_start(group)
        group.stage = Stage.COMMITTING
        self.record(EventKind.PREPARED, group, note="commit started")

    # Waiting for the predecessor.

    def prior_is_done(self, group: EventGroup) -> bool:
        """Return whether the predecessor ended."""
        return group.before is None or group.before.stage is Stage.DONE

    def prior_has_failed(self, group: EventGroup) -> bool:
        """Return whether the predecessor failed."""
        before = group.before
        return before is not None and before.stage is Stage.DONE and before.has_failed

    def may_queue(self, group: EventGroup) -> bool:
        """Return whether the log place is certain."""
        before = group.before
        return self.prior_is_done(group) or (before is not None and before.is_in_commit)

    def on_commit_queued(self, group: EventGroup) -> None:
        """Queue the group and its transitive waiters."""
        follower: EventGroup | None = group
        while follower is not None and self.is_ready(follower):
            follower.stage = Stage.IN_QUEUE
            self.binlog_queue.append(follower)
            follower = follower.entry.after(follower)

    def is_ready(self, group: EventGroup) -> bool:
        """Return whether only the predecessor delays it."""
        return group.stage is Stage.COMMITTING and group.killed_by is None

    # Group commit.

    def commit_steps(self) -> Iterator[Step]:
        """Yield the group commit leader's steps."""
        if self.binlog_queue:
            yield Step("leader writes the group", self.on_group_flushed)
        if self.flushed:
            yield Step("engine commit", self.on_engine_commit)

    def on_group_flushed(self) -> None:
        """Log and sync the queue."""
        self.groups_made += 1
        queue, self.binlog_queue = self.binlog_queue, []
        for kind in (EventKind.FLUSHED, EventKind.SYNCED):
            for group in queue:
                self.record(kind, group, group=self.groups_made)
        for group in queue:
            group.stage = Stage.FLUSHED
            self.flushed.append((self.groups_made, group))

    def on_engine_commit(self) -> None:
        """Commit the next logged group."""
        number, group = self.flushed.popleft()
        if group.is_transactional:
            self.engine_commit(group, group=number)
        self.advance(group.transaction)
        self.finish(group, has_failed=False)

    def engine_commit(self, group: EventGroup, /, **fields: Any) -> None:
        """Publish the group's changes."""
        self.store.engine_commit(group.id)
        self.executed.append(group.id)
        self.record(EventKind.ENGINE_COMMITTED, group, **fields)
        self.on_locks_freed()

    def on_locks_freed(self) -> None:
        """Grant free row locks."""

    # End of a group.

    def finish(self, group: EventGroup, *, has_failed: bool) -> None:
        """Publish the error, which skips later groups unless begun, then wake successors."""
        if has_failed:
            group.entry.stop_on_error = min(group.entry.stop_on_error, group.sub_id)
        group.has_failed = has_failed
        self.mark_commit_start(group)
        self.release(group)

    # Stopping.

    def on_stop(self) -> None:
        """STOP SLAVE: complete each domain's begun groups."""
        self.is_stopping = True
        for entry in self.entries.values():
            entry.stop_after = self.stop_point(entry)

    def stop_point(self, entry: Entry) -> int:
        """Return the last group to complete."""
        return min(entry.stop_after, entry.largest_started)

    def on_stopped(self) -> None:
        """Record the stop."""
        self.is_stopping = False
        self.recorder.record(
            EventKind.STOPPED, member=MEMBER, gtid_set=str(self.position), members=(SOURCE,),
            transactions=tuple(sorted(self.executed)),
        )  # fmt: skip
