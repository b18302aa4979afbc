"""Abstraction of sources: group commit and dependency tracking."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import chain

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import Rows, places_of, scope_of
from paraply.models.systems.semi_sync import Rules
from paraply.models.systems.semi_sync import semi_sync as semi_sync_system
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History

SOURCE = "source"

_AT_SOURCE = {
    EventKind.SYNCED: "sync",
    EventKind.ENGINE_COMMITTED: "engine_commit",
    EventKind.CLIENT_ACKNOWLEDGED: "answer_client",
}
_AT_REPLICAS = {EventKind.DELIVERED: "receive", EventKind.ACKNOWLEDGED: "receive"}
_OF_ALL = frozenset({"sync", "receive"})
"""A group does these with its last transaction, and others with its first."""
_IN_ORDER = {"sync", "engine_commit"}
_OR_ELSE = {"engine_commit": ("release_recovered",)}
WITHHELD, BARRED = "waits", "barred"
"""Notes of recoveries: until a replica has them, transactions are withheld, or clients barred."""
CHAINED = frozenset({"after_sync", "stock_recovery", "barred_recovery", "global_mutex", "chained"})
"""Dialects whose groups hold the theorems' mutexes, and wait before the engine commit."""


def semi_sync(history: History, *, by_transaction: bool = False) -> Recorded:
    """Read a run for ``paraply/models/systems/semi_sync.py``.

    A group is one flush. Mutexes are unobservable. What a replica has is what the model's has. The
    reading ends at the loss of the source, since the model has no fail-over.

    ``by_transaction``, for AFTER_COMMIT, what is acknowledged and answered is each transaction of a
    group. If not, a group is acknowledged with its last transaction and answered with its first.
    """
    reading = _Groups(by_transaction=by_transaction)
    reading.read_all(history)
    return _recorded(history, reading)


def waiting(history: History, *, remedies: Collection[str], by_the_first: bool = False) -> Recorded:
    """Read the same until something happens that theorems with these remedies exclude.

    The model's replica has what as many replicas have as must acknowledge; ``by_the_first``, a
    group of which any replica has anything.
    """
    copies = 1 if by_the_first else int(history.header.options.get("acknowledgements", 1))
    reading = _Groups(copies, frozenset({"sync"}) if by_the_first else _OF_ALL)
    for event in history.events:
        reading.end(event, remedies)
        if reading.ended:
            break
        if not reading.is_lost:
            reading.read(event)
    return replace(_recorded(history, reading), ended=reading.ended)


def seen_outside(history: History, *, by_transaction: bool = False) -> Recorded:
    """Read the same of a server whose engine commits and releases no record shows."""
    reading = _Groups(by_transaction=by_transaction)
    reading.read_all(history)
    recorded = _recorded(history, reading)
    return replace(
        recorded, hidden=recorded.hidden | {"engine_commit", "release_recovered"},
        scope=Scope(high=max(reading.written, reading.largest) + 1),
    )  # fmt: skip


def settings(history: History) -> Rules:
    """Return the rules of a recorded server's settings: its own recovery commits at once."""
    options = history.header.options
    return Rules(
        name="semi_sync[stock]", after_sync=options.get("mode") == "AFTER_SYNC",
        wait_stands=options.get("scenario") != "time-out", recovery="commits",
    )  # fmt: skip


def lacking(history: History) -> Iterator[str]:
    """Yield why the stages of a source are not those of the theorems."""
    dialect = history.header.dialect
    if dialect not in CHAINED:
        what = f"its dialect, {dialect}, is" if dialect else "it names no dialect that is"
        yield f"{what} not known to chain mutexes and to wait before the engine commit"
    elif {event.member for event in history.events_of(EventKind.FLUSHED)} != {SOURCE}:
        yield f"another member than {SOURCE} writes a binary log"


def _recorded(history: History, reading: _Groups) -> Recorded:
    return Recorded(
        scope=Scope(high=len(history.transactions) + 1),
        start={"in_log": {(): -1}, "in_ack": {(): -1}, "in_commit": {(): -1}, "opened": {(): True}},
        steps=tuple(reading.steps),
        hidden=frozenset({"enter_ack", "enter_commit", "leave_log", "open_server"}),
    )


