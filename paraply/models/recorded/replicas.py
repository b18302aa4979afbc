"""Abstraction of a replica's applier runs.

A model position is a transaction's place in the relay log, from 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from paraply.models.language.concrete import Scope, Table, Value
from paraply.models.language.terms import INT
from paraply.models.recorded.following import Recorded, RecordedStep, Segment
from paraply.models.recorded.naming import AL1_GHOSTS, BY_RECOVERY, Rows, places_of, scope_of
from paraply.models.systems.commit_order import ROW
from paraply.vocabulary.events import Event, EventKind, Outcome
from paraply.vocabulary.history import History
from paraply.vocabulary.transactions import TransactionKind
from paraply.vocabulary.write_set import Item

SHOWN_MAX = 3
"""Transactions that are followed of what a snapshot shows, and of what it lacks."""

_LOCKS = {Outcome.OK, Outcome.LOCK_WAIT, Outcome.DEADLOCK}


def commit_order(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/commit_order.py``.

    The model has no retry, so the reading ends at a rollback.
    """
    places = places_of(history)
    rows = Rows()
    wanted: Table = {}
    for one in history.transactions:
        for item in sorted(one.write_set):
            wanted[places[one.id], rows.name(item)] = True
    steps = [RecordedStep(actions=("queue",)) for _ in places]
    held: dict[Value, Value] = {}
    for event in history.events:
        if event.kind is EventKind.READ:
            steps.append(RecordedStep(actions=("take_snapshot",), seen=_shown(event, history)))
        if event.transaction is None:
            continue
        if event.kind is EventKind.ROLLED_BACK:
            break
        place = places[event.transaction]
        match event.kind:
            case EventKind.SCHEDULED:
                steps.append(RecordedStep(actions=("start",), parameters={"p": place}))
            case EventKind.ROW_APPLIED if event.outcome in _LOCKS:
                for row in map(rows.name, sorted(event.items)):
                    wanted[place, row] = True
                    if event.outcome is Outcome.OK and held.get(row) != place:
                        held[row] = place
                        lock: dict[str, Value] = {"p": place, "r": row}
                        steps.append(RecordedStep(actions=("lock_row",), parameters=lock))
            case EventKind.ENGINE_COMMITTED:
                held = {row: holder for row, holder in held.items() if holder != place}
                steps.append(RecordedStep(actions=("engine_commit",), parameters={"p": place}))
    scope = scope_of(places, rows)
    nobody: Table = {(row,): -1 for row in scope.values(ROW)}
    return Recorded(scope=scope, start={"ws": wanted, "holder": nobody}, steps=tuple(steps))


def commits_alone(history: History) -> Recorded:
    """Read engine commits alone for ``commit_order.py``: all are given to workers before."""
    read = commit_order(history)
    places = range(len(history.transactions))
    given = (RecordedStep(actions=("start",), parameters={"p": place}) for place in places)
    queued = len(history.transactions)
    return replace(read, steps=(*read.steps[:queued], *given, *read.steps[queued:]))


def _shown(event: Event, history: History) -> tuple[tuple[str, tuple[Value, ...], Value], ...]:
    """Return which writers of the observed rows a snapshot shows, and which not."""
    return tuple(
        ("read", (place,), one.id == seen.writer)
        for seen in event.observed
        for place, one in enumerate(history.transactions)
        if seen.item in one.write_set and one.id >= seen.writer
    )


def snapshots(history: History, member: str) -> Iterator[Segment]:
    """Yield what readers of a member saw in part, for ``commit_order.py``, without rows and locks.

    Of what a snapshot shows the last transactions are read, and of what it lacks the first.
    """
    places = places_of(history)
    writers: dict[Item, list[int]] = {}
    for one in history.transactions:
        for item in one.write_set:
            writers.setdefault(item, []).append(places[one.id])
    for number, event in enumerate(history.events_of(EventKind.READ, member=member), start=1):
        there, lacking = set[int](), set[int]()
        for seen in event.observed:
            place = places.get(seen.writer, -1)
            there |= {place} - {-1}
            lacking.update(one for one in writers.get(seen.item, ()) if one > place)
        last, first = sorted(there)[-SHOWN_MAX:], sorted(lacking)[:SHOWN_MAX]
        if last and first:
            yield Segment(name=f"read {number} at {member}", recorded=_snapshot(last, first))


