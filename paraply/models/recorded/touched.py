"""Abstraction of recorded MariaDB replicas: row touches and engine commits, in their order.

Workers touch rows under row locks. A commit stands as early as the touches and the log allow. When
a worker marks its commit start, or is killed, no record shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from paraply.models.language.concrete import Table
from paraply.models.recorded.following import Recorded, RecordedStep
from paraply.models.recorded.naming import Rows, first_of_batches, places_of, scope_of
from paraply.vocabulary.events import Event, EventKind
from paraply.vocabulary.history import History

_KINDS = {
    EventKind.BEGUN,
    EventKind.ROW_APPLIED,
    EventKind.ROLLED_BACK,
    EventKind.ENGINE_COMMITTED,
}
PLACEMENTS_MAX = 64
"""Of the rollbacks of one part of a run."""


def parts(history: History, member: str, size: int) -> Iterator[History]:
    """Yield a member's run in parts of ``size`` transactions, each beginning with a batch.

    What came before a part counts as done, and what comes after as not begun: only the order
    within the part is compared.
    """
    own = [one for one in history.events if one.member == member and one.kind in _KINDS]
    whole = {one.transaction for one in own if one.kind is EventKind.ENGINE_COMMITTED}
    log = [one for one in history.transactions if one.id in whole]
    first = first_of_batches(log)
    starts = [place for place in range(len(log)) if first[place,] == place]
    begin = 0
    while begin < len(log):
        end = next((place for place in starts if place >= begin + size), len(log))
        chosen = {one.id for one in log[begin:end]}
        yield History(
            header=history.header, transactions=tuple(log[begin:end]),
            events=tuple(one for one in own if one.transaction in chosen),
        )  # fmt: skip
        begin = end


def batches(part: History) -> Iterator[Recorded]:
    """Yield ways to read a part for ``paraply/models/systems/batches.py``.

    They differ in the places of rollbacks: each is between the attempt's last touch and the next
    attempt's first one, before the first touch of one of its rows by another transaction.
    """
    places = places_of(part)
    rows = Rows()
    written: Table = {}
    for event in part.events:
        if event.kind is EventKind.ROW_APPLIED and event.transaction is not None:
            for item in sorted(event.items):
                written[places[event.transaction], rows.name(item)] = True
    start: dict[str, Table] = {
        "ws": written, "first": first_of_batches(part.transactions),
        "waits_for": {(place,): -1 for place in range(-1, len(places) + 1)},
    }  # fmt: skip
    for events in _placed(part.events):
        yield Recorded(
            scope=scope_of(places, rows), start=start,
            steps=tuple(_steps(events, places, rows)),
            hidden=frozenset({"start_commit", "revoke_commit_start"}),
        )  # fmt: skip


def _steps(events: Sequence[Event], places: dict[int, int], rows: Rows) -> Iterator[RecordedStep]:
    applied: set[tuple[int, str]] = set()
    for event in events:
        assert event.transaction is not None
        place = places[event.transaction]
        match event.kind:
            case EventKind.BEGUN:
                yield _step("start" if event.attempt == 1 else "retry", p=place)
            case EventKind.ROW_APPLIED:
                for row in map(rows.name, sorted(event.items)):
                    if (place, row) not in applied:
                        applied.add((place, row))
                        yield _step("apply", p=place, r=row)
            case EventKind.ROLLED_BACK:
                applied = {(one, row) for one, row in applied if one != place}
                yield RecordedStep(actions=("fail", "wait"), parameters={"p": place})
                yield _step("roll_back", p=place)
            case _:
                yield _step("engine_commit", p=place)


def _step(action: str, **known: int | str) -> RecordedStep:
    return RecordedStep(actions=(action,), parameters=known)


def _placed(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield the events with each rollback as late as its rows allow, and then earlier."""
    undone = [event for event in events if event.kind is EventKind.ROLLED_BACK]
    others = [event for event in events if event.kind is not EventKind.ROLLED_BACK]
    spans = [_span(others, _touches_before(events, one), one) for one in undone]
    for number, chosen in enumerate(product(*(range(end, begin - 1, -1) for begin, end in spans))):
        if number == PLACEMENTS_MAX:
            return
        before: dict[int, list[Event]] = {}
        for place, event in zip(chosen, undone, strict=True):
            before.setdefault(place, []).append(event)
        placed: list[Event] = []
        for place in range(len(others) + 1):
            placed += before.get(place, [])
            placed += others[place : place + 1]
        yield placed


def _touches_before(events: Sequence[Event], undone: Event) -> list[Event]:
    return [
        event for event in events
        if event.kind is EventKind.ROW_APPLIED
        and (event.transaction, event.attempt) == (undone.transaction, undone.attempt)
    ]  # fmt: skip


def _span(others: Sequence[Event], touches: Sequence[Event], undone: Event) -> tuple[int, int]:
    """Return the first and the last place for a rollback: that of the event it precedes."""
    begin = 1 + max(place for place, event in enumerate(others) if event is touches[-1])
    items = frozenset().union(*(event.items for event in touches))
    for place in range(begin, len(others)):
        event = others[place]
        is_own = event.transaction == undone.transaction
        if is_own or (event.kind is EventKind.ROW_APPLIED and items & event.items):
            return begin, place
    return begin, len(others)
