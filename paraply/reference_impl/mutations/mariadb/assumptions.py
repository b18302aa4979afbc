"""Correct schedulers without an assumption of conservative batches (A8, A9)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from paraply.reference_impl.mariadb.groups import EventGroup, Stage, Step
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mutations.mariadb.batches import parallel_mutant


class FailsInCommit(ParallelReplica):
    """A locked position row may fail a commit."""

    def other_steps(self) -> Iterator[Step]:
        """Add lock wait timeouts during commit."""
        yield from super().other_steps()
        for queue in self.queues.values():
            if self.timeouts_left and queue and queue[0].stage is Stage.COMMITTING:
                yield Step("timeout in the commit", partial(self.on_timeout, queue[0]))


class RetriesBesideTheKilled(ParallelReplica):
    """A retry needs no extra lock."""

    def lock_beside(self, group: EventGroup) -> bool:
        """Lock nothing in a retry."""
        return group.attempt > 1 or super().lock_beside(group)


_FAMILY = "MariaDB kills and retries"

parallel_mutant(
    "started_commit_fails_for_a_moment", source="proofs, assumption A8; retry_event_group",
    family=_FAMILY, dialect="conservative", timeouts=1,
    fault="a transaction is tried again when the next batch runs because it was to commit",
    caught_by="sound_log_never_fails", replica=FailsInCommit,
)  # fmt: skip
parallel_mutant(
    "kill_outlives_its_reason", source="proofs, assumption A9; wait_for_pending_deadlock_kill",
    family=_FAMILY, dialect="conservative", timeouts=1, extra_locks="domain", eager=True,
    transactions=3, rows=2,
    fault="a transaction is rolled back for one that has begun again and waits for it no more",
    caught_by="sound_log_never_fails", replica=RetriesBesideTheKilled,
)  # fmt: skip
