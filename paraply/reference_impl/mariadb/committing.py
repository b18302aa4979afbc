"""Commit start, wait_for_prior_commit, group commit on the replica, and the end of a group.

A group that waits for the one before is pulled into its commit group, so that waiting costs no
extra sync; the binary log and the engine keep the order of the domain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from paraply.reference_impl.mariadb.driver import MEMBER, SOURCE, Driver
from paraply.reference_impl.mariadb.groups import Entry, EventGroup, Stage, Step
from paraply.vocabulary.events import EventKind

PRIOR_COMMIT_FAILED = "prior commit failed"
"""ER_PRIOR_COMMIT_FAILED."""


class CommittingDriver(Driver):
    """Everything from the XID event on."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.binlog_queue: list[EventGroup] = []
        """Waits for the next leader."""
        self.flushed: deque[tuple[int, EventGroup]] = deque()
        """In the binary log, with the number of their commit group; engine commits follow."""
        self.groups_made = 0

    # Commit start.

    def mark_commit_start(self, group: EventGroup) -> None:
        """Count the group among those that have started to commit; the next batch may begin."""
        if not group.has_started_commit:
            group.has_started_commit = True
            group.entry.committing_count += 1

    def revoke_commit_start(self, group: EventGroup) -> None:
        """Take the commit start back: the group will run again, the next batch must wait."""
        if group.has_started_commit:
            group.has_started_commit = False
            group.entry.committing_count -= 1

    def may_enter_batch(self, group: EventGroup) -> bool:
        """Return whether everything before the group's batch has started to commit."""
        return group.entry.committing_count >= group.batch.wait_count

    def on_xid(self, group: EventGroup) -> None:
        """Start to commit: the batch barrier opens before the commit is executed."""
        self.mark_commit_start(group)
        group.stage = Stage.COMMITTING
        self.record(EventKind.PREPARED, group, note="commit started")

    # Waiting for the group before.

    def prior_is_done(self, group: EventGroup) -> bool:
        """Return whether the group before has committed, or has failed and said so."""
        return group.before is None or group.before.stage is Stage.DONE

    def prior_has_failed(self, group: EventGroup) -> bool:
        """Return whether the group before failed; a group must not commit over that hole."""
        before = group.before
        return before is not None and before.stage is Stage.DONE and before.has_failed

    def may_queue(self, group: EventGroup) -> bool:
        """Return whether the group's place in the binary log is certain."""
        before = group.before
        return self.prior_is_done(group) or (before is not None and before.is_in_commit)

    def on_commit_queued(self, group: EventGroup) -> None:
        """Join the binary log's queue, and pull in whoever waits for this group, transitively."""
        follower: EventGroup | None = group
        while follower is not None and self.is_ready(follower):
            follower.stage = Stage.IN_QUEUE
            self.binlog_queue.append(follower)
            follower = follower.entry.after(follower)

    def is_ready(self, group: EventGroup) -> bool:
        """Return whether the group waits in its commit, and nothing else is the matter."""
        return group.stage is Stage.COMMITTING and group.killed_by is None

    # Group commit.

    def commit_steps(self) -> Iterator[Step]:
        """Yield what the leader of the binary log's group commit may do."""
        if self.binlog_queue:
            yield Step("leader writes the group", self.on_group_flushed)
        if self.flushed:
            yield Step("engine commit", self.on_engine_commit)

    def on_group_flushed(self) -> None:
        """Write everything that is queued to the binary log as one group, and sync once."""
        self.groups_made += 1
        queue = self.order_of_group()
        self.binlog_queue = []
        for kind in (EventKind.FLUSHED, EventKind.SYNCED):
            for group in queue:
                self.record(kind, group, group=self.groups_made)
        for group in queue:
            group.stage = Stage.FLUSHED
            self.flushed.append((self.groups_made, group))

    def order_of_group(self) -> list[EventGroup]:
        """Return the members of the commit group in the order in which they were queued."""
        return self.binlog_queue

    def on_engine_commit(self) -> None:
        """Commit the next of the binary log in the engine, with its position."""
        number, group = self.next_engine_commit()
        if group.is_transactional:
            self.engine_commit(group, group=number)
        self.advance(group.transaction)
        self.finish(group, has_failed=False)

    def next_engine_commit(self) -> tuple[int, EventGroup]:
        """Return who is next: the engine commits in the order of the binary log."""
        return self.flushed.popleft()

    def engine_commit(self, group: EventGroup, /, **fields: Any) -> None:
        """Make the group's changes final and visible."""
        self.store.engine_commit(group.id)
        self.executed.append(group.id)
        self.record(EventKind.ENGINE_COMMITTED, group, **fields)
        self.on_locks_freed()

    def on_locks_freed(self) -> None:
        """Grant row locks to whoever stood first in their queues."""

    # The end of a group.

    def finish(self, group: EventGroup, *, has_failed: bool) -> None:
        """Let those after the group go on, or fail: an error is known before anybody is woken."""
        if has_failed:
            self.on_error_known(group)
        group.has_failed = has_failed
        self.mark_commit_start(group)
        self.release(group)

    def on_error_known(self, group: EventGroup) -> None:
        """Let every group of the domain that comes after, and has not begun, be skipped."""
        group.entry.stop_on_error = min(group.entry.stop_on_error, group.sub_id)

    # Stopping.

    def on_stop(self) -> None:
        """STOP SLAVE: in each domain what has begun, and all before it, is completed."""
        self.is_stopping = True
        for entry in self.entries.values():
            entry.stop_after = self.stop_point(entry)

    def stop_point(self, entry: Entry) -> int:
        """Return the last group that is completed."""
        return min(entry.stop_after, entry.largest_started)

    def must_skip(self, group: EventGroup) -> bool:
        """Return whether the group comes after the stop point, or after an error."""
        entry = group.entry
        return group.sub_id > min(entry.stop_after, entry.stop_on_error)

    def on_stopped(self) -> None:
        """Stand still: no worker has anything to do."""
        self.is_stopping = False
        self.recorder.record(
            EventKind.STOPPED, member=MEMBER, gtid_set=str(self.position), members=(SOURCE,),
            transactions=tuple(sorted(self.executed)),
        )  # fmt: skip
