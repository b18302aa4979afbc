"""Abstraction of sources: group commit and dependency tracking."""

from __future__ import annotations

from dataclasses import replace

from paraply.models.language.concrete import Scope, Table
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import Rows, places_of, scope_of
from paraply.models.systems.semi_sync import semi_sync as semi_sync_system
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History

SOURCE = "source"

_WITH_THE_LAST = {
    "sync": (EventKind.SYNCED, True),
    "receive": (EventKind.DELIVERED, False),
    "engine_commit": (EventKind.ENGINE_COMMITTED, True),
    "read": (EventKind.READ, True),
    "answer_client": (EventKind.CLIENT_ACKNOWLEDGED, True),
}
"""Model actions with events, and whether the source emits them."""

_OR_ELSE = {"engine_commit": ("release_recovered",)}


def semi_sync(history: History) -> Recorded:
    """Read a run with one replica for ``paraply/models/systems/semi_sync.py``.

    A group is one flush; its last transaction's events count. Mutexes are unobservable. The reading
    ends at the loss of the source, since the model has no fail-over.
    """
    reading = _Groups()
    for event in history.events:
        if event.kind is EventKind.CRASHED and event.note == "lost":
            break
        reading.read(event)
    return Recorded(
        scope=Scope(high=len(history.transactions) + 1),
        start={"in_log": {(): -1}, "in_ack": {(): -1}, "in_commit": {(): -1}, "opened": {(): True}},
        steps=tuple(reading.steps),
        hidden=frozenset({"enter_ack", "enter_commit", "leave_log", "open_server"}),
    )


def whole_log(history: History) -> Recorded:
    """Read the same where the source's log is whole: what it lacks was not synced."""
    everything = frozenset(action.name for action in semi_sync_system().actions)
    return replace(semi_sync(history), complete=everything)


def rotation(history: History) -> Recorded:
    """Read a run before a source crash for ``paraply/models/systems/rotation.py``.

    The acquisition of LOCK_log is unobservable. Only the lost tail shows a replica's crash.
    """
    reading = _Groups()
    for event in history.events:
        if event.kind is EventKind.CRASHED and event.member == SOURCE:
            break
        if event.kind is EventKind.RECOVERED:
            reading.lose("receive", set(event.transactions), "reconnect")
        if event.kind is EventKind.RELAY_ROTATED and event.member == SOURCE:
            reading.take(None, "end_rotation")
        reading.read(event)
    steps = (step for step in reading.steps if step.actions[0] not in {"read", "answer_client"})
    return Recorded(
        scope=Scope(high=len(history.transactions) + 1),
        start={"in_log": {(): -1}, "in_ack": {(): -1}, "in_commit": {(): -1}},
        steps=tuple(steps), hidden=frozenset({"enter_ack", "enter_commit", "begin_rotation"}),
    )  # fmt: skip


class _Groups:
    def __init__(self) -> None:
        self.steps: list[RecordedStep] = []
        self.groups: list[set[int]] = []
        self.flushed_at = -1
        self.done: dict[str, set[int]] = {action: set() for action in _WITH_THE_LAST}

    def take(self, group: int | None, *actions: str) -> None:
        known = {} if group is None else {"g": group}
        self.steps.append(RecordedStep(actions=actions, parameters=known))

    def read(self, event: Event) -> None:
        if event.kind is EventKind.READ and event.member == SOURCE:
            for seen in event.observed:
                self.happened("read", seen.writer)
        elif event.kind is EventKind.RECOVERED and event.member == SOURCE:
            self.groups = [one for one in self.groups if one <= self.done["sync"]]
            self.take(None, "crash_and_recover")
            if event.note != "waits":
                # Other recoveries commit the binary log themselves.
                self.done["engine_commit"].update(*self.groups)
        elif event.kind is EventKind.FLUSHED and event.transaction is not None:
            if event.time != self.flushed_at:
                self.flushed_at = event.time
                self.groups.append(set())
                self.take(None, "write")
            self.groups[-1].add(event.transaction)
        elif event.transaction is not None:
            for action, (kind, at_source) in _WITH_THE_LAST.items():
                if event.kind is kind and (event.member == SOURCE) == at_source:
                    self.happened(action, event.transaction)

    def lose(self, action: str, kept: set[int], undone_by: str) -> None:
        undone = [group for group in self.groups if group <= self.done[action] and group - kept]
        self.done[action] &= kept
        for _ in undone:
            self.take(None, undone_by)

    def happened(self, action: str, transaction: int) -> None:
        place = next((g for g, group in enumerate(self.groups) if transaction in group), None)
        done = self.done[action]
        if place is None or transaction in done:
            return
        done.add(transaction)
        if self.groups[place] <= done:
            self.take(place, action, *_OR_ELSE.get(action, ()))


def bounds_at_source(history: History) -> Recorded:
    """Read a source's bounds for ``paraply/models/systems/trackers.py``.

    It requires one binary log file. LC 0 waits for all earlier transactions. Resets of the history
    are unobservable.
    """
    logged = [event for event in history.events if event.kind is EventKind.FLUSHED]
    items = {one.id: one.write_set for one in history.transactions}
    rows, steps = Rows(), []
    written: Table = {}
    for place, event in enumerate(logged):
        assert event.timestamp is not None
        assert event.transaction is not None
        for item in sorted(items[event.transaction]):
            written[place, rows.name(item)] = True
        bound = (("depends", (place,), (event.timestamp.last_committed or place) - 1),)
        steps.append(RecordedStep(actions=("log",), seen=bound))
    start: dict[str, Table] = {"ws": written, "start": {(): -1}, "mark": {(): -1}}
    return Recorded(
        scope=scope_of(places_of(history), rows), start=start, steps=tuple(steps),
        hidden=frozenset({"forget"}),
        possible_afterwards=frozenset({"start", "leave", "advance"}),
    )  # fmt: skip
