"""A replica whose group commit checks the log order too late."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.reference_impl.mariadb.groups import EventGroup, Step
from paraply.reference_impl.mariadb.replica import ParallelReplica
from paraply.reference_impl.mutations.mariadb.batches import parallel_mutant


class AsksAfterEnrolling(ParallelReplica):
    """A leader may wait for its follower."""

    def may_queue(self, group: EventGroup) -> bool:
        """Return True: the check comes later."""
        return True

    def commit_steps(self) -> Iterator[Step]:
        """Delay the leader."""
        for step in super().commit_steps():
            is_leader = self.binlog_queue and step.act == self.on_group_flushed
            if not is_leader or self.prior_is_done(self.binlog_queue[0]):
                yield step


parallel_mutant(
    "order_is_asked_after_enrolling", source="MySQL bug 120281", family="MariaDB commits",
    fault="a leader waits for a transaction that is queued behind it in the same commit group",
    caught_by="replica_never_stalls", replica=AsksAfterEnrolling,
)  # fmt: skip
