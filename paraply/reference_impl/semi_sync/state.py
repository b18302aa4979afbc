"""The cluster's state, for forks and comparison.

Equally named states have equal futures. Names omit replica names, so symmetric states are equal.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field
from typing import Self

from paraply.reference_impl.recorder import Recorder
from paraply.reference_impl.semi_sync.acknowledgements import AckContainer, Acknowledgements
from paraply.reference_impl.semi_sync.binlog import BinaryLog, ReplicaState
from paraply.reference_impl.semi_sync.groups import Budget, Group, Stage
from paraply.reference_impl.semi_sync.settings import Settings
from paraply.vocabulary.events import EventKind
from paraply.vocabulary.transactions import TransactionId

SOURCE = "source"

_PLAIN = frozenset({bool, int, str, type(None)})


@dataclass
class ClusterState:
    """State of source, replicas and clients."""

    settings: Settings
    recorder: Recorder
    waiting: list[TransactionId]
    """Clients before commit."""
    replicas: list[ReplicaState] = field(default_factory=list)
    binlog: BinaryLog = field(default_factory=BinaryLog)
    queue: list[TransactionId] = field(default_factory=list)
    """Transactions without a leader."""
    groups: list[Group] = field(default_factory=list)
    visible: list[TransactionId] = field(default_factory=list)
    """Engine commits."""
    held_back: list[TransactionId] = field(default_factory=list)
    """Unacknowledged after recovery (Recovery.WAITS)."""
    is_on: bool = True
    is_switched_off: bool = False
    """Replies do not restore semi-sync."""
    is_open: bool = True
    is_rotating: bool = False
    is_stopping: bool = False
    is_stopped: bool = False
    is_lost: bool = False
    promoted: ReplicaState | None = None
    has_returned: bool = False
    groups_made: int = 0

    def __post_init__(self) -> None:
        s = self.settings
        self.budget = Budget(
            s.reads, s.source_crashes, s.replica_crashes, s.rotations, s.abandons, s.shutdowns
        )
        self.heard = self.new_acknowledgements()

    def new_acknowledgements(self) -> Acknowledgements:
        """Return an empty acknowledgement count."""
        kind = AckContainer if self.settings.staging.is_mysql else Acknowledgements
        return kind(self.settings.acknowledgements)

    # Locks.

    def holder(self, *stages: Stage) -> Group | None:
        """Return the stages' group."""
        return next((group for group in self.groups if group.stage in stages), None)

    def lock_log_is_free(self) -> bool:
        """Return whether LOCK_log is free."""
        holding = (Stage.FLUSH,) if self.settings.staging.is_mysql else (Stage.FLUSH, Stage.SYNC)
        return not self.is_rotating and self.holder(*holding) is None

    @property
    def is_at_rest(self) -> bool:
        """Return whether all answers are sent."""
        under_way = self.waiting or self.queue or self.groups or self.held_back
        return not (under_way or self.is_stopping or self.is_stopped)

    # Recording.

    def record_group(self, kind: EventKind, group: Group) -> None:
        """Record an event per transaction."""
        for transaction in group.transactions:
            self.recorder.record(kind, member=SOURCE, transaction=transaction, group=group.number)

    def show(self, transaction: TransactionId, group: int | None = None) -> None:
        """Commit in the engine."""
        self.visible.append(transaction)
        self.recorder.record(
            EventKind.ENGINE_COMMITTED, member=SOURCE, transaction=transaction, group=group
        )

    # Copies and identity.

    def fork(self) -> Self:
        """Return an independent copy without records."""
        twin = copy(self)
        twin.recorder = Recorder()
        twin.waiting, twin.queue = self.waiting.copy(), self.queue.copy()
        twin.visible, twin.held_back = self.visible.copy(), self.held_back.copy()
        twin.binlog, twin.budget = self.binlog.fork(), self.budget.fork()
        twin.heard = self.heard.fork()
        twin.groups = [group.fork() for group in self.groups]
        twin.replicas = [replica.fork() for replica in self.replicas]
        if self.promoted is not None:
            twin.promoted = twin.replicas[self.replicas.index(self.promoted)]
        return twin

    def name(self) -> Hashable:
        """Return a hashable identity without replicas.

        Attributes that are not listed must be plain values.
        """
        return (
            tuple(self.waiting), tuple(self.queue), tuple(self.visible), tuple(self.held_back),
            self.binlog.name(), self.budget.name(), self.heard.released,
            tuple([group.name() for group in self.groups]),
            self.promoted is not None,
            tuple(
                [
                    value
                    for key, value in vars(self).items()
                    if value.__class__ in _PLAIN and key != "groups_made"
                ]
            ),
        )  # fmt: skip

    def name_of(self, replica: ReplicaState) -> tuple[Hashable, ...]:
        """Return identity without the name."""
        return (*replica.state(), self.heard.of(replica.name), replica is self.promoted)
