"""Measure commits per group and lock waits on a simulated clock.

Each worker takes a step per tick. A sync takes ``SYNC_TICKS``; engine commits follow a tick later.
"""

from __future__ import annotations

from dataclasses import dataclass

from paraply.reference_impl.mariadb_gtid.applying import ApplyingReplica
from paraply.reference_impl.mariadb_gtid.positions_subject import GTID_POSITIONS
from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.subject import Workload
from paraply.vocabulary.events import EventKind, Outcome
from paraply.vocabulary.schedule import RecordedSchedule

SYNC_TICKS = 4
"""In worker steps; disks need a hundred times more."""
TICKS_MAX = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTiming:
    """Timing of a run."""

    ticks: int
    groups: int
    transactions: int
    lock_waits: int
    rollbacks: int

    @property
    def commits_per_group(self) -> float:
        """Return mean transactions per sync."""
        return self.transactions / self.groups


@dataclass(slots=True)
class _Clock:
    replica: ApplyingReplica
    is_synced_at: int = 0
    ticks: int = 0

    def tick(self) -> None:
        replica = self.replica
        self.ticks += 1
        while replica.may_dispatch:
            replica.on_dispatch()
        for worker in list(replica.workers):
            act = replica.step_of(worker)
            if act is not None:
                act()
        if replica.queue:
            if self.ticks >= self.is_synced_at:
                if not replica.group_is_logged:
                    replica.on_group_synced()
                while replica.queue:
                    replica.on_engine_commit()
        elif replica.ready():
            replica.on_group()
            self.is_synced_at = self.ticks + SYNC_TICKS


def group_timing(dialect: str, *, workers: int, transactions: int) -> GroupTiming:
    """Time one domain's transactions without errors."""
    recorder = Recorder()
    quiet = dict.fromkeys(("crashes", "stops", "retries", "reads", "cleanups"), 0)
    workload = Workload(
        transactions=transactions, dialect=dialect,
        options={"workers": workers, "domains": 1, **quiet},
    )  # fmt: skip
    replica = GTID_POSITIONS.replica(
        RecordedSchedule([]), workload, dialect, GTID_POSITIONS.options_of(workload), recorder
    )
    replica.on_start()
    clock = _Clock(replica)
    while (replica.rest or replica.workers) and clock.ticks < TICKS_MAX:
        clock.tick()
    return GroupTiming(
        ticks=clock.ticks,
        groups=replica.groups_made,
        transactions=len(replica.data),
        lock_waits=len(
            {event.transaction for event in recorder.events if event.outcome is Outcome.LOCK_WAIT}
        ),
        rollbacks=sum(event.kind is EventKind.ROLLED_BACK for event in recorder.events),
    )
