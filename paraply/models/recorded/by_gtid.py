"""Abstraction of a source and a replica for ``paraply/models/systems/auto_position.py``.

A GTID is a transaction's place in the source's log, from 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from paraply.models.language.concrete import Scope, Table
from paraply.models.recorded import recoveries, replicas
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import places_of
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.gtid_set_text import parse_gtid, parse_gtid_set
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionId

REPLICA = "r1"


def _step(action: str, **known: int) -> RecordedStep:
    return RecordedStep(actions=(action,), parameters=known)


def _logged(place: int) -> tuple[RecordedStep, ...]:
    return _step("commit"), _step("sync", level=place + 1)


def _sent(place: int) -> RecordedStep:
    return RecordedStep(actions=("send",), seen=(("reads", (), place + 1),))


def _connect(told: Table) -> RecordedStep:
    return RecordedStep(actions=("connect",), chosen={"told": told})


def crashes(history: History) -> Recorded:
    """Read an applier's run: the relay log is received at once and stays in each crash."""
    read = replicas.restart(history)
    steps: list[RecordedStep] = [_connect({})]
    received = 0
    for step in read.steps:
        (action,) = step.actions
        match action:
            case "receive":
                steps += (*_logged(received), _sent(received))
                received += 1
            case "crash":
                left = {"left": received}
                steps.append(RecordedStep(actions=("replica_crash",), parameters=left))
            case "engine_commit":
                steps.append(
                    RecordedStep(actions=(action,), parameters={"e": step.parameters["p"]})
                )
            case _:
                steps.append(step)
    return Recorded(scope=read.scope, start={}, steps=tuple(steps))


def commits_alone(history: History) -> Recorded:
    """Read engine commits alone: all is sent and given to workers before the first one."""
    places = places_of(history)
    steps = [_connect({})]
    for place in places.values():
        steps += (*_logged(place), _sent(place))
    steps += [_step("give_out") for _ in places]
    for event in history.events_of(EventKind.ENGINE_COMMITTED):
        if event.transaction is not None:
            steps.append(_step("engine_commit", e=places[event.transaction]))
    return Recorded(scope=Scope(high=len(places) + 1), start={}, steps=tuple(steps))


def is_connected(history: History) -> bool:
    """Return whether replicas say what they have when they connect."""
    return any(event.members for event in history.events_of(EventKind.STARTED))


def lacking(history: History) -> Iterator[str]:
    """Yield why a history is not of servers with sets of GTIDs."""
    named = [one.gtid for one in history.transactions if one.gtid]
    if not all(":" in gtid for gtid in named):
        yield "a position of MariaDB is one GTID per domain (P20, P29)"
    if not is_connected(history):
        yield from recoveries.lacking(history)
    elif len({*named}) < len(history.transactions):
        yield "transactions without GTIDs of their own"


def of_each_replica(history: History) -> Iterator[Recorded]:
    """Yield a reading of each replica that connects, or of the only one."""
    if not is_connected(history):
        yield crashes(history)
        return
    starts = history.events_of(EventKind.STARTED)
    for replica in sorted({event.member for event in starts if event.members}):
        yield connections(history, replica)


def connections(history: History, replica: str = REPLICA) -> Recorded:
    """Read a run of a source and a replica that connect by GTIDs, until the source is lost.

    The replica receives and commits in one step, a filtered transaction as an empty one. What the
    source passes over, and how far it purges, is unobservable.
    """
    reading = _Connections(history, replica)
    for event in history.events:
        reading.read(event)
        if reading.ended:
            break
    return Recorded(
        scope=Scope(low=0, high=len(history.transactions) + 1), start={},
        steps=tuple(reading.steps), hidden=frozenset({"pass_over"}), ended=reading.ended,
    )  # fmt: skip


class _Connections:
    def __init__(self, history: History, replica: str) -> None:
        logged = history.events_of(EventKind.FLUSHED)
        self.source = next((event.member for event in logged), "")
        self.replica = replica
        self.gtids = {one.id: parse_gtid(one.gtid) for one in history.transactions if one.gtid}
        self.places: dict[TransactionId, int] = {}
        self.steps: list[RecordedStep] = []
        self.is_connected = False
        self.times = Counter[int]()
        self.left_out: TransactionId | None = None
        self.ended = ""

    def read(self, event: Event) -> None:
        one = event.transaction
        if event.member == self.source:
            if event.kind is EventKind.CRASHED:
                self.ended = "the source crashes"
            elif event.kind is EventKind.FLUSHED and one is not None:
                place = len(self.places)
                self.places.setdefault(one, place)
                self.steps += _logged(place)
            elif event.kind is EventKind.RELAY_ROTATED:
                self.steps.append(_step("purge"))
        elif event.member == self.replica:
            self.follow(event)

    def follow(self, event: Event) -> None:
        one = event.transaction
        # What the source has not logged is behind its end.
        place = len(self.places) if one is None else self.places.get(one, len(self.places))
        is_empty = event.kind is EventKind.FLUSHED and one == self.left_out is not None
        if self.left_out is not None and not is_empty:
            self.ended = f"T{self.left_out} is left out, and not logged as an empty transaction"
        elif event.kind is EventKind.STARTED and event.members:
            self.connect(event)
        elif event.kind is EventKind.DELIVERED:
            self.steps.append(_sent(place))
        elif event.kind is EventKind.SKIPPED:
            self.left_out = one
        elif event.kind is EventKind.ENGINE_COMMITTED or is_empty:
            self.left_out = None
            self.times[place] += 1
            done = ("times", (place,), self.times[place])
            self.steps.append(_step("give_out"))
            self.steps.append(RecordedStep(actions=("engine_commit",), seen=(done,)))

    def connect(self, event: Event) -> None:
        if event.members != (self.source,):
            self.ended = f"{event.member} follows another source than {self.source}"
            return
        if self.is_connected:
            self.steps.append(_step("disconnect"))
        self.is_connected = not event.note
        if self.is_connected:
            executed = parse_gtid_set(event.gtid_set)
            told: Table = {
                (at,): True for one, at in self.places.items() if self.gtids[one] in executed
            }
            self.steps.append(_connect(told))
