"""Sources that count replies too early, and that open too early."""

from __future__ import annotations

from collections.abc import Iterator

from paraply.reference_impl.mutants import register_mutant, written_mutant
from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.groups import Group
from paraply.reference_impl.semi_sync.seeding import semi_sync_mutant
from paraply.reference_impl.semi_sync.settings import Abandon
from paraply.reference_impl.semi_sync.timed_cluster import TimedCluster
from paraply.reference_impl.semi_sync.timed_subject import SemiSyncClockSubject
from paraply.reference_impl.step import Step
from paraply.reference_impl.subject import Workload

FAMILY = "semi-sync replies"
"""Beside the known faults of servers, which are the family of semi-sync."""


class HearsTheDead(Cluster):
    """Replies of a crashed replica count."""

    def may_hear(self, replica: ReplicaState) -> bool:
        """Ignore whether it is connected."""
        is_new = self.heard.reported.get(replica.name, 0) < replica.position
        return is_new and not self.is_lost and not self.is_stopped


class ServesBehindTheBar(Cluster):
    """The bar holds no client."""

    def progress_steps(self) -> Iterator[Step]:
        """Open for the time of the question."""
        was_open, self.is_open = self.is_open, True
        yield from super().progress_steps()
        self.is_open = was_open


class StaysOn(Cluster):
    """A time-out does not switch semi-sync off."""

    def on_abandon(self, group: Group, why: Abandon) -> None:
        """Stay on."""
        super().on_abandon(group, why)
        self.is_on = True


class RepliesAtOnce(TimedCluster):
    """Replies need no time."""

    def end(self, step: Step, since: int) -> int:
        """Hear at once."""
        return since if step.label.endswith("is heard") else super().end(step, since)


semi_sync_mutant(
    "dead_replicas_are_heard", HearsTheDead, "acknowledgements_follow_receipt",
    "ReplSemiSyncMaster::reportReplyBinlog", "a replica that is down acknowledges",
    family=FAMILY, replica_crashes=1, source_crashes=0, loses_source=False,
)  # fmt: skip
semi_sync_mutant(
    "barred_source_takes_clients", ServesBehindTheBar, "barred_sources_take_no_clients",
    "MDEV-162, second remedy", "clients commit on what the replicas may not have",
    family=FAMILY, dialect="barred_recovery", loses_source=False,
)  # fmt: skip
semi_sync_mutant(
    "time_out_leaves_semi_sync_on", StaysOn, "nothing_waits_while_semi_sync_is_off",
    "ReplSemiSyncMaster::switch_off", "every commit waits for a time-out of its own",
    family=FAMILY, abandons=3, abandon_by="time_out", source_crashes=0, loses_source=False,
)  # fmt: skip
register_mutant(
    written_mutant(
        name="replies_need_no_time",
        family=FAMILY,
        source="MDEV-162: the reply of a replica needs a round trip",
        fault="a commit waits for half of a round trip",
        caught_by="acknowledgements_take_a_round_trip",
        subject=SemiSyncClockSubject(RepliesAtOnce),
        workload=Workload(transactions=4),
    )
)