def _is_loss(event: Event) -> bool:
    return event.kind is EventKind.CRASHED and event.note == "lost"


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
    def __init__(
        self, copies: int = 1, of_all: Collection[str] = _OF_ALL, *, by_transaction: bool = False
    ) -> None:
        self.copies = copies
        self.of_all = of_all
        self.by_transaction = by_transaction
        self.written = self.largest = 0
        self.steps: list[RecordedStep] = []
        self.groups: list[list[int]] = []
        self.written_as: int | None = None
        self.done: dict[str, set[int]] = {
            name: set() for name in (*_AT_SOURCE.values(), "receive", "read")
        }
        self.taken: set[tuple[str, int]] = set()
        self.having: dict[int, set[str]] = {}
        self.withheld: set[int] = set()
        self.is_lost = False
        self.ended = ""

    def take(self, group: int | None, *actions: str, **seen: Value) -> None:
        known = {} if group is None else {"g": group}
        after = tuple((name, (), value) for name, value in seen.items())
        self.steps.append(RecordedStep(actions=actions, parameters=known, seen=after))

    def read_all(self, history: History) -> None:
        """Read until the loss of the source."""
        for event in history.events:
            if _is_loss(event):
                break
            self.read(event)

    def end(self, event: Event, remedies: Collection[str]) -> None:
        """End the reading at what the theorems exclude."""
        at_source, one = event.member == SOURCE, event.transaction
        if self.is_lost and (at_source or event.kind in _AT_REPLICAS):
            if event.kind in (*_AT_SOURCE, *_AT_REPLICAS, EventKind.FLUSHED, EventKind.READ):
                self.ended = f"{event.kind.value} after the loss of the source"
        elif event.kind is EventKind.WAIT_ABANDONED:
            self.ended = f"the wait of T{one} is abandoned"
        elif event.kind is EventKind.RECOVERED and not self.is_lost:
            lost = {t for t, names in self.having.items() if event.member in names}
            if at_source and event.note not in remedies:
                self.ended = f"a recovery that {event.note or 'has no note'}"
            elif not at_source and lost - {*event.transactions}:
                self.ended = f"{event.member} has lost what it had received"
        self.is_lost = self.is_lost or (at_source and _is_loss(event))

    def read(self, event: Event) -> None:
        at_source, one = event.member == SOURCE, event.transaction
        if event.kind is EventKind.READ and at_source:
            for seen in event.observed:
                if seen.writer:
                    self.happened("read", seen.writer)
        elif event.kind is EventKind.RECOVERED and at_source:
            self.recover(event)
        elif event.kind is EventKind.FLUSHED and one is not None:
            number = event.time if event.group is None else event.group
            if number != self.written_as:
                self.written_as = number
                self.groups.append([])
                self.written += 1
                self.take(None, "write")
            self.groups[-1].append(one)
            self.largest = max(self.largest, len(self.groups[-1]))
        elif event.kind in _AT_REPLICAS and not at_source and one is not None:
            having = self.having.setdefault(one, set())
            having.add(event.member)
            if len(having) >= self.copies:
                self.happened("receive", one)
        elif event.kind in _AT_SOURCE and at_source and one is not None:
            self.happened(_AT_SOURCE[event.kind], one)

    def recover(self, event: Event) -> None:
        kept = set(event.transactions)
        self.written_as = None
        if self.groups and not self.done["sync"].issuperset(self.groups[-1]):
            # A crash may leave a part of what was not synced.
            self.groups[-1] = [one for one in self.groups[-1] if one in kept]
            for one in self.groups[-1]:
                self.happened("sync", one)
        self.groups = [one for one in self.groups if one and kept.issuperset(one)]
        unknown = kept.difference(*self.groups)
        if unknown:
            self.groups.append(sorted(unknown))
        self.taken = {(name, place) for name, place in self.taken if place < len(self.groups)}
        is_open = event.note != BARRED
        self.take(None, "crash_and_recover", n=len(self.groups), opened=is_open)
        for place, group in enumerate(self.groups):
            if ("engine_commit", place) in self.taken:
                continue
            if event.note == WITHHELD:
                self.withheld.update(group)
            else:
                # Other recoveries commit the binary log themselves.
                self.taken.add(("engine_commit", place))

    def lose(self, action: str, kept: set[int], undone_by: str) -> None:
        for place, group in enumerate(self.groups):
            if (action, place) in self.taken and not kept.issuperset(group):
                self.taken.remove((action, place))
                self.take(None, undone_by)
        self.done[action] &= kept

    def happened(self, action: str, one: int) -> None:
        """Take a group's step, if this transaction's event makes it one."""
        done = self.done[action]
        if one in done:
            if action in _IN_ORDER:
                self.ended = f"{action} of T{one} comes again"
            return
        # What is in no group is in none that was written.
        last = len(self.groups)
        place = next((g for g, group in enumerate(self.groups) if one in group), last)
        group = self.groups[place] if place < last else [one]
        before = chain(*self.groups[:place], group[: group.index(one)])
        if action in _IN_ORDER and not done.issuperset(before):
            # The model has no order within a group.
            self.ended = f"{action} of T{one} before one that is earlier in the log"
        done.add(one)
        is_due = action not in self.of_all or done.issuperset(group)
        if one in self.withheld and ("engine_commit", place) not in self.taken:
            # Such transactions commit one by one.
            are_there = self.done["receive"].issuperset(group)
            if action == "engine_commit":
                is_due = are_there or done.issuperset(group)
            elif action == "read" and one in self.done["receive"]:
                self.ended = f"a reader sees T{one} and not all of its group"
                return
        if self.by_transaction and action == "answer_client":
            known = {"g": place, "p": group.index(one)}
            self.steps.append(RecordedStep(actions=(action,), parameters=known))
        elif self.by_transaction and action == "receive" and not is_due:
            had = ("had", (place,), group.index(one) + 1)
            self.steps.append(
                RecordedStep(actions=("receive_one",), parameters={"g": place}, seen=(had,))
            )
        elif is_due and (action, place) not in self.taken:
            self.taken.add((action, place))
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
