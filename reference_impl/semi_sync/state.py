"""Everything that is at a moment: what the source, its replicas and its clients have.

A state can be forked and named: two states with one name go on alike, whatever led to them.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Self

from reference_impl.recorder import Recorder
from reference_impl.semi_sync.acknowledgements import AckContainer, Acknowledgements
from reference_impl.semi_sync.binlog import BinaryLog, ReplicaState
from reference_impl.semi_sync.groups import Budget, Group, Stage
from reference_impl.semi_sync.settings import Settings
from vocabulary.events import EventKind
from vocabulary.transactions import TransactionId

SOURCE = "source"

_NOT_STATE = frozenset({"settings", "recorder", "groups_made"})
"""What never changes, what only tells the past, and the numbers that groups go by."""


@dataclass
class ClusterState:
    """The state of everything."""

    settings: Settings
    recorder: Recorder
    waiting: list[TransactionId]
    """Clients that have not asked to commit yet."""
    replicas: list[ReplicaState] = field(default_factory=list)
    binlog: BinaryLog = field(default_factory=BinaryLog)
    queue: list[TransactionId] = field(default_factory=list)
    """Prepared transactions that wait for a leader."""
    groups: list[Group] = field(default_factory=list)
    visible: list[TransactionId] = field(default_factory=list)
    """What the source's engine has committed, in that order."""
    held_back: list[TransactionId] = field(default_factory=list)
    """Recovered transactions that no replica has yet (Recovery.WAITS)."""
    is_on: bool = True
    """Whether semi-sync is on: groups wait."""
    is_switched_off: bool = False
    """Whether somebody switched it off, so that it does not come back by itself."""
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
        """Return an empty count of replies, as after a start of the source."""
        kind = AckContainer if self.settings.staging.is_mysql else Acknowledgements
        return kind(self.settings.acknowledgements)

    # What is held, and by whom.

    def holder(self, *stages: Stage) -> Group | None:
        """Return the group that holds the mutex of the stages."""
        return next((group for group in self.groups if group.stage in stages), None)

    def lock_log_is_free(self) -> bool:
        """Return whether nobody writes the binary log or rotates it."""
        holding = (Stage.FLUSH,) if self.settings.staging.is_mysql else (Stage.FLUSH, Stage.SYNC)
        return not self.is_rotating and self.holder(*holding) is None

    @property
    def is_at_rest(self) -> bool:
        """Return whether every client has its answer."""
        under_way = self.waiting or self.queue or self.groups or self.held_back
        return not (under_way or self.is_stopping or self.is_stopped)

    # What is recorded.

    def record_group(self, kind: EventKind, group: Group) -> None:
        """Record an event for each transaction of a group."""
        for transaction in group.transactions:
            self.recorder.record(kind, member=SOURCE, transaction=transaction, group=group.number)

    def show(self, transaction: TransactionId, group: int | None = None) -> None:
        """Commit in the engine; from here on readers see it."""
        self.visible.append(transaction)
        self.recorder.record(
            EventKind.ENGINE_COMMITTED, member=SOURCE, transaction=transaction, group=group
        )

    # States as such.

    def fork(self) -> Self:
        """Return an equal state that goes its own way."""
        twin = copy(self)
        for name, value in vars(self).items():
            if name not in ("settings", "recorder"):
                setattr(twin, name, _forked(value))
        if self.promoted is not None:
            twin.promoted = twin.replicas[self.replicas.index(self.promoted)]
        twin.recorder = copy(self.recorder)
        twin.recorder.events = list(self.recorder.events)
        return twin

    def name(self) -> Hashable:
        """Return a value that is equal for states that go on alike.

        Groups are known by their contents, not by their numbers.
        """
        return tuple(
            _frozen(value) for key, value in sorted(vars(self).items()) if key not in _NOT_STATE
        )


def _forked(value: Any) -> Any:
    """Return a copy of a value that shares nothing that changes."""
    if isinstance(value, list):
        return [_forked(one) for one in value]
    if isinstance(value, dict):
        return dict(value)
    if is_dataclass(value):
        twin = copy(value)
        for one in fields(value):
            inner = getattr(value, one.name)
            if isinstance(inner, (list, dict)):
                setattr(twin, one.name, inner.copy())
        return twin
    return value


def _frozen(value: Any) -> Hashable:
    """Return a value as something that can be compared and hashed."""
    if isinstance(value, list):
        return tuple(_frozen(one) for one in value)
    if isinstance(value, dict):
        return tuple(sorted((key, _frozen(one)) for key, one in value.items()))
    if is_dataclass(value):
        return tuple(
            _frozen(getattr(value, one.name)) for one in fields(value) if one.name != "number"
        )
    hashable: Hashable = value
    return hashable
