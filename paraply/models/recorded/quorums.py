"""Abstraction of several replicas for ``paraply/models/systems/quorum.py``."""

from __future__ import annotations

from itertools import combinations

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.sources import SOURCE
from paraply.models.systems.quorum import ACKERS, REPLICA, VOTERS
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

_PROMOTED = "promoted"
"""The session of the first read after promotion."""
_Seen = tuple[str, tuple[Value, ...], Value]
_AT_REPLICAS = {
    EventKind.DELIVERED: "receive",
    EventKind.ACKNOWLEDGED: "acknowledge",
    EventKind.ENGINE_COMMITTED: "apply",
}


def quorum(history: History) -> Recorded:
    """Read a run of a source and its replicas up to a promotion.

    A group is one transaction, written at its sync or by recovery. Acknowledging sets are all sets
    of the required size. The electing set is every replica available at the promotion.
    """
    names = [name for name in history.members if name != SOURCE]
    reading = _Cluster(names)
    for event in history.events:
        reading.read(event)
        if event.session == _PROMOTED:
            break
    required = int(history.header.options.get("acknowledgements", 1))
    acking = [set(one) for one in combinations(names, required)]
    scope = Scope(high=len(history.transactions), size=max(len(names), len(acking)))
    return Recorded(
        scope=scope, start=_sets(scope, names, acking, reading.at_hand),
        steps=tuple(reading.steps), ghosts=frozenset({"by_set", "common"}),
    )  # fmt: skip


def _sets(
    scope: Scope, names: list[str], acking: list[set[str]], at_hand: set[str]
) -> dict[str, Table]:
    tables: dict[str, Table] = {"acks": {}, "votes": {}, "meet": {}}
    replicas = dict(zip(names, scope.values(REPLICA), strict=False))
    for number, ackers in enumerate(scope.values(ACKERS)):
        members = acking[number % len(acking)]
        tables["acks"].update({(replicas[name], ackers): True for name in members})
        common = min(members & at_hand or members)
        for voters in scope.values(VOTERS):
            tables["meet"][ackers, voters] = replicas[common]
    for voters in scope.values(VOTERS):
        tables["votes"].update({(replicas[name], voters): True for name in at_hand})
    return tables


class _Cluster:
    def __init__(self, names: list[str]) -> None:
        self.places = {name: f"replica{number}" for number, name in enumerate(names)}
        self.at_hand = set(names)
        self.log: list[TransactionId] = []
        self.synced = 0
        self.steps: list[RecordedStep] = []

    def take(self, action: str, *seen: _Seen, **known: Value) -> None:
        self.steps.append(RecordedStep(actions=(action,), parameters=known, seen=seen))

    def write(self, count: int) -> None:
        for _ in range(count - self.synced):
            self.take("write")
        self.synced = count

    def read(self, event: Event) -> None:
        if event.member == SOURCE:
            self.read_source(event)
        elif event.session == _PROMOTED:
            self.take("promote", k=self.places[event.member])
        elif event.kind is EventKind.CRASHED:
            self.at_hand.discard(event.member)
        elif event.kind is EventKind.RECOVERED:
            self.at_hand.add(event.member)
            replica = self.places[event.member]
            left = ("received", (replica,), len(event.transactions))
            self.take("crash_replica", left, k=replica)
        elif event.kind in _AT_REPLICAS:
            self.take(_AT_REPLICAS[event.kind], k=self.places[event.member])

    def read_source(self, event: Event) -> None:
        match event.kind:
            case EventKind.FLUSHED if event.transaction is not None:
                self.log.append(event.transaction)
            case EventKind.SYNCED if event.transaction is not None:
                self.write(self.log.index(event.transaction) + 1)
            case EventKind.ENGINE_COMMITTED if event.transaction is not None:
                self.take("make_visible", ("visible", (), self.log.index(event.transaction) + 1))
            case EventKind.READ:
                for seen in event.observed:
                    self.take("read", g=self.log.index(seen.writer))
            case EventKind.CRASHED if event.note == "lost":
                self.take("lose_source")
            case EventKind.RECOVERED:
                self.write(len(event.transactions))
                self.log = list(event.transactions)
                self.take("restart_source")
            case _:
                pass
