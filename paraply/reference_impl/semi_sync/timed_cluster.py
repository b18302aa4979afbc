"""The source on the simulated clock.

Durations are given in microseconds; unlisted steps take none. Clients commit without pause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from paraply.reference_impl.clock import take_steps
from paraply.reference_impl.semi_sync.binlog import ReplicaState
from paraply.reference_impl.semi_sync.cluster import Cluster
from paraply.reference_impl.semi_sync.groups import Group, Stage
from paraply.reference_impl.semi_sync.state import SOURCE
from paraply.reference_impl.step import Step
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.schedule import Schedule
from paraply.vocabulary.transactions import TransactionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Durations:
    """Durations in microseconds."""

    round_trip: int
    """From sync to acknowledgement."""
    sync: int
    """For any group size."""
    engine_commit: int
    """Per transaction."""
    stagger: int = 0
    """Between first commits of clients."""


@dataclass
class TimedCluster(Cluster):
    """A cluster with ``clients`` and no faults."""

    durations: Durations = field(default_factory=lambda: Durations(
        round_trip=1_000, sync=200, engine_commit=10))  # fmt: skip
    clients: int = 1
    queued: dict[str, tuple[int, list[int]]] = field(default_factory=dict)
    """Step -> its start and the groups behind its leader then."""
    sent_at: dict[TransactionId, int] = field(default_factory=dict)
    received_at: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.later = self.waiting[self.clients :]
        del self.waiting[self.clients :]
        self.arrives_at = {
            one: number * self.durations.stagger for number, one in enumerate(self.waiting)
        }

    def run(self, schedule: Schedule) -> None:
        """Take steps by time; the schedule breaks ties."""
        self.on_start()
        take_steps(
            self.recorder,
            self.progress_steps,
            self.end,
            lambda steps: schedule.choose(steps, "at once"),
        )
        if self.is_at_rest:
            self.recorder.record(EventKind.STOPPED, member=SOURCE, note="at rest")

    def replica_steps(self) -> Iterator[Step]:
        """Yield replica steps except applies."""
        return (step for step in super().replica_steps() if not step.label.endswith("applies"))

    def end(self, step: Step, since: int) -> int:
        """Return when a step ends that began at ``since``."""
        half = self.durations.round_trip // 2
        name, _, what = step.label.partition(" ")
        if step.label == "prepare":
            return self.arrives_at[self.waiting[0]]
        if what == "receives":
            return self.sent_at[self.binlog.written[self.replica(name).position]] + half
        if what == "is heard":
            return self.received_at[name, self.heard.reported.get(name, 0) + 1] + half
        if what.endswith("syncs"):
            if self.queued.get(step.label, (None,))[0] != since:
                self.queued[step.label] = since, [group.number for group in self.groups]
            return since + self.durations.sync
        return since + self.durations.engine_commit if "engine commits" in what else since

    def replica(self, name: str) -> ReplicaState:
        """Return a replica by name."""
        return next(replica for replica in self.replicas if replica.name == name)

    def on_sync(self, group: Group) -> None:
        """Sync and send the group."""
        super().on_sync(group)
        self.sent_at.update(dict.fromkeys(group.transactions, self.recorder.now))

    def followers_of(self, leader: Group) -> list[Group]:
        """Return groups queued in time."""
        _, queued = self.queued.get(f"group {leader.number}: syncs", (0, []))
        is_syncing = leader.stage is Stage.SYNC_QUEUE
        return [
            follower
            for follower in super().followers_of(leader)
            if not is_syncing or follower.number in queued
        ]

    def on_received(self, replica: ReplicaState) -> None:
        """Record the receipt time."""
        super().on_received(replica)
        self.received_at[replica.name, replica.position] = self.recorder.now

    def on_heard(self, replica: ReplicaState) -> None:
        """Count the earliest reply only."""
        position = self.heard.reported.get(replica.name, 0) + 1
        transaction = replica.received[position - 1]
        self.recorder.record(EventKind.ACKNOWLEDGED, member=replica.name, transaction=transaction)
        self.note(replica.name, position)

    def on_answered(self, group: Group) -> None:
        """Answer the clients, which continue."""
        super().on_answered(group)
        for _ in group.transactions:
            if self.later:
                one = self.later.pop(0)
                self.arrives_at[one] = self.recorder.now
                self.waiting.append(one)
        self.waiting.sort(key=self.arrives_at.__getitem__)