def _snapshot(there: Collection[int], lacking: Collection[int]) -> Recorded:
    """Read a snapshot when the last transaction that it shows has committed."""
    log = sorted({*there, *lacking})
    shown = tuple(
        ("read", (p,), is_there)
        for p, one in enumerate(log)
        for those, is_there in ((there, True), (lacking, False))
        if one in those
    )
    commits = range(1 + max(map(log.index, there)))
    scope = Scope(high=len(log))
    return Recorded(
        scope=scope, start={"holder": {(row,): -1 for row in scope.values(ROW)}},
        steps=(
            *(RecordedStep(actions=("queue",)) for _ in log),
            *(RecordedStep(actions=("start",), parameters={"p": p}) for p in commits),
            *(RecordedStep(actions=("engine_commit",), parameters={"p": p}) for p in commits),
            RecordedStep(actions=("take_snapshot",), seen=shown),
        ),
    )  # fmt: skip


def lock_queue(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/lock_queue.py`` with exact locks.

    Rows are in the order in which a transaction locks them first; rows that it did not come to are
    last. Snapshots are no steps of the model.
    """
    read = commit_order(history)
    orders: dict[Value, list[Value]] = {}
    steps: list[RecordedStep] = []
    for step in read.steps:
        (action,) = step.actions
        if action == "take_snapshot":
            continue
        if action == "lock_row":
            place = step.parameters["p"]
            orders.setdefault(place, []).append(step.parameters["r"])
            step = RecordedStep(actions=("lock_row",), parameters={"p": place})
        steps.append(step)
    ws = read.start["ws"]
    for place, row in ws:
        if row not in orders.setdefault(place, []):
            orders[place].append(row)
    tables: dict[str, Table] = {
        "ws": ws,
        "holder": read.start["holder"],
        "size": {(p,): len(order) for p, order in orders.items()},
        "row_at": {(p, i): row for p, order in orders.items() for i, row in enumerate(order)},
        "place": {(p, row): -1 for p in read.scope.values(INT) for row in read.scope.values(ROW)},
    }
    for place, order in orders.items():
        tables["place"] |= {(place, row): i for i, row in enumerate(order)}
    return Recorded(scope=read.scope, start=tables, steps=tuple(steps))


_GIVEN = {
    EventKind.SCHEDULED: "give_out",
    EventKind.SKIPPED: "skip",
    EventKind.ENGINE_COMMITTED: "engine_commit",
    EventKind.CRASHED: "crash",
    EventKind.STARTED: "crash",
}
STATES_POSITION = frozenset({EventKind.STARTED, EventKind.RECOVERED, EventKind.STOPPED})
SLAVE_POSITION = "gtid_slave_pos"


def restart(history: History, covers: Mapping[str, int] | None = None) -> Recorded:
    """Read a run for ``paraply/models/systems/restart.py``.

    Later starts reveal the restart point: that of a replica that was stopped, too. Commits by
    recovery count as before the crash. ``covers`` says how much a stated position covers.
    """
    places = places_of(history)
    given = dict(_GIVEN)
    if not any(event.kind is EventKind.SCHEDULED for event in history.events):
        given[EventKind.BEGUN] = "give_out"
    steps = [RecordedStep(actions=("receive",)) for _ in places]
    received = len(steps)
    crashed_at = 0
    for event in history.events:
        action = given.get(event.kind, "")
        if action == "crash" and steps[received:] and steps[-1].actions != ("crash",):
            crashed_at = len(steps)
            steps.append(RecordedStep(actions=("crash",)))
        is_stated = event.kind in STATES_POSITION or event.note == SLAVE_POSITION
        if covers is not None and is_stated and steps[received:]:
            stated = (("position", (), covers[event.gtid_set]),)
            steps[-1] = replace(steps[-1], seen=steps[-1].seen + stated)
        if event.transaction is None:
            continue
        place = places[event.transaction]
        if action == "engine_commit":
            committed = RecordedStep(actions=(action,), parameters={"p": place})
            by_recovery = event.note == BY_RECOVERY
            steps.insert(crashed_at if by_recovery else len(steps), committed)
            crashed_at += by_recovery
        elif action and event.attempt == 1:
            after = (("cursor", (), place + 1),)
            steps.append(RecordedStep(actions=(action,), parameters={}, seen=after))
    return Recorded(scope=Scope(high=len(places) + 1), start={}, steps=tuple(steps))


def at_rest(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/restart.py`` at whose end nothing is in progress."""
    read = restart(history)
    idle = tuple(("running", (place,), False) for place in range(len(history.transactions)))
    last = read.steps[-1]
    return replace(
        read, steps=(*read.steps[:-1], replace(last, seen=last.seen + idle)),
        complete=frozenset({"engine_commit"}),
    )  # fmt: skip


def low_water_mark(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/low_water_mark.py``.

    First jobs of groups and checks of finished jobs are unobservable.
    """
    places = places_of(history)
    steps = []
    for event in history.events:
        if event.transaction is None:
            continue
        if event.kind is EventKind.SCHEDULED:
            after = (("given", (), places[event.transaction] + 1),)
            steps.append(RecordedStep(actions=("open_group", "give_out"), seen=after))
        elif event.kind is EventKind.ENGINE_COMMITTED:
            done = {"p": places[event.transaction]}
            steps.append(RecordedStep(actions=("finish",), parameters=done))
    stamps = [(one.timestamp, places[one.id]) for one in history.transactions if one.timestamp]
    start: dict[str, Table] = {
        "sn": {(place,): stamp.sequence_number for stamp, place in stamps},
        "lc": {(place,): stamp.last_committed for stamp, place in stamps},
    }
    return Recorded(
        scope=Scope(high=len(places)), start=start, steps=tuple(steps),
        hidden=frozenset({"advance"}),
    )  # fmt: skip


def bounds_on_replica(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/trackers.py``.

    The bound is last_committed, counted from 1 without gaps. Its computation and the replica's mark
    are unobservable.
    """
    places = places_of(history)
    rows, steps = Rows(), []
    written: Table = {}
    for one in history.transactions:
        assert one.timestamp is not None
        first = history.transactions[0].timestamp
        assert first is not None
        bound = one.timestamp.last_committed - first.sequence_number
        place = places[one.id]
        for item in sorted(one.write_set):
            written[place, rows.name(item)] = True
        logged = (("depends", (place,), max(bound, -1)),)
        steps.append(RecordedStep(actions=("log",), seen=logged))
    names = {EventKind.SCHEDULED: ("start", "q"), EventKind.ENGINE_COMMITTED: ("leave", "p")}
    for event in history.events:
        if event.transaction is not None and event.kind in names:
            action, parameter = names[event.kind]
            known = {parameter: places[event.transaction]}
            steps.append(RecordedStep(actions=(action,), parameters=known))
    start: dict[str, Table] = {"ws": written, "start": {(): -1}, "mark": {(): -1}}
    return Recorded(
        scope=scope_of(places, rows), start=start, steps=tuple(steps), hidden=frozenset({"advance"})
    )


def log_and_starts(history: History) -> Recorded:
    """Read a run for ``paraply/models/systems/applier.py``: AL1's log, then starts.

    It requires one log file without garbage collection.
    """
    places = places_of(history)
    rows, steps = Rows(), []
    written: Table = {}
    empty: Table = {}
    views: Table = {}
    for one in history.transactions:
        assert one.timestamp is not None
        place = places[one.id]
        # CREATE TABLE ... SELECT is a barrier; its window covers its writes.
        empty[place,] = one.kind in {TransactionKind.NO_WRITE_SET, TransactionKind.CTAS}
        for item in () if empty[place,] else sorted(one.write_set):
            written[place, rows.name(item)] = True
        views[place,] = one.kind is TransactionKind.VIEW_CHANGE
        seen = (
            ("sn", (place,), one.timestamp.sequence_number),
            ("lc", (place,), one.timestamp.last_committed),
        )
        action = "change_view" if views[place,] else "certify"
        known: dict[str, Value] = {"new_lc": one.timestamp.last_committed}
        steps.append(RecordedStep(actions=(action,), parameters=known, seen=seen))
    names = {EventKind.SCHEDULED: ("start", "q"), EventKind.ENGINE_COMMITTED: ("finish", "p")}
    for event in history.events:
        if event.transaction is not None and event.kind in names:
            action, parameter = names[event.kind]
            known = {parameter: places[event.transaction]}
            steps.append(RecordedStep(actions=(action,), parameters=known))
    start: dict[str, Table] = {
        "ws": written, "empty": empty, "vc": views, "next_sn": {(): 2}, "lc_global": {(): 1},
    }  # fmt: skip
    return Recorded(
        scope=scope_of(places, rows), start=start, steps=tuple(steps), ghosts=AL1_GHOSTS
    )
